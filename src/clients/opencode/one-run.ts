import type { ConfigValue, KeyChange } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import {
  type Choice,
  type FileText,
  type FileTexts,
  type OneRun,
  runKeyVariable,
} from '../client.ts'
import { fileOf, isTable, overlaid } from '../texts.ts'
import { mergedConfig } from './config.ts'
import type { Layout } from './layout.ts'

interface Asked {
  readonly layout: Layout
  readonly texts: FileTexts
  readonly choice: Choice
  readonly asked: OneRun
  /** What a setup would write into the file. */
  readonly keysOf: (file: FileText, choice: Choice) => readonly KeyChange[]
}

/**
 * By `OPENCODE_CONFIG_CONTENT` or its like, which lies above all files, those of projects included; the `apiKey` in
 * it wins over auth.json (1.18.33, 2026-11-22).
 */
export function forOneRun({ layout, texts, choice, asked, keysOf }: Asked): OneRun {
  const contentVariable = `${layout.variables}_CONFIG_CONTENT`
  const { args, env } = asked
  const { value: config } = mergedConfig(texts)
  const providers = isTable(config['provider']) ? config['provider'] : {}
  // An entry of auth.json would go out as Bearer beside a key in another header.
  const isKeyed = choice.keyHeader !== undefined
  const providerId = isKeyed ? ownId : ownProvider(providers, choice.providerId)
  const [enabled, disabled] = [config['enabled_providers'], config['disabled_providers']]

  const changes = [
    ...keysOf(fileOf(texts, 'config'), { ...choice, providerId }),
    ...(isKeyed
      ? []
      : [
          { path: ['provider', providerId, 'options', 'apiKey'], value: `{env:${runKeyVariable}}` },
        ]),
    ...(Array.isArray(enabled)
      ? [{ path: ['enabled_providers'], value: [...enabled, providerId] }]
      : []),
    ...(Array.isArray(disabled)
      ? [{ path: ['disabled_providers'], value: disabled.filter((id) => id !== providerId) }]
      : []),
  ]
  const content = overlaid(readContent(contentVariable, env[contentVariable]), changes)
  return { args, env: { ...env, [contentVariable]: JSON.stringify(content) } }
}

const ownId = 'repoint-run'

/** Headers of a provider would go along to another address: then it is one of our own. */
function ownProvider(providers: { readonly [id: string]: ConfigValue }, id: string): string {
  const provider = providers[id]
  const options = isTable(provider) ? provider['options'] : undefined
  return isTable(options) && options['headers'] !== undefined ? ownId : id
}

/** @throws UserError `usage` */
function readContent(
  variable: string,
  text: string | undefined,
): { readonly [key: string]: ConfigValue } {
  if (!text) return {}
  try {
    const content: ConfigValue = JSON.parse(text)
    if (isTable(content)) return content
  } catch {}
  throw new UserError({
    code: 'usage',
    message: `${variable} is set, and is not a JSON object that could be added to`,
    hint: `Unset it for this run: env -u ${variable} repoint run …`,
  })
}

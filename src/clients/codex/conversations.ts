import { ifPossible } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { addressFor } from '../../gateway/base-urls.ts'
import type { ClientWorld } from '../contract/client.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { shownUrl, withoutTrailingSlash } from '../files/addresses.ts'
import { type ParsedFile, parseKind } from '../files/parse-file.ts'
import { pathsOf } from '../files/paths.ts'
import { codexHome } from './files.ts'
import {
  builtInAddressPath,
  isTurnedOff,
  reservedIds,
  tableName,
  vendorUrl,
} from './providers/provider.ts'

/** A year of conversations may be thousands of files: repoint reads only this many of the newest. */
const maxConversations = 500

/** The first line of a conversation names the provider. It also holds the instructions: 30 kB. */
const maxStartBytes = 128 * 1024

/** The provider of each recorded conversation: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-….jsonl`. */
function recordedProviders(world: ClientWorld): readonly string[] {
  const { files, machine } = world
  const { join } = pathsOf(machine)
  const newestFirst = function* (folder: string): Generator<string> {
    const names = ifPossible(() => files.readdir(folder)) ?? []
    for (const name of names.toSorted().reverse()) {
      const path = join(folder, name)
      if (name.endsWith('.jsonl')) yield path
      else if (/^\d+$/.test(name)) yield* newestFirst(path)
    }
  }

  const providerIds: string[] = []
  for (const path of newestFirst(join(codexHome(machine), 'sessions'))) {
    const provider = providerOf(world, path)
    if (provider !== undefined) providerIds.push(provider)
    if (providerIds.length === maxConversations) break
  }

  return providerIds
}

function providerOf({ files }: ClientWorld, path: string): string | undefined {
  const start = ifPossible(() => files.readStart(path, maxStartBytes))
  return /"model_provider":"([^"\\]+)"/.exec(new TextDecoder().decode(start))?.[1]
}

/**
 * Codex continues a conversation with the provider that it was recorded with (0.146.0 to 0.169.0), or with
 * the one of config.toml (0.105.0 to 0.142.5; 2026-11-22).
 */
export function* conversationFindings(
  world: ClientWorld,
  { before, after }: { readonly before: LoadedFiles; readonly after: LoadedFiles },
): Generator<Finding, void> {
  const [from, to] = [before, after].map((files) => parseKind(files, 'config'))
  if (from === undefined || to === undefined) return
  const recorded = recordedProviders(world)

  for (const id of new Set(recorded)) {
    const [old, now] = [providerIn(from, id), providerIn(to, id)]
    if (old === undefined) continue
    const count = recorded.filter((recordedId) => recordedId === id).length
    const some = `Conversations of the provider ${JSON.stringify(id)} (${count} recorded)`
    const wait = id === 'openai' ? '. The first prompt of each takes about 7 s' : ''

    if (now === undefined)
      yield {
        code: 'codex-conversations-closed',
        severity: 'note',
        message: `${some} do not open with \`codex resume\` any more: ${tableName(id)} is removed`,
        hint: '`codex fork SESSION_ID` carries a conversation over to the provider in use.',
      }
    else if (now.isTurnedOff && !old.isTurnedOff)
      yield {
        code: 'codex-conversations-set-aside',
        severity: 'note',
        message: `${some} can be read with \`codex resume\`, but not continued there`,
        hint: '`codex fork SESSION_ID` goes on with a conversation at the gateway, and sends all of that conversation there.',
      }
    else if (
      now.url !== undefined &&
      withoutTrailingSlash(now.url) !== withoutTrailingSlash(old.url ?? vendorUrl)
    )
      yield {
        code: 'codex-conversations-move',
        severity: 'note',
        message: `${some}, once resumed, go to ${shownUrl(addressFor(withoutTrailingSlash(now.url), 'responses'))} too, with the whole conversation${wait}`,
        // 0.169.0 sends them and shows the 400 (2026-11-29).
        hint: 'If that gateway cannot decrypt thoughts of the former one, it rejects such a conversation. Then start a new one.',
      }
  }
}

function providerIn(config: ParsedFile, id: string) {
  if (id === 'openai') return { url: config.text(builtInAddressPath), isTurnedOff: false }
  const path = ['model_providers', id]
  const table = config.table(path)
  if (table === undefined || reservedIds.includes(id)) return undefined
  return { url: config.text([...path, 'base_url']), isTurnedOff: isTurnedOff(table) }
}

import { slots } from '../clients/client.ts'
import { aboutNames, pickModel } from '../clients/models.ts'
import { UserError } from '../errors.ts'
import { isLoopback, isPrivate } from '../gateway/input/base-url.ts'
import { messagesTiers } from '../gateway/models/rules.ts'
import type { Catalog } from '../gateway/types.ts'
import { maskSecret } from '../text.ts'
import {
  commandOf,
  examples,
  type FlagsOf,
  gatewayCommand,
  modelId,
  newestGateway,
} from './command.ts'
import { proveModel } from './gateways/ask-catalog.ts'

/** What Cursor cannot do with a gateway, from the service's description. */
const limits: readonly string[] = [
  'Its servers ask the gateway: one on this machine or in a private network is refused.',
  'Choose the model by name; Auto does not use the gateway.',
  'Models of the claude-* kind cannot be routed through a gateway there.',
  'Cursor needs a paid plan to use a key of your own.',
]

function define() {
  return gatewayCommand('editor')
    .description('check the key and print what goes into the settings of the editor Cursor')
    .option('--model <id>', 'the model to enter', modelId)
    .option('--json', 'print one JSON document')
    .addHelpText('after', newestGateway)
    .addHelpText('after', examples(['repoint editor', 'repoint editor --json --key-stdin < key']))
}

type EditorFlags = FlagsOf<typeof define>

/** Checks the key for Cursor and prints what to paste. Returns the exit status. */
export const command = commandOf(define, async (session, flags) => {
  const { access, models } = await proveModel(session, flags, {
    // It has one field for a key.
    client: { label: 'Cursor', protocol: 'chat' },
    checkAddress: checkReach,
    choose: (catalog) => chooseModel(catalog, flags),
  })

  const fields = [
    { field: 'Settings > Models > OpenAI API Key', value: `your key (${maskSecret(access.key)})` },
    { field: 'Settings > Models > Override OpenAI Base URL', value: access.roots.chat },
    { field: 'Settings > Models > Add custom model', value: models.probeModel },
  ]
  session.showNotices('warning')
  session.say('The key, the address and the model work. Enter in Cursor:')
  const width = Math.max(...fields.map(({ field }) => field.length))
  for (const { field, value } of fields) session.say(`  ${field.padEnd(width)}  ${value}`)
  session.say('')
  for (const limit of limits) session.say(`  note: ${limit}`)
  session.document({
    command: 'editor',
    changed: false,
    baseUrl: access.baseUrl,
    model: models.probeModel,
    fields,
    limits,
    verified: { before: true, after: false },
    warnings: session.notices,
  })
  return 0
})

/**
 * Cursor's own servers ask the gateway, not this machine, and answer `ssrf_blocked: connection to
 * private IP is blocked` (forum.cursor.com/t/160995; github.com/automazeio/vibeproxy/issues/168,
 * both read 2026-11-22).
 */
function checkReach(baseUrl: string): void {
  const { hostname } = new URL(baseUrl)
  if (!isPrivate(hostname)) return
  throw new UserError({
    code: 'usage',
    message: `Cursor cannot use ${baseUrl}: its servers ask the gateway, and ${hostname} is reached from this ${isLoopback(hostname) ? 'machine' : 'network'} alone`,
    hint: 'Give it a gateway that is reached from the internet: --base-url URL.',
  })
}

/** @throws UserError `protocol-unsupported` for a model that cannot be routed */
function chooseModel(catalog: Catalog | undefined, { model }: EditorFlags) {
  const wanted = { named: { model }, heard: { catalog, refused: [] } }
  const id = pickModel(wanted, 'chat')
  const tiers = messagesTiers({ models: [{ id }] }, slots)
  if (Object.values(tiers).some((ids) => ids.length > 0))
    throw new UserError({
      code: 'protocol-unsupported',
      message: `${id} is a model of the claude-* kind, which Cursor cannot route through a gateway`,
      hint: 'Choose another; `repoint models` lists them.',
    })
  return { probeModel: id, notes: aboutNames(wanted, [model]) }
}

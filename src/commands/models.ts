import type { Client } from '../clients/contract/client.ts'
import { loadClients } from '../clients/list.ts'
import { usesByRules } from '../clients/models/resolve.ts'
import { adviseNamingModel } from '../gateway/catalog.ts'
import { aliasesIn, isChatModel, supportsProtocol } from '../gateway/models/rules.ts'
import { type Catalog, type CatalogModel, type Protocol, protocols } from '../gateway/types.ts'
import { rememberModels } from '../state/remembered.ts'
import { GatewayArgument } from './command-line/arguments.ts'
import { commandOf, examples } from './command-line/command.ts'
import { gatewayCommand, newestGateway } from './command-line/flags.ts'
import { openNamedGateway } from './prove/prove-one.ts'
import type { Session } from './screen/session.ts'

function define() {
  return gatewayCommand('models')
    .description('list the models of a gateway, and which clients would use them')
    .addArgument(new GatewayArgument('[gateway]', 'name of a saved gateway, or an address'))
    .option('--json', 'print one JSON document')
    .addHelpText('after', newestGateway)
    .addHelpText(
      'after',
      examples(['repoint models', 'repoint models work', 'repoint models --json --key-env MY_KEY']),
    )
}

/**
 * Lists the catalog, with the protocols of each model and what the rules choose it for. Returns the exit
 * status.
 */
export const command = commandOf(define, async (session, gateway, flags) => {
  const requester = await openNamedGateway(session, gateway, flags)
  const answer = await session.step('Asking the gateway for its models', requester.requestCatalog())
  if (answer.kind === 'failed') throw adviseNamingModel(answer.error)
  const { catalog } = answer
  rememberModels(session.platform, catalog)
  session.addFindings(...(catalog.findings ?? []))
  const uses = usesByModel(catalog, await loadClients())
  const aliasTarget = aliasesIn(catalog)

  session.showFindings()
  showModels(session, catalog, { uses, aliasTarget })
  session.remark('')
  session.remark('? unknown · - no')
  session.document({
    command: 'models',
    baseUrl: requester.access.address,
    models: catalog.models.map((model) => ({
      id: model.id,
      aliasOf: aliasTarget(model.id) ?? null,
      endpointTypes: model.endpointTypes ?? null,
      isChat: isChatModel(model),
      speaks: Object.fromEntries(protocols.map((name) => [name, supportsProtocol(model, name)])),
      contextWindow: model.contextWindow ?? null,
      chosenFor: uses.get(model.id) ?? [],
    })),
    warnings: session.findingsAsJson,
  })
  return 0
})

function showModels(
  session: Session,
  catalog: Catalog,
  {
    uses,
    aliasTarget,
  }: {
    uses: ReadonlyMap<string, readonly ClientUse[]>
    aliasTarget: (id: string) => string | undefined
  },
): void {
  const supported = (model: CatalogModel) =>
    isChatModel(model) ? protocols.map((name) => cellFor(model, name)).join(' ') : 'not for chat'
  const chosenFor = ({ id }: CatalogModel) => {
    const full = aliasTarget(id)
    const alias = full === undefined ? [] : [`alias of ${full}`]
    return [...alias, ...(uses.get(id) ?? []).map(({ use }) => use)].join(', ')
  }

  const hasWindow = catalog.models.some(({ contextWindow }) => contextWindow !== undefined)
  const head = ['MODEL', 'SPEAKS', ...(hasWindow ? ['CONTEXT'] : []), 'CHOSEN FOR']

  const rows = catalog.models.map((model) => [
    model.id,
    supported(model),
    ...(hasWindow ? [String(model.contextWindow ?? '')] : []),
    chosenFor(model),
  ])
  session.sayTable(head, rows)
}

/** The protocol as the table shows it: as a dash if the model does not support it. */
function cellFor(model: CatalogModel, protocol: Protocol): string {
  const isSupported = supportsProtocol(model, protocol)
  if (isSupported === 'unknown') return `${protocol}?`
  return isSupported ? protocol : '-'.padEnd(protocol.length)
}

interface ClientUse {
  readonly use: string
  readonly reason: string
}

/** What the rules would choose each model for. */
function usesByModel(
  catalog: Catalog,
  clients: readonly Client[],
): ReadonlyMap<string, readonly ClientUse[]> {
  const uses = new Map<string, ClientUse[]>()
  for (const client of clients)
    for (const { purpose, id, reason } of usesByRules(client, catalog)) {
      const use = purpose === undefined ? client.id : `${client.id} ${purpose}`
      uses.set(id, [...(uses.get(id) ?? []), { use, reason }])
    }
  return uses
}

import { UserError } from '../errors.ts'
import type { Notice } from '../notice.ts'
import { ask } from './ask.ts'
import type { Answer } from './judge/answer.ts'
import { maxCatalogBytes } from './limits.ts'
import { nextPage, readModels } from './models/catalog-body.ts'
import type { Catalog, CatalogModel, GatewayAccess } from './types.ts'

const maxPages = 20

/**
 * What GET /v1/models answers: at least one model.
 *
 * @throws UserError from the closed set of gateway failures; `model-unknown` where the list is empty
 */
export async function readCatalog(access: GatewayAccess): Promise<Catalog> {
  const models = new Map<string, CatalogModel>()
  let leftOut = 0
  let serverTime: Date | undefined
  let path = '/v1/models'
  for (let page = 0; page < maxPages; page++) {
    const answer = await ask(
      access,
      {
        method: 'GET',
        path,
        headers: { accept: 'application/json', 'accept-encoding': 'gzip, br, deflate' },
        maxBytes: maxCatalogBytes,
      },
      { asked: 'catalog' },
    )
    const before = models.size
    const found = readModels(answer.body, access.key)
    for (const model of found.models) models.set(model.id, model)
    leftOut += found.leftOut
    serverTime ??= timeOf(answer)
    const next = nextPage(answer.body)
    if (next === undefined || models.size === before) break
    path = `/v1/models?limit=1000&after_id=${encodeURIComponent(next)}`
  }
  if (models.size === 0) throw emptyCatalog(access, leftOut)
  return {
    models: [...models.values()],
    ...(leftOut === 0 ? {} : { notices: [modelsLeftOut(leftOut)] }),
    ...(serverTime === undefined ? {} : { serverTime }),
  }
}

function emptyCatalog({ baseUrl }: GatewayAccess, leftOut: number): UserError {
  const { host } = new URL(baseUrl)
  return leftOut === 0
    ? new UserError({
        code: 'model-unknown',
        message: `The list of models at ${host} is empty`,
        hint: "Address and key are right; most likely the key's group has no models: see the gateway's web page (on a local server, load a model first), then run the command again.",
      })
    : new UserError({
        code: 'gateway-fault',
        message: `No model at ${host} has an ID that can be used`,
        hint: `${modelsLeftOut(leftOut).message}. Ask whoever runs the gateway.`,
      })
}

function modelsLeftOut(count: number): Notice {
  return {
    code: 'models-left-out',
    message: `${count} ${count === 1 ? 'model is' : 'models are'} left out of the gateway's list: an ID that is too long, or holds the key or invisible characters`,
  }
}

/** A cache on the way keeps the date of its copy, and says how old that is (RFC 9111, 5.1). */
function timeOf({ headers }: Answer): Date | undefined {
  const sent = Date.parse(headers['date'] ?? '')
  if (Number.isNaN(sent)) return undefined
  const age = /^\d{1,9}$/.exec(headers['age'] ?? '')?.[0] ?? '0'
  return new Date(sent + Number(age) * 1000)
}

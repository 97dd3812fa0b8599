import { canContinueAfter, UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import { counted } from '../text.ts'
import type { RequestSpec } from './http/request.ts'
import { errorFor, secretsOf, withHint } from './judge/judge.ts'
import { lacksModel, lacksRoute, traitsOf } from './judge/traits.ts'
import { type HttpResponse, maxCatalogBytes, type NetworkFailure } from './judge/types.ts'
import { readPage } from './models/catalog-page.ts'
import { nextPage } from './models/next-page.ts'
import { ask } from './send.ts'
import type { Catalog, CatalogAnswer, CatalogModel, GatewayAccess } from './types.ts'

/** The request for the first page of a catalog. */
export function catalogSpec(baseUrl: string): RequestSpec {
  return {
    method: 'GET',
    url: `${baseUrl}/models`,
    headers: { accept: 'application/json', 'accept-encoding': 'gzip, br, deflate' },
    maxBytes: maxCatalogBytes,
  }
}

/**
 * The most pages to request, and the most models to keep. OpenRouter has 500 models, and a gateway that resells
 * Hugging Face 20,000. More only cost time: no picker shows them.
 */
const maxPages = 100
const maxModels = 25_000

/** How long to wait for an optional catalog, in ms. At most half of the timeout for an answer. */
const maxOptionalMs = 2_000

export interface CatalogOptions {
  /** The base URL to request it from. Absent: the chat base URL. */
  readonly baseUrl?: string
  /** The user has named the models, so a slow catalog can be left out. */
  readonly isOptional?: boolean
}

/**
 * Requests the catalog at a base URL, with all its pages. The result has at least one model.
 *
 * @throws UserError from the closed set of gateway failures; `model-unknown` if the catalog is empty
 */
export async function readCatalog(
  access: GatewayAccess,
  { baseUrl = access.baseUrls.chat, isOptional }: CatalogOptions = {},
): Promise<Catalog> {
  const answerWithinMs = isOptional ? Math.min(maxOptionalMs, access.timeoutMs / 2) : undefined
  const pages = await readPages(access, { ...catalogSpec(baseUrl), answerWithinMs })
  const { models, skipped, end, serverTime, isNewApi } = pages
  if (models.size === 0) throw emptyCatalog(access, skipped)

  const findings: Finding[] = []
  if (skipped > 0) findings.push(modelsSkipped(skipped))
  if (end !== 'last-page') findings.push(catalogCut(models.size, end))
  return {
    models: [...models.values()],
    findings: findings.length === 0 ? undefined : findings,
    serverTime,
    isNewApi,
  }
}

type CutEnd = 'early' | 'no-new-models'

interface CatalogPages {
  /** By their IDs. */
  readonly models: ReadonlyMap<string, CatalogModel>
  readonly skipped: number
  /** `early`: the catalog has more models. `no-new-models`: the page that should have more has none. */
  readonly end: 'last-page' | CutEnd
  readonly serverTime: Date | undefined
  readonly isNewApi: true | undefined
}

/** Reads the pages of a catalog, until the last one, a failure or a limit. @throws as `requestPage` does */
async function readPages(access: GatewayAccess, firstPage: RequestSpec): Promise<CatalogPages> {
  const deadline = Date.now() + access.timeoutMs
  const models = new Map<string, CatalogModel>()
  let entries = 0
  let skipped = 0
  let serverTime: Date | undefined
  let isNewApi: true | undefined
  const endedBy = (end: CatalogPages['end']): CatalogPages => {
    return { models, skipped, end, serverTime, isNewApi }
  }

  let { url } = firstPage
  for (let pageNumber = 1; ; pageNumber++) {
    const response = await requestPageOrStop(access, { ...firstPage, url }, pageNumber)
    if (response === undefined) return endedBy('early')
    serverTime ??= clockOf(response)
    if ('x-new-api-version' in response.headers) isNewApi = true

    const countBefore = models.size
    const page = readPage(response.body, secretsOf(access), maxModels - countBefore)
    for (const model of page.models) models.set(model.id, model)
    skipped += page.skipped
    entries += page.entries
    if (page.isCut) return endedBy('early')

    const { lastId } = page
    const progress = { onPage: page.entries, total: entries, lastId, pages: pageNumber }
    const next = nextPage({ ...response, url }, progress)
    if (next === undefined) return endedBy('last-page')

    if (models.size === countBefore) return endedBy('no-new-models')
    if (pageNumber === maxPages || Date.now() > deadline) return endedBy('early')
    url = next
  }
}

/**
 * @throws UserError from the closed set; `gateway-fault` if the catalog takes longer than
 *   `answerWithinMs`
 */
async function requestPage(access: GatewayAccess, spec: RequestSpec): Promise<HttpResponse> {
  const judged = await ask(access, spec, { route: 'catalog' })
  if (judged.kind === 'served') return judged.response

  if (judged.kind === 'no-response' && isSlow(judged.failure) && spec.answerWithinMs !== undefined)
    throw new UserError({
      code: 'gateway-fault',
      message: `${new URL(judged.failure.url).host} did not send its list of models within ${Math.round(spec.answerWithinMs / 1000)} s`,
    })
  throw errorFor(judged.outcome)
}

/** Whether the gateway accepted the request, and did not answer in time. */
function isSlow({ reason, stage }: NetworkFailure): boolean {
  return reason === 'deadline' && (stage === 'first-byte' || stage === 'body')
}

/** Requests one page. Undefined: a later page failed, and the pages before it are kept. */
async function requestPageOrStop(
  access: GatewayAccess,
  spec: RequestSpec,
  page: number,
): Promise<HttpResponse | undefined> {
  try {
    return await requestPage(access, spec)
  } catch (error) {
    if (page === 1 || !canContinueAfter(error)) throw error
    return undefined
  }
}

/** Like `readCatalog`, but returns an error as an answer. */
export async function requestCatalog(
  access: GatewayAccess,
  options?: CatalogOptions,
): Promise<CatalogAnswer> {
  try {
    return { kind: 'received', catalog: await readCatalog(access, options) }
  } catch (error) {
    if (error instanceof UserError) return { kind: 'failed', error }
    throw error
  }
}

/**
 * Whether a gateway may serve a model although its catalog failed with this error. A probe decides then,
 * even after a web page: the model may be at another path. `mayLackList` decides whether to ask for a model.
 *
 * Some gateways have no catalog, or reject the keys that may use the models: OpenAI's restricted keys ("Missing
 * scopes: api.model.read"), LiteLLM's virtual keys ("not allowed to call this route"), 2026-11-22.
 */
export function mayStillServe(error: UserError): boolean {
  const traits = traitsOf(error)
  // A key that was rejected in every header is not sent again: gateways block an address after a few
  // attempts.
  return traits !== undefined && traits.blames !== 'connection' && traits.blames !== 'key'
}

/**
 * Adds to the error of a required catalog that the user can name a model instead, if the gateway has no list
 * or an empty one. After a web page or a firewall that would not help, because they reject the probe too.
 */
export function adviseNamingModel(error: UserError): UserError {
  const hasNoList = lacksRoute(error) || lacksModel(error)
  return hasNoList
    ? withHint(error, 'If the gateway has no list, name a model: {--model ID}')
    : error
}

/** The finding for a proof without a catalog. */
export function catalogUnavailable({ message }: UserError): Finding {
  return {
    code: 'catalog-unavailable',
    severity: 'note',
    message: `Cannot read the gateway's list of models (${message})`,
    hint: 'repoint tested the model itself.',
  }
}

/** Reports a catalog that may have more models than repoint read. */
function catalogCut(count: number, end: CutEnd): Finding {
  if (end === 'no-new-models')
    return {
      code: 'catalog-cut',
      severity: 'note',
      message: `The gateway announces more than ${counted(count, 'model')}, but sends no others on the next page`,
    }
  return {
    code: 'catalog-cut',
    severity: 'warning',
    message: `The gateway lists more than ${counted(count, 'model')}. repoint read the first ${count}`,
  }
}

function emptyCatalog({ address }: GatewayAccess, skipped: number): UserError {
  const { host } = new URL(address)
  if (skipped > 0)
    return new UserError({
      code: 'gateway-fault',
      message: `No model at ${host} has a usable ID`,
      hint: `${modelsSkipped(skipped).message}. Ask the gateway's operator.`,
    })
  return new UserError({
    code: 'model-unknown',
    message: `The list of models at ${host} is empty`,
    hint: "The address and the key are right. On a local server, load a model first. Otherwise check on the gateway's web page which models this key may use.",
  })
}

function modelsSkipped(count: number): Finding {
  return {
    code: 'models-left-out',
    severity: 'note',
    message: `repoint skipped ${counted(count, 'model')} of the gateway: an ID is too long, or contains the key or invisible characters`,
  }
}

/** The gateway's time. A cache keeps the date of its copy, and reports the age (RFC 9111, 5.1). */
function clockOf({ headers }: HttpResponse): Date | undefined {
  const sent = Date.parse(headers['date'] ?? '')
  if (Number.isNaN(sent)) return undefined
  const age = /^\d{1,9}$/.exec(headers['age'] ?? '')?.[0] ?? '0'
  return new Date(sent + Number(age) * 1000)
}

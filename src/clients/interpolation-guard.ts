import { UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import type { CatalogModel } from '../gateway/types.ts'
import type { Client } from './contract/client.ts'
import type { ProgramFacts } from './contract/program.ts'
import {
  catalogIn,
  type ResolvedOptions,
  type ResolveInput,
  type SetupTarget,
} from './contract/setup.ts'
import { effectiveOptions, modelsIn } from './options/chosen-options.ts'

/**
 * Wraps a client so that it never interprets a value: everything from a gateway, a team's file, a link or a
 * flag is data for the client too. It rejects a named value that the client would interpret, and leaves out
 * such models of a catalog, with one note.
 */
export function withInterpolationGuard(client: Client): Client {
  const { plan, launchSettings } = client

  return {
    ...client,
    resolve: (input, program) => resolveLiteral(client, input, program),
    plan: (files, target) => {
      expectLiteral(client, target)
      return plan(files, target)
    },
    launchSettings: (files, target, process) => {
      expectLiteral(client, target)
      return launchSettings(files, target, process)
    },
  }
}

/** @throws UserError `config-conflict`, or as the client's own `resolve` does */
function resolveLiteral(
  client: Client,
  input: ResolveInput,
  program?: ProgramFacts,
): ResolvedOptions {
  const catalog = catalogIn(input.gatewayInfo)
  const { names } = client.config.interpolation
  if (names === null) return client.resolve(input, program)

  const named = modelsIn(effectiveOptions(input)).find((id) => names.test(id))
  if (named !== undefined) throw refusal(client, `the model ${named}`)

  const listed = catalog?.models ?? []
  const matching = listed.filter(({ id }) => names.test(id))
  const [first] = matching
  if (first !== undefined && matching.length === listed.length)
    throw refusal(client, `the model ${first.id}`)

  const models = listed.filter(({ id }) => !names.test(id)).map(withoutName(names))
  // The same list is not judged again.
  const isSame = models.length === listed.length && models.every((one, at) => one === listed[at])
  const literal = isSame ? input : withCatalogModels(input, models)
  const resolved = client.resolve(literal, program)
  if (first === undefined) return resolved

  const others = matching.length === 1 ? '' : ` and ${matching.length - 1} more`
  const note: Finding = {
    code: 'models-left-out',
    severity: 'note',
    message: `repoint leaves the model ${first.id}${others} out of ${client.label}'s list, because ${client.label} would replace a part of the name`,
  }
  return { ...resolved, findings: [...resolved.findings, note] }
}

function withCatalogModels(input: ResolveInput, models: readonly CatalogModel[]): ResolveInput {
  const { catalogAnswer } = input.gatewayInfo
  if (catalogAnswer.kind !== 'received') return input
  const catalog = { ...catalogAnswer.catalog, models }
  return {
    ...input,
    gatewayInfo: { ...input.gatewayInfo, catalogAnswer: { kind: 'received', catalog } },
  }
}

function withoutName(pattern: RegExp) {
  return (model: CatalogModel): CatalogModel => {
    if (model.displayName === undefined || !pattern.test(model.displayName)) return model
    const { displayName: _, ...nameless } = model
    return nameless
  }
}

/**
 * @throws UserError `config-conflict` for an address, a key or a header. The message shows neither key nor
 *   header
 */
function expectLiteral(client: Client, { baseUrl, key, headers = [] }: SetupTarget): void {
  const { names, values } = client.config.interpolation
  if (names?.test(baseUrl)) throw refusal(client, 'the address')
  if (values?.test(key)) throw refusal(client, 'the key')
  const header = headers.find(({ value }) => values?.test(value))
  if (header !== undefined) throw refusal(client, `the header ${header.name}`)
}

function refusal({ label }: Client, what: string): UserError {
  return new UserError({
    code: 'config-conflict',
    message: `${label} would replace a part of ${what} with a variable or a file`,
    hint: `Use another one, or set up the other clients without ${label}.`,
  })
}

import { isObject, type JsonObject, objectsIn } from './read.ts'
import { anthropicWords, Refusal } from './refusal.ts'
import { furtherBetas } from './rows.ts'
import { knownBetas } from './shapes.ts'

/**
 * Versions of the messages protocol, as the header `anthropic-version` names them
 * (https://platform.claude.com/docs/en/api/versioning, read 2026-11-23). Without the header the service
 * speaks the one of 2023.
 */
const versions = ['2023-01-01', '2023-06-01', '2026-10-21']

const betas: ReadonlySet<string> = new Set([...knownBetas, ...furtherBetas])

/** @throws Refusal where a version or a beta is none, or does not take what the body holds */
export function checkVersion(
  body: JsonObject,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): void {
  const version = String(headers['anthropic-version'] ?? versions[1])
  if (!versions.includes(version))
    throw new Refusal(`anthropic-version: "${version}" is not a valid version.`)

  const asked = String(headers['anthropic-beta'] ?? '').split(',')
  const unknown = asked.map((beta) => beta.trim()).find((beta) => beta !== '' && !betas.has(beta))
  if (unknown !== undefined)
    throw new Refusal(
      `Unexpected value(s) \`${unknown}\` for the \`anthropic-beta\` header. Please consult our documentation at docs.claude.com or try again without the header.`,
    )
  if (version >= '2026-10-21') checkNewest(body)
}

/** What went with the version of 2026-10-21, which the official SDKs send from 1.0 on. */
function checkNewest(body: JsonObject): void {
  for (const name of ['temperature', 'top_p', 'top_k'])
    if (typeof body[name] === 'number') throw anthropicWords.unknown([name])

  for (const [index, { role, content }] of objectsIn(body['messages']).entries())
    for (const [at, { type, citations }] of objectsIn(content).entries()) {
      const where = `messages.${index}.content.${at}`
      if (role === 'assistant' && type === 'document')
        throw new Refusal(`${where}: document blocks are not permitted in assistant messages`)
      if (role === 'user' && type === 'text' && isFilled(citations))
        throw anthropicWords.unknown([`${where}.text.citations`])
    }
}

function isFilled(list: unknown): boolean {
  return Array.isArray(list) ? list.length > 0 : isObject(list)
}

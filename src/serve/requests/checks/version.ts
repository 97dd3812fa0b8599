import { Refusal } from '../refusal.ts'

/**
 * The versions of the messages protocol, for the header `anthropic-version`
 * (https://platform.claude.com/docs/en/api/versioning, read 2026-11-23). Without the header, the imitated gateway
 * uses the one of 2023.
 */
const versions = ['2023-01-01', '2023-06-01', '2026-10-21']

/**
 * The form of a beta's name. The gateway accepts every name of this form: clients send new betas with
 * most versions, and no SDK lists them all.
 */
const betaName = /^[a-z0-9-]+-(?:\d{8}|\d{4}-\d{2}-\d{2})$/

/**
 * Checks the headers of version and betas.
 *
 * @returns the version
 * @throws Refusal for an invalid version or beta
 */
export function readProtocolVersion(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): string {
  const version = String(headers['anthropic-version'] ?? versions[1])
  if (!versions.includes(version))
    throw new Refusal(`anthropic-version: "${version}" is not a valid version.`)

  const betas = String(headers['anthropic-beta'] ?? '').split(',')
  const unknown = betas
    .map((beta) => beta.trim())
    .find((beta) => beta !== '' && !betaName.test(beta))
  if (unknown !== undefined)
    throw new Refusal(
      `Unexpected value(s) \`${unknown}\` for the \`anthropic-beta\` header. Please consult our documentation at docs.claude.com or try again without the header.`,
    )
  return version
}

import type { CertificateStores } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'

/** A client's `tested.json`: the results of `npm run check-releases` for its published versions. */
interface Tested {
  readonly rows: readonly { readonly version: string; readonly failed: readonly string[] }[]
}

/** The versions of a client that passed every test, oldest first. */
export function testedVersions({ rows }: Tested): readonly string[] {
  const wrong = new Set(
    rows.filter(({ failed }) => failed.length > 0).map(({ version }) => version),
  )
  return [...new Set(rows.map(({ version }) => version))].filter((version) => !wrong.has(version))
}

/** The version of an installed client. Undefined: unknown, and counts as the newest. */
export type Version = string | undefined

/** Compares `2.1.9` and `2.1.10` as numbers, and ignores what follows them, as in `2.1.10-beta.1`. */
export function isBefore(version: Version, other: string): boolean {
  if (version === undefined) return false
  const [a, b] = [version, other].map((text) => text.split(/[.-]/).slice(0, 3).map(Number))
  for (const [place, part] of b!.entries()) if (a![place] !== part) return (a![place] ?? 0) < part
  return false
}

/**
 * Programs with their own runtime read the system's store by default: Claude Code from 2.1.120 on, opencode
 * 1.1 and 1.18, Kilo 7.7, droid 0.225 (each run with a private authority, 2026-11-23).
 */
export function ofOwnRuntime(...own: readonly string[]): () => CertificateStores {
  const files = [...own, 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE']
  return () => ({ system: true, files, folders: ['SSL_CERT_DIR'] })
}

/**
 * Node programs read it only if an option of Node says so: pi and Qwen Code on Node 20 and 22 (2026-11-23).
 */
export function ofNode(env: Machine['env']): CertificateStores {
  const readsSystemStore =
    env['NODE_USE_SYSTEM_CA'] === '1' ||
    /--use-(?:system|openssl)-ca\b/.test(env['NODE_OPTIONS'] ?? '')
  return { system: readsSystemStore, files: ['NODE_EXTRA_CA_CERTS'], folders: [] }
}

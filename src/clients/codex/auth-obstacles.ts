import type { FileTexts, Obstacle, ObstacleContext } from '../client.ts'
import { placeholderOf } from '../leftovers.ts'
import { fileOf, isOwnAddress, type ReadFile } from '../texts.ts'
import { type CodexAuth, readCodexAuth } from './auth.ts'
import { providerInUse } from './provider.ts'

/** What in auth.json would defeat the key, or would be lost by it (Codex 0.169.0, 2026-11-21). */
export function authObstacles(
  texts: FileTexts,
  config: ReadFile,
  context: ObstacleContext,
): readonly Obstacle[] {
  const file = fileOf(texts, 'auth')
  const auth = readCodexAuth(file)
  return context.choice
    ? lostBySetup(auth, file.path, config, context, context.choice.key)
    : defeating(auth, file.path, config)
}

/** The setup replaces the file as a whole. */
function lostBySetup(
  auth: CodexAuth,
  place: string,
  config: ReadFile,
  context: ObstacleContext,
  newKey: string,
): readonly Obstacle[] {
  if (auth.login !== undefined) {
    return [
      {
        code: 'codex-login',
        message: `Codex prefers ${auth.login} to any key, and would send its token to the gateway`,
        place,
        cure: 'To keep the login in use as well, give this setup a folder of its own in CODEX_HOME.',
        needsConsent: `Your ${auth.login.replace(/^an? /, '')} in auth.json will be replaced by the key; rollback brings it back.`,
        weight: 'blocks',
      },
    ]
  }
  if (auth.unreadKeys !== undefined) {
    return [
      {
        code: 'codex-unread-key',
        message: `${auth.unreadKeys.join(', ')} in auth.json: Codex reads no key of that name`,
        place,
        cure: 'Keep a copy of it if you need it elsewhere.',
        needsConsent: `${auth.unreadKeys.join(', ')} in auth.json will be dropped; rollback brings it back.`,
        weight: 'may-block',
      },
    ]
  }
  const key = auth.usableKey ?? auth.shadowedKey
  const url = providerInUse(config)?.table?.['base_url']
  const isOurs = typeof url === 'string' && isOwnAddress(url, context)
  if (key === undefined || key === newKey || isOurs || placeholderOf(key)) return []
  return [
    {
      code: 'codex-other-key',
      message: 'auth.json holds an API key that no setup of repoint has put there',
      place,
      cure: 'Keep a copy of that key if you need it elsewhere.',
      needsConsent: 'The API key in auth.json will be replaced; rollback brings it back.',
      weight: 'may-block',
    },
  ]
}

function defeating(auth: CodexAuth, place: string, config: ReadFile): readonly Obstacle[] {
  if (auth.ignored !== undefined) {
    return [
      {
        code: 'codex-auth-unreadable',
        message: `Codex ignores auth.json without a word, and sends no key: ${auth.ignored}`,
        place,
        cure: 'Run `repoint codex`: it replaces the file.',
        weight: 'blocks',
        covers: 'key-missing',
      },
    ]
  }
  // Only a provider that takes the key of auth.json is concerned.
  if (providerInUse(config)?.table?.['requires_openai_auth'] !== true) return []
  if (auth.login !== undefined) {
    return [
      {
        code: 'codex-login',
        message: `${auth.login} is in auth.json: Codex uses it, and sends its token to the gateway`,
        place,
        cure: 'Replace the login by the key: `repoint codex`. Rollback brings the login back.',
        needsConsent: `Your ${auth.login.replace(/^an? /, '')} in auth.json will be removed; rollback brings it back.`,
        ...(auth.shadowedKey === undefined
          ? {}
          : {
              repair: {
                role: 'auth',
                changes: [
                  { path: ['tokens'], value: undefined, isSecret: true, isBound: true },
                  { path: ['auth_mode'], value: undefined },
                  { path: ['last_refresh'], value: undefined },
                ],
              },
            }),
        weight: 'blocks',
        covers: 'key-missing',
      },
    ]
  }
  if (auth.usableKey !== undefined) return []
  return [
    {
      code: 'codex-no-key',
      message: auth.unreadKeys
        ? `auth.json holds ${auth.unreadKeys.join(', ')} but no OPENAI_API_KEY, which alone Codex reads: it sends no key`
        : 'no key is in auth.json: Codex sends none, or asks to sign in',
      place,
      cure: 'Run `repoint codex`.',
      weight: 'blocks',
      covers: 'key-missing',
    },
  ]
}

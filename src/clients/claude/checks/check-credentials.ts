import type { Findings } from '../../../finding.ts'
import { findingAt } from '../../checks/findings.ts'
import type { ClientContext } from '../../contract/client.ts'
import type { LoadedFiles } from '../../contract/files.ts'
import { parseLayers } from '../../files/parse-file.ts'
import { isCredentialLine, linesOf } from '../headers.ts'
import { type ClaudeSettings, hasLogin, inEnv, names, serviceSwitches } from '../settings.ts'
import { checkUnwantedSettings, withoutEffect } from './unwanted-settings.ts'

export function checkApiKey(context: ClientContext, settings: ClaudeSettings): Findings {
  return checkUnwantedSettings(settings, inEnv(names.apiKey), {
    code: 'claude-api-key',
    message: `${names.apiKey} overrides your gateway key`,
    value: withoutEffect(context, names.apiKey),
  })
}

/** Reports credentials next to the token, and services that Claude Code uses instead of the gateway. */
export function* checkOtherCredentials(context: ClientContext, settings: ClaudeSettings): Findings {
  const { env, path } = settings
  yield* checkUnwantedSettings(settings, ['apiKeyHelper'], {
    code: 'claude-api-key-helper',
    message: 'apiKeyHelper sends a second key',
  })

  const headers = env[names.headers]
  if (carriesCredential(headers)) {
    yield* checkUnwantedSettings(settings, inEnv(names.headers), {
      code: 'claude-custom-headers',
      message: `${names.headers} sends a second key`,
      value: withoutCredential(headers),
      needsConsentTo: `Remove the second key in ${names.headers} from ${path}.`,
    })
  }

  for (const name of serviceSwitches) {
    yield* checkUnwantedSettings(settings, inEnv(name), {
      code: 'claude-service-switch',
      message: `${name} makes Claude Code use another service than the gateway`,
      value: withoutEffect(context, name),
    })
  }
}

/**
 * Reports the key that a login to the vendor's console leaves in the client's own state. An empty ANTHROPIC_API_KEY
 * in the settings does not disable it. `--bare` does.
 */
export function* checkLoginKey(files: LoadedFiles): Findings {
  for (const state of parseLayers(files, 'state')) {
    if (!state.text(['primaryApiKey'])) continue
    yield findingAt(state, ['primaryApiKey'], {
      code: 'claude-login-key',
      message: 'primaryApiKey, left by a login, overrides your gateway key',
      hint: 'Log out: claude auth logout',
    })
  }
}

function withoutCredential(headers: string | undefined): string | undefined {
  const lines = linesOf(headers).filter((line) => !isCredentialLine(line))
  return lines.join('\n') || undefined
}

/**
 * The UI of Claude Code asks once whether to use an API key, and No is the default answer. After No it uses
 * its other credentials: it sends a saved login to the gateway. Headless it does not ask. Run with 2.1.197
 * and 2.1.330, 2026-11-22.
 */
export function* checkKeyQuestion(files: LoadedFiles, key: string): Findings {
  const answer = answerFor(files, key)
  if (answer?.list === 'approved') return

  const isLoggedIn = hasLogin(files)
  const otherwise = isLoggedIn ? 'it sends your saved login to the gateway' : 'it has no key'

  yield {
    code: 'claude-asks-for-key',
    message:
      answer === undefined
        ? `the gateway accepts the key only as x-api-key, so Claude Code gets it as ${names.apiKey} and asks once whether to use it`
        : `you told Claude Code not to use this key as ${names.apiKey}: ${otherwise}`,
    location: answer?.place ?? 'at its next start',
    hint:
      answer === undefined
        ? `Answer Yes. If you answer No, ${otherwise}.`
        : 'Remove the entry from that list.',
    ...(isLoggedIn && {
      needsConsentTo: `Unless you answer Yes when Claude Code asks whether to use the API key, ${otherwise}.`,
    }),
    severity: 'warning',
  }
}

/** The user's answer for a key. Claude Code records the last 20 characters of the key. */
export function answerFor(
  files: LoadedFiles,
  key: string,
): { readonly list: 'approved' | 'rejected'; readonly place: string } | undefined {
  const [state] = parseLayers(files, 'state')
  for (const list of ['approved', 'rejected'] as const) {
    const path = ['customApiKeyResponses', list]
    const value = state?.get(path)
    if (state && Array.isArray(value) && value.includes(key.slice(-20)))
      return { list, place: state.place(path) }
  }

  return undefined
}

export function carriesCredential(headers: string | undefined): boolean {
  return linesOf(headers).some(isCredentialLine)
}

import type { LoggedRequest } from '../../../src/serve/index.ts'
import { type ClaudeVersion, claudeVersions } from './install.ts'
import {
  type ClientResult,
  type ClientRun,
  runClaude,
  runClient,
  runCodex,
  runOpencode,
} from './run-client.ts'

/** A client to run once, with its version or the newest: `claude 2.1.330`, `codex`. */
export type Runner = string

export type Prompt = Omit<ClientRun, 'prompt'> & { readonly prompt?: string }

export interface ClientAnswer {
  /** The answer of the model, or the error of the client. */
  readonly text: string
  readonly hasAnswered: boolean
  /** The other output. */
  readonly stderr: string
}

/**
 * Lets a real client answer `ping`, or `prompt`. The client gives up early if its settings allow that, and
 * after the time limit otherwise.
 */
export async function prompt(runner: Runner, run: Prompt): Promise<ClientAnswer> {
  const clientRun: ClientRun = { prompt: 'ping', ...run }
  if (runner === 'codex') {
    const args = ['--disable', 'unbounded_connection_retries', ...(run.args ?? [])]
    return answerOf(await runCodex({ ...clientRun, args }))
  }
  if (runner === 'opencode') return answerOf(await runOpencode(clientRun))
  const [name = '', version] = runner.split(' ')
  if (name !== 'claude') return answerOf(await runClient(name, version, clientRun))
  const newest = claudeVersions.at(-1)!
  const result = await runClaude({ ...clientRun, version: (version ?? newest) as ClaudeVersion })
  try {
    const document = JSON.parse(result.stdout) as { is_error: boolean; result: string }
    return { text: document.result, hasAnswered: !document.is_error, stderr: result.stderr }
  } catch {
    return { ...answerOf(result), hasAnswered: false }
  }
}

function answerOf({ exitStatus, stdout, stderr }: ClientResult): ClientAnswer {
  const text = stdout.trim()
  return { text: text || stderr.trim(), hasAnswered: exitStatus === 0 && text !== '', stderr }
}

/** The inference requests among all requests of a gateway. */
export function inferences(requests: readonly LoggedRequest[]): readonly LoggedRequest[] {
  return requests.filter(({ protocol }) => protocol !== undefined)
}

import type { ErrorCode } from '../../src/error-codes.ts'

/** An unmodified gateway from npm. */
export interface GatewayProgram {
  /** The package. scripts/install.js has its version, in the set `gateways`. */
  readonly name: string
  /** The path of its entry file in the package. */
  readonly file: string
  /** Returns how to start the program. `upstream` is the URL of the local gateway. */
  start(at: { readonly port: number; readonly upstream: string; readonly key: string }): {
    readonly args?: readonly string[]
    readonly env?: Readonly<Record<string, string>>
    /** Files in its working folder. */
    readonly files?: Readonly<Record<string, string>>
    /** A module of ours that Node loads first. */
    readonly preload?: string
  }
  /** The setups to try, by client. */
  setups(upstream: string): Readonly<Record<string, ProgramSetup>>
  /** A remark for docs/providers.md. */
  readonly note: string
}

export interface ProgramSetup {
  /** The path after the program's address. */
  readonly paste: string
  readonly args?: readonly string[]
  /** The expected error. Absent: the setup succeeds, and the client gets its answer. */
  readonly refused?: ErrorCode
}

const gptModel = ['--model', 'gpt-5.6-sol']

export const programs: readonly GatewayProgram[] = [
  {
    name: '@portkey-ai/gateway',
    file: 'build/start-server.js',
    start: ({ port }) => ({ args: [`--port=${port}`, '--headless'] }),
    setups(upstream) {
      const host = ['--header', `x-portkey-custom-host: ${upstream}/v1`]
      const openai = [...gptModel, '--header', 'x-portkey-provider: openai', ...host]
      return {
        codex: { paste: '/v1', args: openai, refused: 'gateway-fault' },
        opencode: { paste: '/v1', args: openai, refused: 'gateway-fault' },
        claude: {
          paste: '',
          args: ['--header', 'x-portkey-provider: anthropic', ...host],
          refused: 'gateway-fault',
        },
      }
    },
    // Its log says "TypeError: immutable". A response without a stream works (2026-11-22).
    note: 'needs two more headers; this version answers every stream with 500, so no client can use it',
  },
  {
    name: '@copilotkit/aimock',
    file: 'dist/cli.js',
    start: ({ port }) => ({
      args: ['-p', String(port), '-f', 'answers.json'],
      files: {
        'answers.json': JSON.stringify({
          fixtures: ['ping', 'In one word'].map((userMessage) => ({
            match: { userMessage },
            response: { content: 'pong' },
          })),
        }),
      },
    }),
    setups: () => ({
      codex: { paste: '/v1', args: gptModel },
      opencode: { paste: '/v1', args: gptModel },
      claude: { paste: '' },
    }),
    note: 'a mock that answers for every model, whatever it lists',
  },
  {
    name: 'copilot-api',
    file: 'dist/main.js',
    start: ({ port, upstream, key }) => ({
      args: ['start', '--port', String(port), '--github-token', 'ghu_stub'],
      env: { STUB_UPSTREAM: upstream, STUB_KEY: key },
      preload: 'test/providers/copilot-upstream.js',
    }),
    setups: () => ({
      opencode: { paste: '/v1' },
      claude: { paste: '' },
      codex: { paste: '/v1', refused: 'protocol-unsupported' },
    }),
    note: 'its upstream is a stub; repoint pins its IDs, because they have dots',
  },
  {
    name: 'ollama-api-proxy',
    file: 'src/index.js',
    start: ({ port, upstream, key }) => ({
      env: {
        PORT: String(port),
        OPENROUTER_API_KEY: key,
        OPENROUTER_API_URL: `${upstream}/v1`,
      },
      files: {
        'models.json': JSON.stringify({
          'gpt-5.6-sol': { provider: 'openrouter', model: 'gpt-5.6-sol' },
        }),
      },
    }),
    setups: () => ({
      opencode: { paste: '/v1', args: gptModel, refused: 'wrong-route' },
    }),
    note: "speaks only Ollama's own protocol",
  },
]

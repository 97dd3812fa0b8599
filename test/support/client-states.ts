/**
 * States of a client's files, variables and folders, and what each of them does to the client.
 * test/scenarios/client-states.test.ts asks every command about each of them.
 */
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Files } from '../../src/platform/platform.ts'
import type { Given, Home } from './home.ts'

/** What a state does to the client. */
export type Effect =
  | 'works'
  | 'does-not-start'
  | 'gets-no-answer'
  | 'goes-elsewhere'
  | 'works-differently'
  | 'cannot-be-set-up'
  /** The client may read it, and repoint cannot. */
  | 'cannot-be-read'

export interface Scene {
  readonly home: Home
  /** The address of the gateway, without a path. */
  readonly url: string
  readonly key: string
}

export interface StateOfClient {
  readonly client: string
  readonly state: string
  /** Changes a home in which repoint has set the client up. Absent with `files`. */
  readonly change?: (scene: Scene) => void
  /** The whole home, in which repoint has done nothing. */
  readonly files?: (scene: Omit<Scene, 'home'>) => Readonly<Record<string, Given>>
  readonly env?: Readonly<Record<string, string>>
  /** Where the command starts. Absent: the home. */
  readonly cwd?: string
  /** File calls of this machine that behave differently. */
  readonly fileCalls?: Partial<Files>
  readonly effect: Effect
  /** The code that every command reports. Absent: none. */
  readonly code?: string
  /** The codes of warnings that come with it. */
  readonly also?: readonly string[]
  /** The code that status and doctor report about this machine: an error, or a warning with a `~`. Absent: none. */
  readonly machine?: string
  /** What a setup does: it stops with `code`, or with another one. Absent: it works. */
  readonly setup?: 'stops' | (string & {})
  /**
   * Whether guided setup offers the client. Absent: if the setup works. It asks about some problems, and its plan has
   * the whole list of models, so that it changes files that `--no-verify` leaves as they are.
   */
  readonly guided?: 'offers' | 'refuses'
  /** What `run` does. Absent: it starts the client. */
  readonly run?: 'stops' | (string & {})
  /** What `off` does. Absent: it works. */
  readonly off?: 'stops' | (string & {})
}

const toml = '.codex/config.toml'
const auth = '.codex/auth.json'
const settings = '.claude/settings.json'
const codeSettings = '.config/Code/User/settings.json'
const opencode = '.config/opencode/opencode.json'
const opencodeAuth = '.local/share/opencode/auth.json'

const put =
  (path: string, content: Given, mode?: number) =>
  ({ home }: Scene) => {
    rmSync(home.at(path), { recursive: true, force: true })
    home.put(path, content, mode)
  }
const remove =
  (path: string) =>
  ({ home }: Scene) =>
    rmSync(home.at(path), { recursive: true, force: true })
const chmod =
  (path: string, mode: number) =>
  ({ home }: Scene) =>
    chmodSync(home.at(path), mode)
const folder =
  (path: string) =>
  ({ home }: Scene) => {
    rmSync(home.at(path), { force: true })
    mkdirSync(home.at(path))
  }
const replace =
  (path: string, from: string | RegExp, to: string) =>
  ({ home }: Scene) => {
    home.replace(path, from, to)
  }
const prepend =
  (path: string, text: string) =>
  ({ home }: Scene) =>
    home.put(path, text + home.text(path))
const append =
  (path: string, text: string) =>
  ({ home }: Scene) =>
    home.put(path, home.text(path) + text)
// biome-ignore lint/suspicious/noExplicitAny: the files of several programs
const editJson = (path: string, change: (value: any) => void, mode?: number) => (scene: Scene) => {
  const value = JSON.parse(scene.home.text(path))
  change(value)
  scene.home.put(path, JSON.stringify(value, null, 2), mode)
}
/** Sets a member of a JSON file. Undefined removes it. */
const setMember = (file: string, path: string, member: unknown) =>
  editJson(file, (value) => {
    const steps = path.split('.')
    const last = steps.pop()!
    steps.reduce((table, step) => table[step], value)[last] = member
  })
/** The command starts in a folder with these files. */
const inFolder = (files: Readonly<Record<string, string>>) => ({
  change: ({ home }: Scene) => {
    for (const [name, text] of Object.entries(files)) home.put(`work/${name}`, text)
  },
  cwd: 'work',
  also: ['folder-settings'],
})
const loop =
  (path: string) =>
  ({ home }: Scene) => {
    rmSync(home.at(path), { force: true })
    symlinkSync('loop-b', home.at(path))
    symlinkSync(basename(path), home.at(`${dirname(path)}/loop-b`))
  }
const bom = '\ufeff'
const utf16 =
  (path: string) =>
  ({ home }: Scene) => {
    home.put(
      path,
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(home.text(path), 'utf16le')]),
    )
  }

const allStop = { setup: 'stops', run: 'stops', off: 'stops' } as const
const keyLeft = { effect: 'goes-elsewhere', code: 'client-key-left', also: ['drifted'] } as const
const unanswered = (code: string) =>
  ({ effect: 'gets-no-answer', code, also: ['drifted'] }) as const

type Row = Omit<StateOfClient, 'client'>

/** A file that nobody can read, whatever is in it. */
function unreadableStates(file: string, name: string): readonly Row[] {
  const unreadable = { effect: 'does-not-start', ...allStop } as const
  const conflict = { ...unreadable, code: 'config-conflict' }
  return [
    { state: `${name} is a folder`, change: folder(file), ...conflict },
    { state: `${name} is a loop of links`, change: loop(file), ...conflict },
    {
      state: `${name} with mode 000`,
      change: chmod(file, 0),
      ...unreadable,
      code: 'not-permitted',
    },
  ]
}

/** What is alike for each client whose address is in `file`. */
function usualStates(client: string, file: string): readonly Row[] {
  const name = basename(file)
  const dead = 'http://127.0.0.1:9'
  return [
    { state: 'as repoint wrote it', effect: 'works' },
    { state: `${name} with a byte order mark`, change: prepend(file, bom), effect: 'works' },
    ...unreadableStates(file, name),
    { state: `${name} read-only`, change: chmod(file, 0o400), effect: 'works' },
    {
      state: "repoint's state folder read-only",
      change: chmod('.local/state/repoint', 0o500),
      effect: 'works',
      off: 'not-permitted',
      guided: 'refuses',
      machine: '~not-permitted',
    },
    {
      state: 'a dead proxy',
      env: { HTTP_PROXY: dead },
      effect: 'gets-no-answer',
      code: `${client}-proxy`,
    },
    {
      state: 'a dead proxy that NO_PROXY bypasses',
      env: { HTTP_PROXY: dead, NO_PROXY: '127.0.0.1' },
      effect: 'works',
    },
  ]
}

/** A config.toml with one provider, as people and other tools write it. `<key>` stands for the key. */
function codexHome(lines: string, { authJson }: { authJson?: string } = {}) {
  return ({ url, key }: Omit<Scene, 'home'>): Record<string, Given> => ({
    [toml]: `model = "gpt-5.6-sol"\nmodel_provider = "custom"\n\n[model_providers.custom]\nname = "custom"\nbase_url = "${url}/v1"\nwire_api = "responses"\n${lines.replace('<key>', key)}`,
    ...(authJson === undefined ? {} : { [auth]: authJson.replace('<key>', key) }),
  })
}
/** A JSON web token without a meaning. */
const idToken = 'eyJhbGciOiJub25lIn0.e30.x'
const chatgpt =
  '{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"a.b.c","access_token":"a.b.c","refresh_token":"r","account_id":"a"},"last_refresh":"2026-11-01T00:00:00Z"}'

/** What keeps a run from writing, whatever the client's files say. In `files`, repoint has done nothing. */
function unwritableStates(
  files: NonNullable<StateOfClient['files']>,
  { folder: name, whole }: { folder: string; whole: Effect },
): readonly Row[] {
  const full = { freeBytes: () => 0 }
  const lock = ({ home }: Scene) =>
    home.put('.local/state/repoint/lock/a-holder-of-another-version', '')
  const warning = { effect: 'cannot-be-set-up' } as const
  return [
    {
      state: 'another run holds the lock, and nothing is to be changed',
      change: lock,
      effect: 'works',
      machine: 'locked',
      off: 'locked',
      guided: 'refuses',
    },
    {
      state: 'another run holds the lock',
      files,
      change: (scene) => {
        lock(scene)
        chmodSync(scene.home.at('.local/state/repoint'), 0o700)
      },
      effect: 'works',
      machine: 'locked',
      setup: 'locked',
      off: 'locked',
    },
    {
      state: 'the disk is full, and nothing is to be changed',
      fileCalls: full,
      ...warning,
      code: 'disk-full',
      machine: '~disk-full',
      off: 'stops',
      guided: 'refuses',
    },
    {
      state: 'the disk is full',
      files,
      fileCalls: full,
      ...warning,
      code: 'disk-full',
      machine: '~disk-full',
      setup: 'stops',
      off: 'stops',
    },
    {
      state: 'its folder read-only, by hand',
      files,
      change: chmod(name, 0o500),
      effect: whole,
      code: 'not-permitted',
      setup: 'stops',
      off: 'stops',
    },
    {
      state: 'a state folder that cannot be made',
      files,
      change: ({ home }) => mkdirSync(home.at('.local/state'), { recursive: true, mode: 0o500 }),
      effect: 'works',
      machine: '~not-permitted',
      setup: 'not-permitted',
      off: 'not-permitted',
    },
  ]
}

const codexStates: readonly Row[] = [
  ...usualStates('codex', toml),
  {
    state: 'config.toml broken',
    change: put(toml, 'model = '),
    effect: 'does-not-start',
    code: 'codex-config-invalid',
    ...allStop,
  },
  {
    state: 'config.toml with a key set twice',
    change: append(toml, '\n[model_providers.gateway]\nname = "x"\n'),
    effect: 'does-not-start',
    code: 'codex-config-invalid',
    ...allStop,
  },
  {
    state: 'config.toml with a wrong type',
    change: replace(toml, /^model = .*/m, 'model = 5'),
    effect: 'does-not-start',
    code: 'codex-config-invalid',
  },
  {
    state: 'config.toml empty',
    change: put(toml, ''),
    ...keyLeft,
  },
  {
    state: 'config.toml missing',
    change: remove(toml),
    ...keyLeft,
  },
  {
    state: 'config.toml in UTF-16',
    change: utf16(toml),
    effect: 'does-not-start',
    code: 'config-invalid',
    ...allStop,
  },
  {
    state: '~/.codex read-only',
    change: chmod('.codex', 0o500),
    effect: 'does-not-start',
    code: 'not-permitted',
    setup: 'stops',
    off: 'stops',
  },
  {
    state: 'auth.json removed',
    change: remove(auth),
    ...unanswered('codex-no-key'),
  },
  {
    state: 'auth.json empty',
    change: put(auth, ''),
    ...unanswered('codex-auth-unreadable'),
  },
  {
    state: 'auth.json with a byte order mark',
    change: prepend(auth, bom),
    ...unanswered('codex-auth-unreadable'),
  },
  {
    state: 'auth.json with a line break in its key',
    change: put(auth, '{"OPENAI_API_KEY":"sk-a\\nb"}', 0o600),
    ...unanswered('codex-auth-unreadable'),
  },
  {
    state: 'auth.json open to others',
    change: chmod(auth, 0o644),
    effect: 'goes-elsewhere',
    code: 'private',
  },
  {
    state: 'auth.json with another key',
    change: put(auth, '{"OPENAI_API_KEY":"sk-canary-another-key-5d4c3b2a"}', 0o600),
    effect: 'works-differently',
    code: 'drifted',
  },
  {
    state: 'auth.json with a ChatGPT login',
    change: put(auth, chatgpt, 0o600),
    ...unanswered('codex-login'),
  },
  {
    state: 'auth.json with the key, tokens and no mode',
    change: setMember(auth, 'tokens', { id_token: idToken, access_token: 'a', refresh_token: 'r' }),
    effect: 'works',
  },
  {
    state: 'auth.json with the key and tokens that Codex does not accept',
    change: setMember(auth, 'tokens', { id_token: 'a.b.c', access_token: 'a', refresh_token: 'r' }),
    ...unanswered('codex-auth-unreadable'),
  },
  {
    state: 'auth.json with the key, tokens and the mode chatgpt',
    change: editJson(auth, (value) => {
      Object.assign(value, { auth_mode: 'chatgpt', tokens: { access_token: 'a.b.c' } })
    }),
    ...unanswered('codex-login'),
  },
  {
    state: 'a foreign member in auth.json',
    change: setMember(auth, 'note', 'mine'),
    effect: 'works',
  },
  {
    state: 'wire_api = "chat" in another provider',
    change: append(
      toml,
      '\n[model_providers.old]\nname = "Old"\nbase_url = "http://127.0.0.1:9/v1"\nwire_api = "chat"\n',
    ),
    effect: 'does-not-start',
    code: 'codex-chat-wire',
    also: ['codex-keyless-provider'],
  },
  {
    state: 'profile at the root',
    change: prepend(toml, 'profile = "x"\n'),
    effect: 'does-not-start',
    code: 'codex-legacy-profile',
    run: 'stops',
  },
  {
    state: 'a provider without its table',
    change: replace(toml, 'model_provider = "gateway"', 'model_provider = "elsewhere"'),
    effect: 'does-not-start',
    code: 'codex-provider-missing',
  },
  {
    state: 'a reserved provider redefined',
    change: append(
      toml,
      '\n[model_providers.openai]\nname = "O"\nbase_url = "http://127.0.0.1:9/v1"\n',
    ),
    effect: 'does-not-start',
    code: 'codex-reserved-provider',
    run: 'stops',
  },
  {
    state: 'the credential store is a keyring',
    change: prepend(toml, 'cli_auth_credentials_store = "keyring"\n'),
    effect: 'gets-no-answer',
    code: 'codex-credential-store',
  },
  {
    state: 'forced login with ChatGPT',
    change: prepend(toml, 'forced_login_method = "chatgpt"\n'),
    effect: 'does-not-start',
    code: 'codex-forced-login',
  },
  {
    state: 'requires_openai_auth removed',
    change: replace(toml, /^requires_openai_auth.*\n/m, ''),
    effect: 'gets-no-answer',
    code: 'codex-no-auth',
  },
  {
    state: 'another token in our table',
    change: (scene) => {
      replace(
        toml,
        /^requires_openai_auth.*$/m,
        'requires_openai_auth = true\nexperimental_bearer_token = "sk-canary-in-the-table-1"',
      )(scene)
      chmod(toml, 0o600)(scene)
    },
    effect: 'goes-elsewhere',
    code: 'codex-provider-auth',
    also: ['drifted'],
  },
  {
    state: 'our provider named OpenAI',
    change: replace(toml, /^name = .*/m, 'name = "OpenAI"'),
    effect: 'works-differently',
    code: 'codex-remote-compaction',
  },
  {
    state: 'an address that is no address',
    change: replace(toml, /^base_url = .*/m, 'base_url = "gw.example/v1"'),
    effect: 'gets-no-answer',
    code: 'client-address-invalid',
  },
  {
    state: 'our key at another address',
    change: replace(toml, /^base_url = .*/m, 'base_url = "http://127.0.0.1:9/v1"'),
    ...keyLeft,
  },
  {
    state: 'a variable with another key',
    env: { CODEX_API_KEY: 'sk-canary-of-a-variable-1' },
    effect: 'goes-elsewhere',
    code: 'codex-environment-key',
  },
  {
    state: 'a variable that removes the key',
    env: { CODEX_ACCESS_TOKEN: 'tok-canary-1' },
    effect: 'gets-no-answer',
    code: 'codex-environment-token',
  },
  {
    state: 'a variable with an identity',
    env: { OPENAI_IDENTITY_TOKEN_FILE: '/nowhere' },
    effect: 'does-not-start',
    code: 'codex-environment-identity',
  },
  {
    state: 'OPENAI_BASE_URL elsewhere',
    env: { OPENAI_BASE_URL: 'http://127.0.0.1:9', OPENAI_API_KEY: 'sk-canary-x' },
    effect: 'works',
  },
  {
    state: 'a project with another provider',
    ...inFolder({
      '.git/HEAD': '',
      '.codex/config.toml':
        'model_provider = "x"\nopenai_base_url = "http://127.0.0.1:9/v1"\n[model_providers.x]\nname = "X"\nbase_url = "http://127.0.0.1:9/v1"\n',
    }),
    effect: 'works',
  },
  {
    state: 'a project with another model',
    ...inFolder({ '.git/HEAD': '', '.codex/config.toml': 'model = "gpt-nowhere"\n' }),
    effect: 'works-differently',
    code: 'codex-project-config',
  },
  {
    state: 'a model that the gateway does not have',
    change: replace(toml, /^model = .*/m, 'model = "gpt-nowhere"'),
    effect: 'works-differently',
    code: 'drifted',
  },
  {
    state: 'a profile that nobody uses',
    change: ({ home }) => home.put('.codex/mine.config.toml', 'model = "gpt-5.5"\n'),
    effect: 'works-differently',
    code: 'codex-profile',
  },
  {
    state: 'CODEX_HOME is relative',
    env: { CODEX_HOME: '.codex' },
    effect: 'works-differently',
    code: 'codex-relative-home',
  },
  {
    state: 'a token in the table, by hand',
    files: codexHome('experimental_bearer_token = "<key>"\n'),
    effect: 'works',
  },
  {
    state: 'a token in the table next to a ChatGPT login, as cc-switch writes it',
    files: codexHome('experimental_bearer_token = "<key>"\nrequires_openai_auth = true\n', {
      authJson: chatgpt,
    }),
    effect: 'works',
  },
  {
    state: 'auth.command',
    files: codexHome('auth = { command = "/bin/echo", args = ["<key>"] }\n'),
    effect: 'works',
  },
  {
    state: 'auth.command next to requires_openai_auth',
    files: codexHome(
      'requires_openai_auth = true\nauth = { command = "/bin/echo", args = ["<key>"] }\n',
    ),
    effect: 'does-not-start',
    code: 'codex-auth-combined',
    setup: 'stops',
    run: 'stops',
  },
  {
    state: 'env_key set',
    files: codexHome('env_key = "MY_KEY"\n'),
    env: { MY_KEY: 'KEY' },
    effect: 'works',
  },
  {
    state: 'env_key not set',
    files: codexHome('env_key = "MY_KEY"\n'),
    effect: 'does-not-start',
    code: 'codex-no-key',
  },
  {
    state: 'env_key not set, next to a token',
    files: codexHome('env_key = "MY_KEY"\nexperimental_bearer_token = "<key>"\n'),
    effect: 'does-not-start',
    code: 'codex-no-key',
  },
  {
    state: 'an Authorization header',
    files: codexHome('http_headers = { Authorization = "Bearer <key>" }\n'),
    effect: 'works',
  },
  {
    state: 'no key in the table and none asked for, at a server of this machine',
    files: codexHome('', { authJson: '{"OPENAI_API_KEY":"<key>"}' }),
    effect: 'works',
  },
  {
    state: 'a key in auth.json by hand',
    files: codexHome('requires_openai_auth = true\n', { authJson: '{"OPENAI_API_KEY":"<key>"}' }),
    effect: 'works',
  },
  {
    state: 'a foreign provider named OpenAI',
    files: ({ url, key }) => ({
      [auth]: `{"OPENAI_API_KEY":"${key}"}`,
      [toml]: `model = "gpt-5.6-sol"\nmodel_provider = "custom"\n[model_providers.custom]\nname = "OpenAI"\nbase_url = "${url}/v1"\nwire_api = "responses"\nrequires_openai_auth = true\n`,
    }),
    effect: 'works-differently',
    code: 'codex-remote-compaction',
  },
  {
    state: 'rights of the group that repoint cannot restore',
    files: codexHome('env_key = "MY_KEY"\n'),
    env: { MY_KEY: 'KEY' },
    change: chmod(toml, 0o640),
    fileCalls: { canCopyAttributes: () => false },
    effect: 'cannot-be-set-up',
    code: 'not-permitted',
    setup: 'stops',
    off: 'stops',
  },
  {
    state: 'its own service with a ChatGPT login',
    files: () => ({ [auth]: chatgpt }),
    effect: 'works',
  },
  {
    state: 'half undone: our key without an address',
    change: put(toml, 'model = "gpt-5.6-sol"\n'),
    ...keyLeft,
  },
]

const claudeByHand = (url: string, key: string) =>
  JSON.stringify({ env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: key } })

/** Variables of the shell that Claude Code prefers to its settings. */
const shellVariables = (rows: readonly [string, Effect, name: string, value: string][]) =>
  rows.map(([state, effect, name, value]) => ({
    ...{ state, effect, code: 'claude-shell-variable' },
    env: { [name]: value },
  }))

const claudeStates: readonly Row[] = [
  ...usualStates('claude', settings),
  {
    state: 'settings.json broken',
    change: put(settings, '{"env": '),
    effect: 'does-not-start',
    code: 'claude-settings-skipped',
    ...allStop,
  },
  {
    state: 'settings.json empty',
    change: put(settings, ''),
    effect: 'does-not-start',
    code: 'claude-settings-skipped',
  },
  {
    state: 'settings.json missing',
    change: remove(settings),
    effect: 'works-differently',
    code: 'drifted',
  },
  {
    state: 'settings.json with a comment',
    change: prepend(settings, '// mine\n'),
    effect: 'does-not-start',
    code: 'claude-settings-skipped',
  },
  {
    state: 'settings.json in UTF-16',
    change: utf16(settings),
    effect: 'cannot-be-read',
    code: 'config-invalid',
    ...allStop,
  },
  {
    state: 'settings.json is a list',
    change: put(settings, '[]'),
    effect: 'does-not-start',
    code: 'claude-settings-skipped',
    ...allStop,
  },
  {
    state: 'settings.json with a wrong type',
    change: setMember(settings, 'model', 5),
    effect: 'does-not-start',
    code: 'claude-settings-skipped',
  },
  {
    state: '~/.claude read-only',
    change: chmod('.claude', 0o500),
    effect: 'cannot-be-set-up',
    code: 'not-permitted',
    off: 'stops',
  },
  {
    state: 'the token removed',
    change: setMember(settings, 'env.ANTHROPIC_AUTH_TOKEN', undefined),
    ...unanswered('key-missing'),
  },
  {
    state: 'the token removed, with a login',
    change: (scene) => {
      editJson(settings, (value) => {
        delete value.env.ANTHROPIC_AUTH_TOKEN
      })(scene)
      scene.home.put(
        '.claude/.credentials.json',
        '{"claudeAiOauth":{"accessToken":"tok-canary-2"}}',
        0o600,
      )
    },
    effect: 'goes-elsewhere',
    code: 'claude-login-leak',
    also: ['drifted'],
  },
  {
    state: 'an address that ends in /v1',
    change: editJson(settings, (value) => {
      value.env.ANTHROPIC_BASE_URL += '/v1'
    }),
    effect: 'gets-no-answer',
    code: 'claude-base-url-version',
  },
  {
    state: 'an address without http://',
    change: editJson(settings, (value) => {
      value.env.ANTHROPIC_BASE_URL = value.env.ANTHROPIC_BASE_URL.replace('http://', '')
    }),
    effect: 'gets-no-answer',
    code: 'client-address-invalid',
  },
  {
    state: 'an address with a space',
    change: editJson(settings, (value) => {
      value.env.ANTHROPIC_BASE_URL += ' '
    }),
    effect: 'gets-no-answer',
    code: 'client-address-invalid',
  },
  {
    state: 'our key at another address',
    change: setMember(settings, 'env.ANTHROPIC_BASE_URL', 'http://127.0.0.1:9'),
    ...keyLeft,
  },
  {
    state: 'another key',
    change: setMember(settings, 'env.ANTHROPIC_AUTH_TOKEN', 'sk-canary-another-key-5d4c3b2a'),
    effect: 'works-differently',
    code: 'drifted',
  },
  {
    state: 'a second key in the settings',
    change: setMember(settings, 'env.ANTHROPIC_API_KEY', 'sk-canary-second'),
    effect: 'goes-elsewhere',
    code: 'claude-api-key',
  },
  {
    state: 'a key helper',
    change: setMember(settings, 'apiKeyHelper', 'echo sk-canary-helper'),
    effect: 'goes-elsewhere',
    code: 'claude-api-key-helper',
  },
  {
    state: 'Bedrock in the settings',
    change: setMember(settings, 'env.CLAUDE_CODE_USE_BEDROCK', '1'),
    effect: 'goes-elsewhere',
    code: 'claude-service-switch',
  },
  ...shellVariables([
    ['Bedrock in the shell', 'goes-elsewhere', 'CLAUDE_CODE_USE_BEDROCK', '1'],
    ['Vertex in the shell', 'goes-elsewhere', 'CLAUDE_CODE_USE_VERTEX', '1'],
    ['ANTHROPIC_API_KEY in the shell', 'goes-elsewhere', 'ANTHROPIC_API_KEY', 'sk-canary-shell'],
    ['ANTHROPIC_MODEL in the shell', 'works-differently', 'ANTHROPIC_MODEL', 'claude-nowhere'],
    [
      'a variable that stops Claude Code',
      'does-not-start',
      'CLAUDE_CODE_CLIENT_DATA_URL',
      'http://127.0.0.1:9',
    ],
  ]),
  {
    state: 'ANTHROPIC_BASE_URL in the shell',
    env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' },
    effect: 'works',
  },
  {
    state: 'a project with another address',
    ...inFolder({ '.claude/settings.json': '{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:9"}}' }),
    guided: 'offers',
    effect: 'goes-elsewhere',
    code: 'claude-project-settings',
    setup: 'stops',
  },
  {
    state: 'a project with a harmless address of another kind',
    ...inFolder({
      '.claude/settings.json': '{"env":{"CLAUDE_CODE_MODEL_CATALOG_URL":"http://127.0.0.1:9"}}',
    }),
    effect: 'works-differently',
    code: 'claude-project-settings',
  },
  {
    state: 'a project with another model',
    ...inFolder({ '.claude/settings.json': '{"model":"claude-nowhere"}' }),
    effect: 'works-differently',
    code: 'claude-project-settings',
  },
  {
    state: 'an empty CLAUDE_CONFIG_DIR',
    env: { CLAUDE_CONFIG_DIR: '' },
    effect: 'goes-elsewhere',
    code: 'claude-empty-folder',
    setup: 'stops',
  },
  {
    state: 'settings.json open to others',
    change: chmod(settings, 0o644),
    effect: 'goes-elsewhere',
    code: 'private',
  },
  {
    state: 'VS Code with another address for the extension',
    change: ({ home }) =>
      home.put(
        codeSettings,
        '// mine\n{"claudeCode.environmentVariables": [{"name": "ANTHROPIC_BASE_URL", "value": "http://127.0.0.1:9"}],\n"claudeCode.disableLoginPrompt": true,}',
      ),
    effect: 'works-differently',
    code: 'claude-vscode-variable',
  },
  {
    state: 'VS Code with our address and key for the extension, which asks for a login',
    change: ({ home, url, key }) =>
      home.put(
        codeSettings,
        JSON.stringify({
          'claudeCode.environmentVariables': [
            { name: 'ANTHROPIC_BASE_URL', value: url },
            { name: 'ANTHROPIC_AUTH_TOKEN', value: key },
            { name: 'EDITOR', value: 'code' },
          ],
        }),
      ),
    effect: 'works-differently',
    code: 'claude-vscode-login',
  },
  {
    state: 'VS Code without a setting of the extension, and with an error',
    change: ({ home }) => {
      home.put(codeSettings, '{"editor.fontSize": 12}')
      home.put('.config/VSCodium/User/settings.json', '{')
    },
    effect: 'works',
  },
  {
    state: 'the proxy of claude-code-router',
    files: ({ key }) => ({
      [settings]: JSON.stringify({
        env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:3456', ANTHROPIC_AUTH_TOKEN: key },
      }),
    }),
    effect: 'works-differently',
    code: 'claude-local-proxy',
  },
  {
    state: 'settings by hand',
    files: ({ url, key }) => ({ [settings]: claudeByHand(url, key) }),
    effect: 'works',
  },
  {
    state: 'half undone: our key without an address',
    change: setMember(settings, 'env.ANTHROPIC_BASE_URL', undefined),
    ...keyLeft,
  },
]

const opencodeStates: readonly Row[] = [
  ...usualStates('opencode', opencode),
  {
    state: 'opencode.json broken',
    change: put(opencode, '{"model": '),
    effect: 'does-not-start',
    code: 'opencode-config-invalid',
    ...allStop,
  },
  {
    state: 'opencode.json empty',
    change: put(opencode, ''),
    ...keyLeft,
  },
  {
    state: 'opencode.json missing',
    change: remove(opencode),
    ...keyLeft,
  },
  {
    state: 'opencode.json with a comment',
    change: prepend(opencode, '// mine\n'),
    effect: 'works',
  },
  {
    state: '~/.config/opencode read-only',
    change: chmod('.config/opencode', 0o500),
    guided: 'refuses',
    effect: 'cannot-be-set-up',
    code: 'not-permitted',
    off: 'stops',
  },
  {
    state: 'auth.json removed',
    change: remove(opencodeAuth),
    ...unanswered('opencode-no-key'),
  },
  {
    state: 'auth.json broken',
    change: put(opencodeAuth, '{', 0o600),
    effect: 'gets-no-answer',
    code: 'opencode-auth-unreadable',
    setup: 'stops',
    off: 'stops',
  },
  {
    state: 'auth.json with another key',
    change: setMember(opencodeAuth, 'gateway.key', 'sk-canary-another-key-5d4c3b2a'),
    effect: 'works-differently',
    code: 'drifted',
  },
  {
    state: 'auth.json open to others',
    change: chmod(opencodeAuth, 0o644),
    effect: 'goes-elsewhere',
    code: 'private',
  },
  {
    state: 'an inline key',
    change: editJson(
      opencode,
      (value) => {
        value.provider.gateway.options.apiKey = 'sk-canary-inline'
      },
      0o600,
    ),
    effect: 'goes-elsewhere',
    code: 'opencode-api-key',
    also: ['drifted'],
  },
  {
    state: 'our key at another address',
    change: setMember(opencode, 'provider.gateway.options.baseURL', 'http://127.0.0.1:9/v1'),
    ...keyLeft,
  },
  {
    state: 'an address that is no address',
    change: setMember(opencode, 'provider.gateway.options.baseURL', 'gw.example/v1'),
    effect: 'gets-no-answer',
    code: 'client-address-invalid',
  },
  {
    state: 'an address without /v1',
    change: editJson(opencode, (value) => {
      value.provider.gateway.options.baseURL = value.provider.gateway.options.baseURL.replace(
        '/v1',
        '',
      )
    }),
    effect: 'gets-no-answer',
    code: 'opencode-base-url-version',
  },
  {
    state: 'the provider is disabled',
    change: setMember(opencode, 'disabled_providers', ['gateway']),
    effect: 'does-not-start',
    code: 'opencode-hidden',
  },
  {
    state: 'the model is not in the list',
    change: setMember(opencode, 'model', 'gateway/gpt-nowhere'),
    effect: 'does-not-start',
    code: 'opencode-model-unlisted',
    also: ['drifted'],
  },
  {
    state: 'an agent with its own model',
    change: setMember(opencode, 'agent', { plan: { model: 'anthropic/claude-sonnet-5' } }),
    effect: 'works-differently',
    code: 'opencode-agent-model',
  },
  {
    state: 'permissions of another major version',
    change: setMember(opencode, 'permissions', []),
    effect: 'does-not-start',
    code: 'opencode-newer-keys',
    setup: 'stops',
    run: 'stops',
  },
  {
    state: 'OPENCODE_CONFIG_CONTENT',
    env: { OPENCODE_CONFIG_CONTENT: '{"model":"x/y"}' },
    effect: 'works-differently',
    code: 'opencode-environment-config',
  },
  {
    state: 'a project with another address',
    ...inFolder({
      '.git/HEAD': '',
      'opencode.json': '{"provider":{"gateway":{"options":{"baseURL":"http://127.0.0.1:9/v1"}}}}',
    }),
    guided: 'offers',
    effect: 'goes-elsewhere',
    code: 'opencode-project-config',
    setup: 'stops',
    run: 'stops',
  },
  {
    state: 'a project with another model',
    ...inFolder({ '.git/HEAD': '', 'opencode.json': '{"model":"gateway/gpt-5.5"}' }),
    effect: 'works-differently',
    code: 'opencode-project-config',
  },
  {
    state: 'a project that is broken',
    ...inFolder({ '.git/HEAD': '', 'opencode.json': '{"model":' }),
    guided: 'offers',
    effect: 'does-not-start',
    code: 'opencode-project-config',
    setup: 'stops',
    run: 'stops',
  },
  { state: 'ALL_PROXY', env: { ALL_PROXY: 'http://127.0.0.1:9' }, effect: 'works' },
  {
    state: 'half undone: our key without an address',
    change: editJson(opencode, (value) => {
      delete value.provider
      delete value.model
      delete value.small_model
    }),
    ...keyLeft,
  },
]

/** The other clients: the files with the address and with the key, and the codes of two states. */
const otherClients: Readonly<
  Record<string, { config: string; key: string; broken: string; noKey?: string; run?: 'stops' }>
> = {
  kilo: {
    config: '.config/kilo/kilo.jsonc',
    key: '.local/share/kilo/auth.json',
    broken: 'kilo-config-invalid',
    noKey: 'kilo-no-key',
    run: 'stops',
  },
  pi: {
    config: '.pi/agent/models.json',
    key: '.pi/agent/models.json',
    broken: 'pi-models-invalid',
  },
  openclaw: {
    config: '.openclaw/openclaw.json',
    key: '.openclaw/openclaw.json',
    broken: 'openclaw-config-invalid',
    noKey: 'key-missing',
  },
  qwen: {
    config: '.qwen/settings.json',
    key: '.qwen/settings.json',
    broken: 'qwen-settings-broken',
    noKey: 'qwen-no-key',
  },
  droid: {
    config: '.factory/settings.json',
    key: '.factory/settings.json',
    broken: 'droid-settings-unreadable',
    noKey: 'droid-no-key',
  },
  cline: {
    config: '.cline/data/settings/providers.json',
    key: '.cline/data/settings/providers.json',
    broken: 'cline-providers-unreadable',
    noKey: 'cline-no-key',
  },
  kimi: {
    config: '.kimi-code/config.toml',
    key: '.kimi-code/config.toml',
    broken: 'kimi-config-unreadable',
    noKey: 'kimi-no-key',
  },
  grok: {
    config: '.grok/config.toml',
    key: '.grok/config.toml',
    broken: 'grok-config-invalid',
    noKey: 'grok-no-key',
  },
}

const of = (client: string, states: readonly Row[]) =>
  states.map((state): StateOfClient => ({ client, ...state }))

export const clientStates: readonly StateOfClient[] = [
  ...of('codex', codexStates),
  ...of(
    'codex',
    unwritableStates(codexHome('env_key = "MY_KEY"\n'), {
      folder: '.codex',
      whole: 'does-not-start',
    }).map((row) => ({ ...row, env: { MY_KEY: 'KEY' } })),
  ),
  ...of('claude', claudeStates),
  ...of(
    'claude',
    unwritableStates(({ url }) => ({ [settings]: claudeByHand(url, 'sk-canary-by-hand-1f2e') }), {
      folder: '.claude',
      whole: 'cannot-be-set-up',
    }),
  ),
  ...of('opencode', opencodeStates),
  ...Object.entries(otherClients).flatMap(([client, { config, key, broken, noKey, run }]) =>
    of(client, [
      { state: 'as repoint wrote it', effect: 'works' },
      {
        state: 'its config broken',
        change: put(config, '{"a": '),
        effect: 'does-not-start',
        code: broken,
        setup: 'stops',
        off: 'stops',
        ...(run && { run }),
      },
      ...unreadableStates(config, 'its config').filter(({ state }) => !state.includes('loop')),
      {
        state: 'its folder read-only',
        change: chmod(dirname(config), 0o500),
        ...(client !== 'cline' && { guided: 'refuses' }),
        effect: 'cannot-be-set-up',
        code: 'not-permitted',
        off: 'stops',
      },
      {
        state: 'its key open to others',
        change: chmod(key, 0o644),
        effect: 'goes-elsewhere',
        code: 'private',
      },
      {
        state: 'the key removed',
        change: ({ home, key: secret }) => {
          home.replace(key, secret, '')
        },
        // pi ignores a file with an empty key.
        ...(noKey === undefined
          ? { effect: 'does-not-start', code: broken, setup: 'stops' }
          : { effect: 'gets-no-answer', code: noKey, also: ['drifted'] }),
      },
    ]),
  ),
]

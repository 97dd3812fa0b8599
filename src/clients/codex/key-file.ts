import type { ConfigValue, FileEdit, SettingChange, SettingPath } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { Findings } from '../../finding.ts'
import { findingAt, missingKeyFinding } from '../checks/findings.ts'
import type { ClientContext } from '../contract/client.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { ChosenOptions, OptionQuestion, SetupTarget } from '../contract/setup.ts'
import { fileOf, type ParsedFile, parseFile } from '../files/parse-file.ts'
import { isTable, type Table, textIn } from '../files/tables.ts'
import { codexName } from '../names.ts'
import { effectiveOptions } from '../options/chosen-options.ts'
import { isBefore, type Version } from '../program/tested.ts'
import { readCodexAuth } from './auth.ts'

/**
 * With `--keep-login`, auth.json keeps the login, and the provider's table names a command that prints the gateway's
 * key from a file of its own. Codex sends only that key to the gateway (0.118.0 and 0.171.0, 2026-11-29).
 */
export const keyFileName = 'repoint-key'

/** Older ones do not know `auth`, and send the login to the gateway (0.105.0, 0.116.0 and 0.117.0, 2026-11-29). */
const minVersionForCommand = '0.118.0'

/**
 * The commands that print the file. Codex takes `cwd` from the folder of config.toml, so that no path needs quotes. It
 * removes the line break at the end of the output. `cat` was run with 0.118.0 and 0.171.0 on Linux; the command for
 * Windows was not run (2026-11-29). `/d` ignores the commands that the registry adds to each start of cmd.
 */
const commands = {
  posix: { command: 'cat', args: [keyFileName], cwd: '.' },
  windows: { command: 'cmd', args: ['/d', '/c', 'type', keyFileName], cwd: '.' },
} as const

/** The command for the system that has the file. */
function commandFor({ path }: Pick<LoadedFile, 'path'>) {
  return /^(?:[A-Za-z]:)?\\/.test(path) ? commands.windows : commands.posix
}

/** Whether a value of `auth` is a command that a setup writes, on whichever system. */
export function printsKeyFile(auth: ConfigValue | undefined): boolean {
  return Object.values(commands).some((command) => isCommand(auth, command))
}

function isCommand(
  auth: ConfigValue | undefined,
  { command, args, cwd }: (typeof commands)[keyof typeof commands],
): boolean {
  if (!isTable(auth)) return false
  return (
    textIn(auth, ['command']) === command &&
    JSON.stringify(auth['args']) === JSON.stringify(args) &&
    textIn(auth, ['cwd']) === cwd
  )
}

/** Whether the setup keeps the login, and writes the key into the key file. */
export function keepsLogin(input: ChosenOptions): boolean {
  return effectiveOptions(input).keepsLogin === true
}

/** @throws UserError `client-too-old` if this version would send the login to the gateway */
export function expectCommandSupport(input: ChosenOptions, version: Version): void {
  if (!keepsLogin(input) || !isBefore(version, minVersionForCommand)) return
  throw new UserError({
    code: 'client-too-old',
    message: tooOld(version),
    hint: 'Update Codex, or leave --keep-login out: {--no-keep-login}',
  })
}

function tooOld(version: Version): string {
  return `Codex ${version} would send your login to the gateway: --keep-login needs ${minVersionForCommand} or newer`
}

/** The question whether to keep the login that a setup would replace. */
export function loginQuestion(
  { files, version }: ClientContext,
  { input, keyHeader }: SetupTarget,
): OptionQuestion | undefined {
  const { login } = readCodexAuth(fileOf(files, 'auth'))
  const isDecided = effectiveOptions(input).keepsLogin !== undefined
  const isPossible = keyHeader === 'authorization' && !isBefore(version, minVersionForCommand)
  if (login === undefined || isDecided || !isPossible) return undefined
  return {
    message: `Keep your ${login}?`,
    ifYes: { keepsLogin: true },
    ifNo: { keepsLogin: false },
  }
}

/**
 * The edit of the key file: it gets the key, or goes because the key is in auth.json. Undefined: there is none.
 *
 * @throws UserError `client-failed` if the gateway accepts the key only in a header of another name
 */
export function planKeyFile(files: LoadedFiles, target: SetupTarget): FileEdit | undefined {
  const file = fileOf(files, 'key')
  const isKept = keepsLogin(target.input)
  if (!isKept && file.bytes === null) return undefined
  if (isKept && target.keyHeader !== 'authorization')
    throw new UserError({
      code: 'client-failed',
      message: `The gateway accepts the key only in the header ${target.keyHeader}, and with --keep-login Codex sends it as Authorization`,
      hint: 'Leave --keep-login out: {--no-keep-login}',
    })

  const value = isKept ? target.key : undefined
  const isCurrent = value !== undefined && parseFile(file).text(['key']) === value
  const after = value === undefined ? null : new TextEncoder().encode(`${value}\n`)
  return {
    client: codexName.id,
    path: file.path,
    format: file.format,
    scope: 'whole',
    changes: [{ path: ['key'], value, isSecret: true, role: 'key' }],
    before: file.bytes,
    after: isCurrent ? file.bytes : after,
    holdsSecret: true,
  }
}

/** The changes in the provider's table. Codex does not start if `auth` has another key next to it. */
export function keyCommandChanges(
  files: LoadedFiles,
  { path, table }: { readonly path: readonly string[]; readonly table: Table | undefined },
  target: SetupTarget,
): readonly SettingChange[] {
  if (keepsLogin(target.input))
    return [
      ...['requires_openai_auth', 'env_key', 'env_key_instructions', 'experimental_bearer_token']
        .filter((name) => table?.[name] !== undefined)
        .map((name) => ({ path: [...path, name], value: undefined })),
      { path: [...path, 'auth'], value: { ...commandFor(fileOf(files, 'key')) } },
    ]
  return printsKeyFile(table?.['auth']) ? [{ path: [...path, 'auth'], value: undefined }] : []
}

/** Reports why the command of the table in use does not print the key. */
export function* checkKeyFile(
  { files, version }: ClientContext,
  config: ParsedFile,
  { path, table }: { readonly path: SettingPath; readonly table: Table },
): Findings {
  const authPath = [...path, 'auth']
  const file = fileOf(files, 'key')
  const command = commandFor(file)
  if (isBefore(version, minVersionForCommand))
    yield findingAt(config, authPath, {
      code: 'codex-key-command',
      message: tooOld(version),
      hint: 'Update Codex, or replace the login: repoint codex --no-keep-login',
    })

  if (!isCommand(table['auth'], command))
    yield findingAt(config, authPath, {
      code: 'codex-key-command',
      message: 'Codex sends no key: its command to print it is for another system',
      hint: `Use ${[command.command, ...command.args].join(' ')}.`,
      becomes: { value: { ...command } },
      topic: 'key-missing',
    })

  const why = whyNoKey(file)
  if (why !== undefined) yield missingKeyFinding(codexName, file.path, `Codex sends no key: ${why}`)
}

function whyNoKey(file: LoadedFile): string | undefined {
  if (file.bytes === null) return `${keyFileName} does not exist`
  const key = parseFile(file).text(['key'])
  if (key === undefined) return `${keyFileName} is empty`
  return keyInFile(file) === undefined ? `${keyFileName} has more than one line` : undefined
}

/** The key that Codex sends from the key file. */
export function keyInFile(file: LoadedFile): string | undefined {
  const key = parseFile(file).text(['key'])
  return key === undefined || /[\r\n]/.test(key) ? undefined : key
}

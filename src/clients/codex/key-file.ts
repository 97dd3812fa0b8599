import type { FileEdit, SettingChange, SettingPath } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { Findings } from '../../finding.ts'
import { findingAt, missingKeyFinding } from '../checks/findings.ts'
import type { ClientContext } from '../contract/client.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { ChosenOptions, OptionQuestion, SetupTarget } from '../contract/setup.ts'
import { fileOf, type ParsedFile, parseFile, parseKind } from '../files/parse-file.ts'
import type { Table } from '../files/tables.ts'
import { codexName } from '../names.ts'
import { effectiveOptions } from '../options/chosen-options.ts'
import { planKeyFile } from '../plan/key-file.ts'
import { isBefore, type Version } from '../program/tested.ts'
import { readCodexAuth } from './auth.ts'
import { commandFor, isCommand, keyFileName, printsKeyFile } from './providers/key-command.ts'
import { addressInUse, takesAuthFile } from './providers/provider.ts'

/**
 * Versions before 0.118.0 do not know `auth`, and send the login to the gateway. From 0.122.0 to 0.142.5, Codex with a
 * login offers each model the tool `image_generation`, which only the vendor's server runs (0.105.0 to 0.171.0 run,
 * 2026-11-29).
 */
const minVersionForLogin = '0.143.0'

/** Whether the setup keeps the login, and writes the key into the key file. */
export function keepsLogin(input: ChosenOptions): boolean {
  return effectiveOptions(input).keepsLogin === true
}

/** @throws UserError `client-too-old` if this version would send the login to the gateway */
export function expectCommandSupport(input: ChosenOptions, version: Version): void {
  if (!keepsLogin(input) || !isBefore(version, minVersionForLogin)) return
  throw new UserError({
    code: 'client-too-old',
    message: tooOld(version),
    hint: 'Update Codex, or replace the login: {--no-keep-login}',
  })
}

function tooOld(version: Version): string {
  return `Codex ${version} cannot keep the login at a gateway: that needs ${minVersionForLogin} or newer`
}

/** The question whether to keep the login that a setup would replace. */
export function loginQuestion(
  { files, version }: ClientContext,
  { input, keyHeader }: SetupTarget,
): OptionQuestion | undefined {
  const { login } = readCodexAuth(fileOf(files, 'auth'))
  const isDecided = effectiveOptions(input).keepsLogin !== undefined
  const isPossible = keyHeader === 'authorization' && !isBefore(version, minVersionForLogin)
  if (login === undefined || isDecided || !isPossible) return undefined
  return {
    message: `Keep your ${login}?`,
    ifYes: { keepsLogin: true },
    ifNo: { keepsLogin: false },
  }
}

/** Whether auth.json has the key of this gateway, or of the one that Codex uses now. */
export function hasGatewayKey(files: LoadedFiles, { key }: SetupTarget): boolean {
  const config = parseKind(files, 'config')
  const { usableKey } = readCodexAuth(fileOf(files, 'auth'))
  const isAtGateway = takesAuthFile(config) && addressInUse(config).url !== undefined
  return usableKey !== undefined && (usableKey === key || isAtGateway)
}

/** auth.json with the login that a setup replaced by the key. */
export function replacedLogin(auth: LoadedFile, { history }: SetupTarget): LoadedFile | undefined {
  for (const bytes of history?.earlierVersionsOf(auth.kind) ?? []) {
    const version = { ...auth, bytes }
    if (readCodexAuth(version).login !== undefined) return version
  }
  return undefined
}

/** Reports what a setup with `--keep-login` does with a key in auth.json. */
export function* checkKeyInAuth({ files }: ClientContext, target: SetupTarget): Findings {
  const auth = fileOf(files, 'auth')
  if (!hasGatewayKey(files, target)) return
  const login = replacedLogin(auth, target)
  const shared = { code: 'codex-kept-login', severity: 'note', location: auth.path } as const
  if (login !== undefined)
    yield {
      ...shared,
      message: `auth.json gets back the ${readCodexAuth(login).login} that an earlier setup replaced`,
    }
  else
    yield {
      ...shared,
      message: 'auth.json has no login to keep: the key moves into a separate file',
      hint: 'To log in: codex login',
    }
}

/**
 * The edit of the key file: it gets the key, or goes because the key is in auth.json. Undefined: there is none.
 *
 * @throws UserError `client-failed` if the gateway accepts the key only in a header of another name
 */
export function planCodexKey(files: LoadedFiles, target: SetupTarget): FileEdit | undefined {
  const isKept = keepsLogin(target.input)
  if (isKept && target.keyHeader !== 'authorization')
    throw new UserError({
      code: 'client-failed',
      message: `The gateway accepts the key only in the header ${target.keyHeader}, and with --keep-login Codex sends it as Authorization`,
      hint: 'Replace the login by the key: {--no-keep-login}',
    })
  return planKeyFile(codexName, fileOf(files, 'key'), isKept ? target.key : undefined)
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
  if (isBefore(version, minVersionForLogin))
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

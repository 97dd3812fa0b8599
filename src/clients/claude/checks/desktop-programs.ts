/**
 * What VS Code and Claude Desktop say about the gateway: from their documentation and issues, not run (2026-11-28).
 *
 * The VS Code extension reads `env` of settings.json, and two settings of VS Code. Variables there win. Without
 * `disableLoginPrompt` it asks for a login although the key is set (claude-code #8522 #20271 #72261 #84852).
 */
import type { Findings } from '../../../finding.ts'
import { isSameButVersion } from '../../../gateway/base-urls.ts'
import type { Machine } from '../../../platform/platform.ts'
import type { DiskReader, LoadedFiles } from '../../contract/files.ts'
import { shownUrl } from '../../files/addresses.ts'
import { type ParsedFile, parseFile } from '../../files/parse-file.ts'
import { pathsOf } from '../../files/paths.ts'
import { isTable } from '../../files/tables.ts'
import { type ClaudeSettings, names, serviceAddresses, serviceSwitches } from '../settings.ts'

const variablesPath = ['claudeCode.environmentVariables'] as const
const promptPath = ['claudeCode.disableLoginPrompt'] as const

/** The folder of the settings of programs that are built with Electron. */
function appFolder(machine: Machine): string {
  const { join } = pathsOf(machine)
  const { os, home, env } = machine
  if (os === 'darwin') return join(home, 'Library', 'Application Support')
  if (os === 'win32') return env['APPDATA'] || join(home, 'AppData', 'Roaming')
  return env['XDG_CONFIG_HOME'] || join(home, '.config')
}

/** The user's settings.json of VS Code, of its Insiders, and of VSCodium. */
export function codeSettings(machine: Machine): readonly string[] {
  const { join } = pathsOf(machine)
  const editors = ['Code', 'Code - Insiders', 'VSCodium']
  return editors.map((name) => join(appFolder(machine), name, 'User', 'settings.json'))
}

/** The profiles of Claude Desktop with the inference of another company. The manuals name the folder of macOS. */
export function desktopProfiles(machine: Machine, disk: DiskReader): readonly string[] {
  const { join } = pathsOf(machine)
  const folder = join(appFolder(machine), 'Claude-3p', 'configLibrary')
  const isProfile = (name: string) => name.endsWith('.json') && !name.startsWith('_')
  return disk
    .entries(folder)
    .filter(isProfile)
    .map((name) => join(folder, name))
}

/** Reports what differs there from the gateway in Claude Code's own settings. */
export function* checkDesktopPrograms(
  files: LoadedFiles,
  settings: ClaudeSettings,
  url: string,
): Findings {
  for (const file of files) {
    if (file.kind === 'vscode') yield* checkCode(parseFile(file), settings, url)
    if (file.kind === 'desktop') yield* checkDesktop(parseFile(file), url)
  }
}

function* checkCode(file: ParsedFile, { env }: ClaudeSettings, url: string): Findings {
  const list = file.get(variablesPath)
  const elements = Array.isArray(list) ? list : []
  for (const element of elements) {
    if (!isTable(element)) continue
    const { name, value } = element
    if (typeof name !== 'string' || typeof value !== 'string') continue
    const effect = effectOf(name, value, env, url)
    if (effect === undefined) continue
    yield {
      code: 'claude-vscode-variable',
      severity: 'warning',
      message: `${variablesPath} of VS Code sets ${name}, so that the extension of Claude Code ${effect} (not tested)`,
      location: file.place([...variablesPath, { element: { name } }]),
      hint: 'Remove that element. The extension reads the settings of Claude Code too.',
      topic: 'override',
    }
  }

  const usesExtension = Object.keys(file.root).some((name) => name.startsWith('claudeCode.'))
  if (usesExtension && file.get(promptPath) !== true)
    yield {
      code: 'claude-vscode-login',
      severity: 'warning',
      message: `The extension of Claude Code in VS Code asks for a login, although the key is set (not tested)`,
      location: file.get(promptPath) === undefined ? file.path : file.place(promptPath),
      hint: `Set "${promptPath}" to true in that file.`,
    }
}

/** What a variable of VS Code changes. Undefined: nothing. */
function effectOf(
  name: string,
  value: string,
  env: Readonly<Record<string, string | undefined>>,
  url: string,
): string | undefined {
  if (value === (env[name] ?? '')) return undefined
  if (name === names.baseUrl)
    return isSameButVersion(value, url)
      ? undefined
      : `may use ${shownUrl(value) || 'another address'}`
  if (name === names.token || name === names.apiKey) return 'may send another key'
  const isOfService = [...serviceSwitches, ...serviceAddresses].some((other) => other === name)
  return isOfService ? 'may use another service' : undefined
}

function* checkDesktop(file: ParsedFile, url: string): Findings {
  const address = file.get(['inferenceGatewayBaseUrl'])
  if (file.get(['inferenceProvider']) !== 'gateway' || typeof address !== 'string') return
  const isSame = isSameButVersion(address, url)
  yield {
    code: 'claude-desktop-gateway',
    severity: isSame ? 'ok' : 'warning',
    message: `Claude Desktop uses ${isSame ? 'the same gateway' : `another gateway: ${shownUrl(address)}`}`,
    location: file.place(['inferenceGatewayBaseUrl']),
    hint: 'repoint does not change it. What to enter there: repoint editor --for claude-desktop',
  }
}

/** How the shells set environment variables. */
import type { Machine } from '../../platform/platform.ts'
import type { GatewayFlags } from '../command-line/flags.ts'

export interface ShellSyntax {
  quoted(text: string): string
  /** Sets a variable to the value of an expression. */
  set(name: string, expression: string): string
  unset(name: string): string
  /** Reads a variable from the keyboard, without showing it. */
  ask(name: string): string
  /** The expression for the value of another variable. */
  variable(name: string): string
  /** The expression for the contents of a file. */
  contents(path: string): string
}

/** How the shell of the machine's user sets variables. */
export function shellSyntaxFor({ os, env }: Machine): ShellSyntax {
  if (os === 'win32') return powershell
  return /(?:^|\/)fish$/.test(env['SHELL'] ?? '') ? fish : posix
}

/** The line that takes the key from the file or variable that the user named, or from the keyboard. */
export function lineForKey(
  shell: ShellSyntax,
  name: string,
  { keyFile, keyEnv }: Pick<GatewayFlags, 'keyFile' | 'keyEnv'>,
  home: string,
): string {
  if (keyFile === undefined)
    return keyEnv === undefined ? shell.ask(name) : shell.set(name, shell.variable(keyEnv))
  // The shown path has `~` for the home folder, and `~` does not work inside quotes.
  const isBelow = shell !== powershell && keyFile.startsWith(`${home}/`)
  const path = isBelow ? `~/${shell.quoted(keyFile.slice(home.length + 1))}` : shell.quoted(keyFile)
  return shell.set(name, shell.contents(path))
}

const posix: ShellSyntax = {
  quoted: (text) => `'${text.replaceAll("'", "'\\''")}'`,
  set: (name, expression) => `export ${name}=${expression}`,
  unset: (name) => `unset ${name}`,
  ask: (name) => `read -rs ${name} && export ${name}`,
  variable: (name) => `"$${name}"`,
  contents: (path) => `"$(cat ${path})"`,
}

const fish: ShellSyntax = {
  quoted: (text) => `'${text.replace(/[\\']/g, '\\$&')}'`,
  set: (name, expression) => `set -gx ${name} ${expression}`,
  unset: (name) => `set -e ${name}`,
  ask: (name) => `read -s -gx ${name}`,
  variable: (name) => `$${name}`,
  contents: (path) => `(cat ${path})`,
}

const powershell: ShellSyntax = {
  // PowerShell treats each of these characters as a quote. A doubled one is an ordinary character
  // (about_Quoting_Rules, 7.5).
  quoted: (text) => `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`,
  set: (name, expression) => `$env:${name} = ${expression}`,
  unset: (name) => `Remove-Item Env:${name}`,
  ask: (name) =>
    `$env:${name} = [Net.NetworkCredential]::new('', (Read-Host -AsSecureString)).Password`,
  variable: (name) => `$env:${name}`,
  contents: (path) => `(Get-Content ${path})`,
}

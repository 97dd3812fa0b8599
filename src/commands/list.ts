import { clientRows, environmentRows } from '../clients/list.ts'
import type { CommandFactory } from './command-line/command.ts'

/** A command of the command line, before its file is loaded. */
export interface CommandEntry {
  readonly name: string
  /** One line of the help. The description too, if the command has no longer one. */
  readonly summary: string
  /** Only scripts use it; the help leaves it out. */
  readonly isHidden?: boolean
  /** The heading of its group in the help. */
  readonly group: 'Set up' | 'Change' | 'Try' | 'Look' | 'Undo' | 'Shell'
  /** Other names that people use for it. repoint suggests the command, but does not accept these names. */
  readonly alsoCalled?: readonly string[]
  /** On a terminal it begins with questions, so repoint discards what the user types before the first one. */
  readonly asksFirst?: boolean
  readonly load: () => Promise<{ readonly command: CommandFactory }>
}

/** In the order of the help. */
export const commands: readonly CommandEntry[] = [
  ...clientRows.map((row) => ({
    name: row.id,
    summary: row.description,
    group: 'Set up' as const,
    alsoCalled: row.alsoCalled,
    asksFirst: true,
    load: async () => ({ command: (await import('./client.ts')).clientCommand(row) }),
  })),
  ...environmentRows.map((row) => ({
    name: row.id,
    summary: row.description,
    group: 'Set up' as const,
    alsoCalled: row.alsoCalled,
    load: async () => ({
      command: (await import('./environment-client.ts')).environmentClientCommand(row),
    }),
  })),
  {
    name: 'setup',
    summary: 'set up several clients in one run',
    group: 'Set up',
    alsoCalled: ['install', 'config', 'configure', 'init'],
    asksFirst: true,
    load: () => import('./setup.ts'),
  },
  {
    name: 'editor',
    summary: 'what to enter in Cursor, VS Code or Zed',
    group: 'Set up',
    alsoCalled: ['cursor', 'vscode', 'zed'],
    load: () => import('./editor.ts'),
  },
  {
    name: 'use',
    summary: 'point clients at a saved gateway',
    group: 'Change',
    alsoCalled: ['switch'],
    load: () => import('./use.ts'),
  },
  {
    name: 'key',
    summary: 'test a new key and write it to its clients',
    group: 'Change',
    alsoCalled: ['login', 'auth', 'setkey', 'set-key'],
    asksFirst: true,
    load: () => import('./key.ts'),
  },
  {
    name: 'off',
    summary: 'point clients back at their own service',
    group: 'Change',
    alsoCalled: ['disable'],
    load: () => import('./off.ts'),
  },
  {
    name: 'folder',
    summary: 'choose a gateway for this folder',
    group: 'Change',
    load: () => import('./folder.ts'),
  },
  {
    name: 'run',
    summary: 'run a command with a gateway; changes no file',
    group: 'Try',
    load: () => import('./run.ts'),
  },
  {
    name: 'serve',
    summary: 'run a gateway on this machine',
    group: 'Try',
    load: () => import('./serve.ts'),
  },
  {
    name: 'demo',
    summary: 'try it all in a temporary home',
    group: 'Try',
    load: () => import('./demo.ts'),
  },
  {
    name: 'status',
    summary: 'what each client uses now',
    group: 'Look',
    alsoCalled: ['whoami', 'show', 'current'],
    load: () => import('./status.ts'),
  },
  {
    name: 'check',
    summary: 'which clients work with a gateway',
    group: 'Look',
    alsoCalled: ['test', 'verify', 'ping'],
    load: () => import('./check.ts'),
  },
  {
    name: 'doctor',
    summary: 'find problems, and fix them with --fix',
    group: 'Look',
    load: () => import('./doctor.ts'),
  },
  {
    name: 'models',
    summary: 'list the models of a gateway',
    group: 'Look',
    load: () => import('./models.ts'),
  },
  {
    name: 'gateways',
    summary: 'list, add or export saved gateways',
    group: 'Look',
    alsoCalled: ['list', 'ls', 'providers', 'provider'],
    load: () => import('./gateways.ts'),
  },
  {
    name: 'rollback',
    summary: 'undo the newest run',
    group: 'Undo',
    alsoCalled: ['undo', 'restore', 'revert', 'reset', 'uninstall', 'unset'],
    load: () => import('./rollback.ts'),
  },
  {
    name: 'forget',
    summary: 'delete a saved gateway or old runs',
    group: 'Undo',
    alsoCalled: ['remove', 'delete', 'logout'],
    load: () => import('./forget.ts'),
  },
  {
    name: 'completion',
    summary: 'print a shell completion script',
    group: 'Shell',
    load: () => import('./completion.ts'),
  },
  {
    name: 'complete',
    summary: 'print what the shell can complete',
    group: 'Shell',
    isHidden: true,
    load: () => import('./complete.ts'),
  },
]

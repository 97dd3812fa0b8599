import { Command } from '@commander-js/extra-typings'
import type { Origins, Settings } from '../clients/client.ts'
import { familyRows, loadClients } from '../clients/list.ts'
import { compact } from '../compact.ts'
import { plainPath } from '../edits/values.ts'
import { maskSecret } from '../text.ts'
import type { RunRecord } from '../transaction/record.ts'
import { type CommandFile, examples } from './command.ts'
import {
  type ClientState,
  type FileState,
  stateOrFailure,
  type Unreadable,
} from './inventory/client-state.ts'
import { runsSoFar, settleFirst, unreadable } from './inventory/history.ts'
import { wslNotice } from './inventory/wsl.ts'
import type { Session } from './screen/session.ts'

export const command: CommandFile<void> = {
  run: status,
  define: (run) =>
    new Command('status')
      .description('show what each client believes now, and what overrides it')
      .option('--json', 'print one JSON document')
      .addHelpText('after', examples(['repoint status', 'repoint status --json']))
      .action(() => run()),
}

/** What each client believes now, file by file. Reads only, no network. Returns the exit status. */
export async function status(session: Session): Promise<number> {
  let runs: readonly RunRecord[] | undefined
  try {
    settleFirst(session)
    runs = runsSoFar(session)
  } catch (error) {
    const { message, hint } = unreadable(error)
    session.notice({
      code: 'records-unreadable',
      message: `What repoint has written cannot be told. ${message}`,
      ...compact({ hint }),
    })
  }
  const wsl = wslNotice(session.platform)
  if (wsl !== undefined) session.notice(wsl)
  const clients = await loadClients(familyRows)
  const states = clients.map((client) => stateOrFailure(session, client, runs))
  for (const state of states) {
    if ('failure' in state) showFailure(session, state)
    else {
      if (state.settings.key) session.hide(state.settings.key)
      showState(session, state)
    }
  }
  session.showNotices('warning')
  session.document({
    command: 'status',
    clients: states.map(asDocument),
    warnings: session.notices,
  })
  return 0
}

function showFailure(session: Session, { client, failure }: Unreadable): void {
  session.say(`${client.label}: cannot be told`)
  session.say(`  ! ${failure.message}`)
  if (failure.hint !== undefined) session.say(`    ${failure.hint}`)
}

function showState(session: Session, state: ClientState): void {
  const { client, settings, origins, obstacles, files } = state
  const otherwise = settings.broken === undefined ? 'its own service' : 'cannot be told'
  session.say(`${client.label}: ${settings.baseUrl ?? otherwise}${from(session, origins.baseUrl)}`)
  for (const [name, value] of configured(session, settings, origins))
    session.say(`  ${name.padEnd(9)} ${value}`)
  for (const file of files) session.say(`  ${session.showPath(file.path)}  ${describeFile(file)}`)
  for (const { message, place, cure } of obstacles) {
    session.say(`  ! ${message} (${session.showPath(place)})`)
    session.say(`    ${cure}`)
  }
}

function from(session: Session, path: string | undefined): string {
  return path === undefined ? '' : ` in ${session.showPath(path)}`
}

function configured(session: Session, settings: Settings, origins: Origins): [string, string][] {
  const { slotModels = {} } = settings
  const rows: [string, string | undefined][] = [
    ['model', settings.model && settings.model + from(session, origins.model)],
    ['small', settings.smallModel && settings.smallModel + from(session, origins.smallModel)],
    ...Object.entries(slotModels),
    ['subagent', settings.subagentModel],
    ['provider', settings.providerId],
    [
      'key',
      settings.key &&
        `${maskSecret(settings.key)}${settings.keyPath ? ` in ${session.showPath(settings.keyPath)}` : ''}`,
    ],
    [
      'key also',
      settings.alsoSendsTo && `to ${settings.alsoSendsTo}, from conversations of before`,
    ],
    ['login', settings.login],
    ['broken', settings.broken],
  ]
  return rows.filter((row): row is [string, string] => row[1] !== undefined)
}

const stateWords: Readonly<Record<FileState['state'], string>> = {
  absent: 'does not exist',
  'as-written': 'as repoint wrote it',
  restored: 'as repoint restored it',
  'changed-since': 'changed since repoint wrote it',
  'not-ours': 'not written by repoint',
  unknown: 'whether repoint wrote it cannot be told',
}

function describeFile({ state, run, changedKeys }: FileState): string {
  const which = run === undefined ? '' : ` (run ${run})`
  const keys = changedKeys.map(plainPath).join(', ')
  return `${stateWords[state]}${which}${keys && `; of our keys changed: ${keys}`}`
}

function asDocument(state: ClientState | Unreadable) {
  if ('failure' in state) {
    const { client, failure } = state
    const { code, message, hint } = failure
    return { id: client.family, label: client.label, error: { code, message, hint } }
  }
  const { client, settings, origins, obstacles, files } = state
  const { key, ...rest } = settings
  return {
    id: client.family,
    label: client.label,
    ...rest,
    origins,
    key: key === undefined ? null : maskSecret(key),
    files: files.map((file) => ({
      ...file,
      changedKeys: file.changedKeys.map(plainPath),
    })),
    obstacles: obstacles.map(({ code, message, place, cure, weight }) => ({
      code,
      message,
      place,
      cure,
      weight,
    })),
  }
}

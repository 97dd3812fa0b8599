import { dirname, join } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff'
import type { Client } from '../clients/contract/client.ts'
import type { LoadedFiles } from '../clients/contract/files.ts'
import { demoFiles } from '../clients/demo-files.ts'
import { loadClients, rowOf } from '../clients/list.ts'
import { type Bytes, sameBytes } from '../edits/types.ts'
import { UserError } from '../errors.ts'
import type { Files, Machine, Platform } from '../platform/platform.ts'
import { type Gateway, startGateway } from '../serve/index.ts'
import { maskSecret, maskSecretsIn, printable, secretMask } from '../text.ts'
import {
  createDurably,
  createFolders,
  ignoreFileErrors,
  missingFolders,
  randomName,
  wrapFileErrors,
} from '../transaction/files.ts'
import { readClientFiles } from './client-state/client-files.ts'
import { isInstalled } from './client-state/program/installed-program.ts'
import { removeFolder } from './client-state/program/temp-folder.ts'
import { commandOf, examples } from './command-line/command.ts'
import { tryClients } from './prove/ask-client.ts'
import { rollback } from './rollback.ts'
import { Session } from './screen/session.ts'
import { setUpClients } from './setup/set-up-clients.ts'
import { reportTries } from './setup/try.ts'

function define() {
  return new Command('demo')
    .description('set up every client in a temporary home, with a local gateway, and undo it')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples(['repoint demo']))
}

/**
 * Shows all of repoint in a throwaway home with the local gateway: setup, diff, proof, a second run,
 * rollback and a comparison of the bytes. One client is shown in full, each other one in one line. The
 * demo neither reads nor writes the user's files.
 */
export const command = commandOf(define, async (session) => {
  const clients = (await loadClients()).filter(({ id }) => demoFiles[id] !== undefined)
  const [first, ...others] = clients as [Client, ...Client[]]
  const { files, machine } = session.platform
  const home = pathForHome(machine)
  const gateway = await startGateway({ port: 0, families: 'rewritten' })
  try {
    wrapFileErrors(machine, home, () => makeThrowawayHome(files, home, clients))
    session.say(`A local gateway listens at ${gateway.url}. The temporary home is ${home}.`)
    const inside = sessionIn(session, { home, gateway, isQuiet: session.isJson })
    const quiet = sessionIn(session, { home, gateway, isQuiet: true })
    const before = allFiles(inside, clients)

    heading(session, `Set up ${first.label}`)
    await setUp(inside, [first])

    heading(session, 'What changed')
    for (const [path, bytes] of allFiles(inside, [first])) {
      const old = before.get(path) ?? null
      for (const line of unifiedDiff(inside.showPath(path), old, bytes, gateway)) session.say(line)
    }

    await tryIfInstalled(session, inside, first)

    heading(session, 'Set up the other clients in one run')
    await setUp(quiet, others)
    const rows = others.map((client) => {
      const paths = editableFiles(inside, client).map(({ path }) => inside.showPath(path))
      return [client.label, paths.join(', ')]
    })
    session.sayTable(['CLIENT', 'FILES'], rows)
    const after = allFiles(inside, clients)

    heading(session, 'A second run changes nothing')
    await setUp(inside, [first])
    await setUp(quiet, others)
    expectSame(after, allFiles(inside, clients), 'the second run')

    heading(session, `repoint rollback ${first.id}`)
    await rollback(inside, first.id, { yes: true })
    await rollback(quiet, undefined, { yes: true })
    expectSame(before, allFiles(inside, clients), 'the rollback')
    session.say('')
    session.say(
      'repoint undid the other setups too. Every file is the same as before, byte for byte.',
    )
    session.document({
      command: 'demo',
      changed: false,
      clients: clients.map(({ id }) => id),
      files: [...after.keys()].map((path) => inside.showPath(path)),
      isByteIdentical: true,
    })
    return 0
  } finally {
    await gateway.close()
    ignoreFileErrors(() => removeFolder(files, home))
  }
})

/** A path in the temporary folder. */
function pathForHome({ env, os, home }: Machine): string {
  const parent = env['TMPDIR'] ?? env['TEMP'] ?? (os === 'win32' ? home : '/tmp')
  return join(parent, `repoint-demo-${randomName()}`)
}

/** Makes a home of mode 0700 with the example files of the clients. */
function makeThrowawayHome(files: Files, home: string, clients: readonly Client[]): void {
  files.mkdir(home, 0o700)

  const examples = clients.flatMap(({ id }) => Object.entries(demoFiles[id] ?? {}))
  for (const [name, text] of examples) {
    const path = join(home, name)
    createFolders(files, missingFolders(files, dirname(path)))
    createDurably(files, path, new TextEncoder().encode(text), { mode: 0o644 })
  }
}

/** A session of repoint in the temporary home. */
function sessionIn(
  session: Session,
  {
    home,
    gateway: { url, key },
    isQuiet,
  }: { readonly home: string; readonly gateway: Gateway; readonly isQuiet: boolean },
): Session {
  const { platform } = session
  const { env, os } = platform.machine
  const inside: Platform = {
    ...platform,
    terminal: {
      ...platform.terminal,
      canAsk: false,
      // With `--json`, the demo prints only its own document.
      ...(isQuiet ? { out: () => {}, err: () => {} } : {}),
    },
    // The setups start no clients, so that the demo works the same whichever are installed. No running client reads
    // its files.
    processes: {
      ...platform.processes,
      which: (command) => (command === 'pgrep' ? command : undefined),
      run: async () => ({ exitStatus: 1, reason: 'exited', stdout: '', stderr: '' }),
    },
    machine: {
      os,
      home,
      cwd: home,
      env: {
        PATH: env['PATH'],
        LANG: env['LANG'],
        TERM: env['TERM'],
        HOME: home,
        // On Windows, the state folder and the clients' homes come from these variables.
        USERPROFILE: home,
        LOCALAPPDATA: `${home}/AppData/Local`,
        REPOINT_BASE_URL: url,
        REPOINT_API_KEY: key,
      },
    },
  }

  return new Session(inside, { isJson: false })
}

/** The installed client answers one word in the temporary home, through the local gateway: it costs nothing. */
async function tryIfInstalled(session: Session, inside: Session, client: Client): Promise<void> {
  if (session.isJson || !isInstalled(session, client)) return
  heading(session, `${client.label} is installed, so it answers one word`)
  const { processes } = session.platform
  const there = new Session({ ...inside.platform, processes }, { isJson: false })
  reportTries(there, await tryClients(there, [client]))
}

async function setUp(inside: Session, clients: readonly Client[]): Promise<void> {
  const clientIds = clients.map(({ id }) => id)
  const flags = clientIds.flatMap((id) => rowOf(id).flags.map(({ flag }) => flag.split(' ')[0]!))
  inside.typed = { args: clientIds, flags, startsProgram: false }
  await setUpClients(inside, {
    command: clients.length === 1 ? clients[0]!.id : 'setup',
    clientIds,
    flags: { timeout: 10, verify: true, yes: true },
  })
}

function editableFiles(inside: Session, client: Client): LoadedFiles {
  return readClientFiles(inside, client).filter(({ use }) => use === 'editable')
}

function allFiles(inside: Session, clients: readonly Client[]): Map<string, Bytes | null> {
  const files = clients.flatMap((client) => editableFiles(inside, client))
  return new Map(files.map(({ path, bytes }) => [path, bytes]))
}

function expectSame(
  expected: ReadonlyMap<string, Bytes | null>,
  actual: ReadonlyMap<string, Bytes | null>,
  step: string,
): void {
  for (const path of new Set([...expected.keys(), ...actual.keys()])) {
    if (sameBytes(expected.get(path) ?? null, actual.get(path) ?? null)) continue
    throw new UserError({
      code: 'internal',
      message: `${path} has the wrong content after ${step}`,
    })
  }
}

function heading(session: Session, text: string): void {
  session.say('')
  session.say(`== ${text}`)
}

/** The differences between the old and the new file, line by line, without escape characters and secrets. */
export function unifiedDiff(
  label: string,
  before: Bytes | null,
  after: Bytes | null,
  { key }: Pick<Gateway, 'key'>,
): string[] {
  const [old, fresh] = [before, after].map((bytes) =>
    new TextDecoder().decode(bytes ?? new Uint8Array()),
  ) as [string, string]
  const [from, to] = [before, after].map((bytes) => (bytes ? label : '/dev/null')) as [
    string,
    string,
  ]
  const patch = structuredPatch(from, to, old, fresh, undefined, undefined, { context: 3 })
  if (patch.hunks.length === 0) return []

  const lines = formatPatch(patch, FILE_HEADERS_ONLY).replace(/\n$/, '').split('\n')
  return lines.map((line) => line.charAt(0) + printable(masked(line.slice(1), key)))
}

/** Masks the key, and whatever looks like another secret: a diff shows lines that repoint did not write. */
function masked(line: string, key: string): string {
  const withoutKey = line.replaceAll(key, maskSecret(key))
  return maskSecretsIn(withoutKey.replace(secretMember, `$<name>$<quote>${secretMask}$<quote>`))
}

const secretMember =
  /(?<name>\b[\w-]*(?:key|token|secret|password|authorization|credential)s?["']?\s*[:=]\s*)(?<quote>["'])(?!\.{4})(?:\\.|(?!\k<quote>).)+\k<quote>/gi

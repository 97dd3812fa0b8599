import { Command } from '@commander-js/extra-typings'
import type { Client } from '../clients/client.ts'
import { loadClients } from '../clients/list.ts'
import { unifiedDiff } from '../edits/describe.ts'
import { type Bytes, sameBytes } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import type { Platform } from '../platform/platform.ts'
import { startGateway } from '../serve/index.ts'
import { type CommandFile, examples } from './command.ts'
import { makeThrowawayHome } from './demo/throwaway-home.ts'
import { readClientFiles } from './inventory/client-files.ts'
import { removeFolder } from './inventory/own-folder.ts'
import { rollback } from './rollback.ts'
import { Session } from './screen/session.ts'
import { setup } from './setup.ts'

export const command: CommandFile<void> = {
  run: demo,
  define: (run) =>
    new Command('demo')
      .description(
        'show all of it in a throwaway home against the local gateway, touching nothing of yours',
      )
      .option('--json', 'print one JSON document')
      .addHelpText('after', examples(['repoint demo']))
      .action(() => run()),
}

/**
 * All of repoint in a throwaway home against the local gateway: setup, diff, proof, a second run,
 * rollback, a byte comparison. Nothing of the user's is read or written.
 */
async function demo(session: Session): Promise<number> {
  const clients = (await loadClients()).filter(({ demoFiles }) => demoFiles !== undefined)
  const gateway = await startGateway({ port: 0 })
  const home = makeThrowawayHome(session.platform, clients)
  try {
    session.say(`A local gateway listens at ${gateway.url}; a throwaway home is ${home}.`)
    const inside = sessionIn(session, home, { url: gateway.url, key: gateway.key })
    const before = allFiles(inside, clients)

    heading(session, `Set up ${inWords(clients.map(({ label }) => label))} in one run`)
    await setUpAll(inside, clients)

    heading(session, 'What changed')
    const after = allFiles(inside, clients)
    for (const [path, bytes] of after)
      for (const line of unifiedDiff(
        before.get(path) ?? null,
        bytes,
        [gateway.key],
        inside.showPath(path),
      ))
        session.say(line)

    heading(session, 'A second run changes nothing')
    await setUpAll(inside, clients)
    expectSame(after, allFiles(inside, clients), 'the second run')

    heading(session, 'repoint rollback')
    await rollback(inside, {
      list: false,
      original: false,
      redo: false,
      force: false,
      isDryRun: false,
      yes: true,
    })
    expectSame(before, allFiles(inside, clients), 'the rollback')
    session.say('')
    session.say('Compared: after the rollback every file is what it was, to the byte.')
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
    removeFolder(session.platform.files, home)
  }
}

function sessionIn(session: Session, home: string, gateway: { url: string; key: string }): Session {
  const { platform } = session
  const { env, os } = platform.machine
  const inside: Platform = {
    ...platform,
    interrupt: platform.interrupt,
    terminal: {
      ...platform.terminal,
      canAsk: false,
      // One document, and it is the demo's own.
      ...(session.isJson ? { out: () => {}, err: () => {} } : {}),
    },
    machine: {
      os,
      home,
      cwd: home,
      env: {
        PATH: env['PATH'],
        LANG: env['LANG'],
        TERM: env['TERM'],
        // Windows takes the state folder and the clients' homes from these.
        USERPROFILE: home,
        LOCALAPPDATA: `${home}/AppData/Local`,
        REPOINT_BASE_URL: gateway.url,
        REPOINT_API_KEY: gateway.key,
      },
    },
  }
  return new Session(inside, { isJson: false })
}

async function setUpAll(inside: Session, clients: readonly Client[]): Promise<void> {
  await setup(inside, {
    command: 'setup',
    clients: clients.map(({ id }) => id),
    gateway: { timeout: 10 },
    options: {},
    isDryRun: false,
    yes: true,
    verify: true,
    defaults: false,
    tryClient: false,
  })
}

function allFiles(inside: Session, clients: readonly Client[]): Map<string, Bytes | null> {
  const targets = clients.flatMap((client) => readClientFiles(inside, client))
  return new Map(
    targets.filter(({ use }) => use === 'target').map(({ path, bytes }) => [path, bytes]),
  )
}

function expectSame(
  wanted: ReadonlyMap<string, Bytes | null>,
  found: ReadonlyMap<string, Bytes | null>,
  after: string,
): void {
  for (const path of new Set([...wanted.keys(), ...found.keys()])) {
    const a = wanted.get(path) ?? null
    const b = found.get(path) ?? null
    if (!sameBytes(a, b))
      throw new UserError({
        code: 'internal',
        message: `${path} is not what it should be after ${after}`,
      })
  }
}

function inWords(labels: readonly string[]): string {
  return `${labels.slice(0, -1).join(', ')} and ${labels.at(-1)}`
}

function heading(session: Session, text: string): void {
  session.say('')
  session.say(`== ${text}`)
}

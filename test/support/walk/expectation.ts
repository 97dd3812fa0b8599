import { expect } from 'vitest'
import {
  type Connection,
  clientOfFile,
  clients,
  connectionsOf,
  type Files,
  filesOf,
  isReadable,
  leavesOf,
  textIn,
} from './client-files.ts'
import { canaries, gateways, type Machine, type Result } from './machine.ts'

/** The files of one client in one change by repoint. */
interface Part {
  readonly run: string
  readonly client: string
  readonly before: Files
  readonly after: Files
  /** The later of two parts is undone first. A redo gives its parts a new position. */
  position: number
  /** `held`: an undo kept something of it. */
  state: 'active' | 'held' | 'undone'
  /** Someone wrote between its kill and its recovery, so that `after` is not only its work. */
  readonly isMixed: boolean
}

/** One undo or redo, with the files of all clients before and after it. */
interface Undo {
  readonly run: string
  readonly parts: readonly Part[]
  readonly before: Files
  readonly after: Files
  readonly position: number
  readonly redone: Set<string>
  /** As of a part. */
  readonly isMixed: boolean
}

/** What a command was asked to undo. */
export interface Undoing {
  readonly what: 'newest' | 'run' | 'original' | 'redo'
  readonly client: string | undefined
  readonly isForced: boolean
  /** For `run`. */
  readonly run?: string
}

/**
 * What a user expects of repoint, derived only from what commands print and from the files before and after
 * them.
 *
 * Changes are a stack for each client. An undo gives each value that a change wrote, and that nobody changed since,
 * its earlier value. Values of others stay. If nobody else wrote a client's files, they become exactly what they
 * were.
 */
export class Expectation {
  readonly #machine: Machine
  #parts: Part[] = []
  #undos: Undo[] = []
  #position = 0
  /** The files when the records began. */
  #base: Files
  /** Keys that repoint knows, from its records and its saved gateways. */
  #knownKeys = new Set<string>()
  /** The connections that others made, which a command may leave or restore. */
  readonly #connectionsOfOthers = new Set<string>()
  /** Every file that may exist. */
  readonly #names = new Set<string>()
  /** The files whose permissions someone else changed. */
  readonly #chmodded = new Set<string>()
  /** The content of each file before the first change by repoint. */
  #firstCopies = new Map<string, string | undefined>()

  constructor(machine: Machine) {
    this.#machine = machine
    this.#base = machine.files()
    this.othersWrote()
  }

  /** The runs that `rollback --run` accepts, newest first. */
  activeRuns(client: string | undefined): readonly string[] {
    return [...new Set(this.#newestFirst(client).map(({ run }) => run))]
  }

  /** Whether a client's files are as repoint left them, or as they were at the start. */
  isUntouched(client: string): boolean {
    const now = filesOf(client, this.#machine.files())
    return this.#chain(client, now) !== undefined
  }

  /** Someone else wrote files. */
  othersWrote(...chmodded: readonly string[]): void {
    const files = this.#machine.files()
    for (const name of chmodded) this.#chmodded.add(name)
    for (const name of Object.keys(files)) this.#allowName(name)
    for (const client of clients)
      for (const connection of connectionsOf(client, files))
        this.#connectionsOfOthers.add(keyOf(client, connection))
  }

  knows(key: string): void {
    this.#knownKeys.add(key)
  }

  /** What is true after every command. */
  checkFiles(what: string): void {
    const files = this.#machine.files()
    for (const client of clients)
      for (const connection of connectionsOf(client, files)) {
        const isFromOthers = this.#connectionsOfOthers.has(keyOf(client, connection))
        if (!isFromOthers && isMixed(connection))
          throw new Error(`${what}: ${client} mixes two gateways: ${JSON.stringify(connection)}`)
      }

    for (const [name, entry] of Object.entries(files)) {
      if (!this.#names.has(name)) throw new Error(`${what}: nobody expects ${name}`)
      const [kind, mode = ''] = entry.split(' ')
      if (kind !== 'file' || this.#chmodded.has(name)) continue
      if (canariesIn(files, name).length > 0)
        expect(Number.parseInt(mode, 8) & 0o077, `${what}: others can read ${name}`).toBe(0)
    }

    const state = this.#machine.home.everything().filter((name) => name.includes('state/repoint/'))
    const unfinished = state.filter((name) => /\/(draft\.json|journal\.json|lock)$/.test(name))
    expect(unfinished, what).toEqual([])
  }

  /** What is true while a killed command has only switched some files. */
  checkTornFiles(what: string): void {
    const files = this.#machine.files()
    for (const client of clients)
      for (const connection of connectionsOf(client, files)) {
        if (this.#connectionsOfOthers.has(keyOf(client, connection))) continue
        const { address = '', credential } = connection
        if (credential === undefined || canaries.includes(credential)) continue
        const isAtGateway = gateways.some(({ url }) => address.startsWith(url))
        expect(isAtGateway, `${what}: ${client} sends ${credential} to ${address}`).toBe(false)
      }
  }

  /** A command that changes clients, such as a setup or `off`. */
  changed(before: Files, result: Result): void {
    const { json } = result
    const after = this.#machine.files()
    const what = result.args.join(' ')
    // Even with an error status, `doctor --fix` may have fixed something.
    if (json.changed !== true) expect(after, `${what}: ${JSON.stringify(json)}`).toEqual(before)
    else this.recordChange(json.run ?? undefined, before, after, pathsOf(json))
  }

  recordChange(
    run: string | undefined,
    before: Files,
    after: Files,
    paths: readonly string[],
    isMixed = false,
  ): void {
    for (const path of paths) this.#allowName(this.#nameOf(path))
    if (run === undefined) return

    this.#position++
    const ids = paths.map((path) => clientOfFile(this.#nameOf(path)))
    for (const client of clients) {
      const files = { before: filesOf(client, before), after: filesOf(client, after) }
      if (isSame(files.before, files.after)) continue
      // Between a kill and its recovery, someone wrote files of other clients.
      if (isMixed && !ids.includes(client)) continue
      const position = this.#position
      this.#parts.push({ run, client, ...files, position, state: 'active', isMixed })
      for (const name of changedNames(files.before, files.after))
        if (!this.#firstCopies.has(name)) this.#firstCopies.set(name, files.before[name])
    }
  }

  /** `off` of these clients. Absent: all. */
  checkOff(result: Result, ids: readonly string[]): void {
    const { status, json } = result
    if (status !== 0) return
    const left = json.warnings.filter(({ code }: { code: string }) => code === 'client-left-out')
    if (left.length > 0) return

    const files = this.#machine.files()
    for (const client of ids.length === 0 ? clients : ids) {
      for (const name of Object.keys(filesOf(client, files)))
        for (const key of canariesIn(files, name))
          expect(this.#knownKeys.has(key), `off ${client} leaves a key in ${name}`).toBe(false)
      for (const { isActive, address = '' } of connectionsOf(client, files)) {
        const isMoved = isActive && /one\.example|two\.example|hand\.example|packy/.test(address)
        expect(isMoved, `off ${client} leaves ${address}`).toBe(false)
      }
    }
  }

  forgotAll(): void {
    this.#parts = []
    this.#undos = []
    this.#firstCopies = new Map()
    this.#knownKeys = new Set()
    this.#base = this.#machine.files()
  }

  /** The part that a plain rollback should undo: the newest one that still differs from what was before. */
  #newestFirst(client?: string): Part[] {
    return this.#parts
      .filter((part) => part.state === 'active' && (client ?? part.client) === part.client)
      .sort((a, b) => b.position - a.position)
  }

  rolledBack(undoing: Undoing, before: Files, result: Result): void {
    const after = this.#machine.files()
    const { status, json } = result
    const what = `${result.args.join(' ')}: ${JSON.stringify(json)}\n`
    expect([0, 8, 10], what).toContain(status)
    if (status === 8) expect(after, what).toEqual(before)
    else if (json.changed !== true)
      expect(withoutFolders(after), what).toEqual(withoutFolders(before))
    if (status === 8) return

    const heldClients = this.#heldClients(json)
    expect(status, `${what}: status`).toBe(heldClients.length > 0 ? 10 : 0)
    // An earlier undo held something back: it is named again, and nothing is undone.
    const isHeldBefore = json.undoes === null && heldClients.length > 0
    if (isHeldBefore) expect(after, what).toEqual(before)
    else if (json.undoes === null) this.#checkNothing(undoing, before, what)
    else if (undoing.what === 'redo') this.#checkRedo(undoing, before, after, result, what)
    else this.#checkUndo(undoing, before, after, result, what)
  }

  #checkUndo(undoing: Undoing, before: Files, after: Files, { json }: Result, what: string): void {
    const { client, isForced } = undoing
    // Each file gets its first copy, whatever others wrote between two changes: see `checkFirstCopies`.
    const isToFirstCopies = isForced && undoing.what === 'original'
    const run: string = json.undoes
    const held = this.#heldClients(json)
    const selected = this.#parts.filter(
      (part) => (client ?? part.client) === part.client && part.state !== 'undone',
    )
    // Of a run that was undone for one of its clients, the newest undo is about the others.
    const involved = pathsOf(json).map((path) => clientOfFile(this.#nameOf(path)))
    const isNamed = (part: Part) =>
      part.run === run && (undoing.what !== 'newest' || involved.includes(part.client))
    const left = selected.filter(isNamed)
    // `--force` directly after an undo also restores the files in which that kept what the client needs.
    const ofRun = left.length > 0 || !isForced ? left : this.#parts.filter(isNamed)
    // A redo of one client places its part after those of the others.
    const newest = Math.max(...ofRun.map(({ position }) => position))
    const named = ofRun.filter(({ position }) => undoing.what !== 'newest' || position === newest)
    const isFinishing = named.every(({ state }) => state !== 'active')
    if (!isToFirstCopies)
      expect(named.length, `${what}: ${run} is undone already`).toBeGreaterThan(0)

    const parts = this.#partsToUndo(undoing, named, selected, before, what)
    const byClient = new Map<string, Part[]>()
    for (const part of parts.toSorted((a, b) => b.position - a.position))
      byClient.set(part.client, [...(byClient.get(part.client) ?? []), part])

    for (const [id, ofClient] of byClient) {
      const isHeld = held.includes(id)
      const oldest = ofClient.at(-1)!
      const files = { before: filesOf(id, before), after: filesOf(id, after) }
      const context = `${what}: ${id}`
      if (isToFirstCopies) {
        expect(isHeld, `${context} is held, though forced`).toBe(false)
      } else if (this.#isChain(ofClient, files.before)) {
        if (isSafeToRestore(id, oldest))
          expect(isHeld, `${context} is held, though nobody else wrote it`).toBe(false)
        if (!isHeld) expect(files.after, context).toEqual(oldest.before)
      } else if (isForced) {
        if (!isFinishing) this.#expectRestored(ofClient, files.after, context)
      } else if (ofClient.length === 1 && !oldest.isMixed)
        expectUndone(oldest, files, isHeld, context, json)
      for (const part of ofClient) part.state = isHeld ? 'held' : 'undone'
    }
    this.#recordUndo(json.run, parts, before, after)
    if (undoing.what === 'original' && held.length === 0)
      for (const part of selected) part.state = 'undone'
  }

  /** The parts that an undo takes back, and a check that it is the right run. */
  #partsToUndo(
    { what: kind }: Undoing,
    named: readonly Part[],
    selected: readonly Part[],
    before: Files,
    what: string,
  ): readonly Part[] {
    if (kind === 'original') return selected
    const clientsOfRun = named.map((part) => part.client)
    const position = Math.max(...named.map((part) => part.position))
    const newer = selected.filter((part) => part.position > position)
    if (kind === 'run')
      return [...newer.filter((part) => clientsOfRun.includes(part.client)), ...named]

    if (named.every(({ state }) => state !== 'active')) return named
    const skipped = newer.filter(({ state }) => state === 'active')
    for (const part of skipped.filter(({ isMixed }) => !isMixed))
      expect(isStillOurs(part, before), `${what}: skips ${part.run} of ${part.client}`).toBe(false)
    return [...named, ...skipped]
  }

  #checkRedo(undoing: Undoing, before: Files, after: Files, { json }: Result, what: string): void {
    const undo = this.#undos.find(({ run }) => run === json.undoes)
    expect(undo, `${what}: no such undo`).toBeDefined()
    const held = this.#heldClients(json)
    const redone = this.#redoable(undo!, undoing.client)
    if (!undo!.isMixed)
      for (const client of redone) {
        const files = { before: filesOf(client, before), after: filesOf(client, after) }
        const part = { before: filesOf(client, undo!.before), after: filesOf(client, undo!.after) }
        const context = `${what}: ${client}`
        if (isSame(files.before, part.after)) {
          if (!held.includes(client))
            expect(withoutFolders(files.after), context).toEqual(withoutFolders(part.before))
        } else if (!undoing.isForced)
          expectUndone(part, files, held.includes(client), context, json)
      }
    this.#redo(undo!, redone)
  }

  /** Makes the parts of these clients the newest ones, in the order that they had. */
  #redo({ parts, redone }: Undo, ids: readonly (string | undefined)[]): void {
    let earlier: number | undefined
    const oldestFirst = parts.toSorted((a, b) => a.position - b.position)
    for (const part of oldestFirst.filter(({ client }) => ids.includes(client))) {
      if (part.position !== earlier) this.#position++
      earlier = part.position
      part.position = this.#position
      part.state = 'active'
      redone.add(part.client)
    }
  }

  /** The clients for which an undo can be redone: no later change wrote their files. */
  #redoable(undo: Undo, client: string | undefined): readonly string[] {
    const ids = [...new Set(undo.parts.map((part) => part.client))]
    return ids.filter((id) => {
      // IDs begin with the time of their run.
      const isOverwritten = this.#parts.some((part) => part.client === id && part.run > undo.run)
      return (client ?? id) === id && !undo.redone.has(id) && !isOverwritten
    })
  }

  #checkNothing(undoing: Undoing, before: Files, what: string): void {
    const { client } = undoing
    if (undoing.what === 'redo') {
      for (const undo of this.#undos)
        for (const id of this.#redoable(undo, client)) {
          const isEmpty = isSame(filesOf(id, undo.before), filesOf(id, undo.after))
          expect(isEmpty, `${what}: ${id} can be redone: ${undo.run}`).toBe(true)
        }
      return
    }
    for (const part of this.#parts)
      if ((client ?? part.client) === part.client && part.state !== 'undone' && !part.isMixed) {
        // A held value is undone once it is as before the first change, for example by a forced undo of an older run.
        const originals = part.state === 'held' ? this.#originalsOf(part.client) : undefined
        expect(
          isStillOurs(part, before, originals),
          `${what}: nothing, but ${part.run} of ${part.client}`,
        ).toBe(false)
      }
    if (undoing.what === 'original')
      for (const part of this.#parts)
        if ((client ?? part.client) === part.client) part.state = 'undone'
    this.checkNothingLeft(client, what)
  }

  /** After everything is undone, no file of these clients has a key of ours, and none is at our gateways. */
  checkNothingLeft(client: string | undefined, what: string): void {
    const files = this.#machine.files()
    for (const name of Object.keys(files)) {
      const id = clientOfFile(name)
      if (id === undefined || (client ?? id) !== id) continue
      const known = canariesIn(this.#base, name)
      const left = canariesIn(files, name).filter((key) => !known.includes(key))
      expect(left, `${what}: ${name} has a key`).toEqual([])
    }
    for (const id of clients.filter((one) => (client ?? one) === one)) {
      const atGateway = (of: Files) =>
        connectionsOf(id, of).filter(
          ({ isActive, address = '' }) =>
            isActive && gateways.some(({ url }) => address.startsWith(url)),
        )
      if (atGateway(this.#base).length === 0)
        expect(atGateway(files), `${what}: ${id} is at a gateway`).toEqual([])
    }
  }

  /** After `rollback --original --force`, every file is as it was before the first change. */
  checkFirstCopies(client: string | undefined, what: string): void {
    const files = this.#machine.files()
    for (const [name, entry] of this.#firstCopies) {
      const id = clientOfFile(name)!
      const isFolder = [entry, files[name]].some((one) => one?.startsWith('folder'))
      if ((client ?? id) !== id || isFolder) continue
      const isExact = !this.#chmodded.has(name)
      const shape = (text: string | undefined) => (isExact ? text : text?.split(' ').at(-1))
      expect(shape(files[name]), `${what}: ${name} is not the first copy`).toBe(shape(entry))
    }
  }

  /** The files of a client before the first change by repoint. */
  #originalsOf(client: string): Files {
    const copies = [...this.#firstCopies].flatMap(([name, entry]) =>
      entry === undefined ? [] : [[name, entry]],
    )
    return filesOf(client, Object.fromEntries(copies))
  }

  #recordUndo(
    run: string | null,
    parts: readonly Part[],
    before: Files,
    after: Files,
    isMixed = false,
  ): void {
    this.#position++
    if (run === null) return
    const position = this.#position
    this.#undos.unshift({ run, parts, before, after, position, redone: new Set(), isMixed })
  }

  /** Records an undo or redo that a killed command had committed, maybe for some of its clients only. */
  recordKilledUndo(
    {
      kind,
      run,
      undoes,
      files,
    }: {
      readonly kind: string
      readonly run: string
      readonly undoes: readonly string[]
      readonly files: readonly string[]
    },
    before: Files,
    isMixed: boolean,
  ): void {
    const after = this.#machine.files()
    const ids = files.map((path) => clientOfFile(this.#nameOf(path)))
    if (kind === 'undo') {
      const parts = this.#parts.filter(
        (part) => undoes.includes(part.run) && ids.includes(part.client),
      )
      // Nobody read whether it held something back, which it may if others wrote the client's files.
      for (const part of parts) {
        const ofClient = parts.filter(({ client }) => client === part.client)
        const newestFirst = ofClient.toSorted((a, b) => b.position - a.position)
        const isPlain =
          this.#isChain(newestFirst, filesOf(part.client, before)) &&
          isSafeToRestore(part.client, newestFirst.at(-1)!)
        part.state = isPlain ? 'undone' : 'held'
      }
      this.#recordUndo(run, parts, before, after, isMixed)
      return
    }
    for (const undo of this.#undos.filter((one) => undoes.includes(one.run))) this.#redo(undo, ids)
  }

  /** Whether nobody else wrote the client's files from the first of these parts to now. Newest first. */
  #isChain(parts: readonly Part[], now: Files): boolean {
    let current = now
    for (const part of parts) {
      if (part.isMixed || !isSame(part.after, current)) return false
      current = part.before
    }
    return true
  }

  #chain(client: string, now: Files): readonly Part[] | undefined {
    const parts = this.#newestFirst(client)
    return this.#isChain(parts, now) ? parts : undefined
  }

  #expectRestored(parts: readonly Part[], after: Files, what: string): void {
    const oldest = parts.at(-1)!
    const names = changedNames(withoutFolders(oldest.before), withoutFolders(oldest.after))
    for (const name of names)
      if (!this.#chmodded.has(name))
        expect(contentOf(after[name]), `${what}: ${name}`).toBe(contentOf(oldest.before[name]))
  }

  // biome-ignore lint/suspicious/noExplicitAny: a printed document
  #heldClients({ heldBack = [] }: any): readonly string[] {
    const names = heldBack.map(({ path }: { path: string }) => this.#nameOf(path))
    return [...new Set<string>(names.flatMap((name: string) => clientOfFile(name) ?? []))]
  }

  #nameOf(path: string): string {
    return path.replace(/^~/, this.#machine.home.path).slice(this.#machine.home.path.length + 1)
  }

  #allowName(name: string): void {
    const parts = name.split('/')
    for (let length = 1; length <= parts.length; length++)
      this.#names.add(parts.slice(0, length).join('/'))
  }
}

function keyOf(client: string, { address, credential }: Connection): string {
  return JSON.stringify([client, address, credential])
}

/** A key of a gateway is sent to this gateway, and nothing else is sent there. */
function isMixed({ address = '', credential }: Connection): boolean {
  if (credential === undefined) return false
  const gateway = gateways.find(({ url }) => address.startsWith(url))
  const owner = gateways.find(({ keys }) => (keys as readonly string[]).includes(credential))
  return owner !== gateway
}

/**
 * A login that someone wrote at our gateway's address is not sent there again, nor is one that the files do not show,
 * after someone deleted the key.
 */
function isSafeToRestore(client: string, { before }: Pick<Part, 'before'>): boolean {
  const connections = connectionsOf(client, before)
  const atGateway = connections.filter(
    ({ isActive, address = '' }) => isActive && gateways.some(({ url }) => address.startsWith(url)),
  )
  const isKeyGone =
    atGateway.length > 0 && atGateway.every(({ credential }) => credential === undefined)
  return !isKeyGone && connections.every((connection) => !isMixed(connection))
}

/** Only the files: an empty folder may come or go with an undo. */
export function withoutFolders(files: Files): Files {
  return Object.fromEntries(Object.entries(files).filter(([, what]) => !what.startsWith('folder')))
}

/** One value before a change, as the change wrote it, as an undo found it, and after the undo. */
interface Value {
  readonly name: string
  readonly path: string
  readonly earlier: string | undefined
  readonly written: string | undefined
  readonly now: string | undefined
  readonly result: string | undefined
}

function* valuesOf(
  part: Pick<Part, 'before' | 'after'>,
  now: Files,
  result: Files = now,
): Generator<Value> {
  const names = new Set([part.before, part.after, now, result].flatMap(Object.keys))
  for (const name of names) {
    const versions = [part.before, part.after, now, result].map((files) => leavesOf(files, name))
    if (versions.includes(undefined)) continue
    const paths = new Set(versions.flatMap((leaves) => [...leaves!.keys()]))
    for (const path of paths) {
      const [earlier, written, current, after] = versions.map((leaves) => leaves!.get(path))
      yield { name, path, earlier, written, now: current, result: after }
    }
  }
}

/** Whether a value that a change wrote is still there, other than those that are the same in `originals`. */
function isStillOurs(part: Part, files: Files, originals: Files = {}): boolean {
  const now = filesOf(part.client, files)
  return [...valuesOf(part, now)].some(
    ({ name, path, earlier, written, now: current }) =>
      earlier !== written &&
      current === written &&
      written !== undefined &&
      leavesOf(originals, name)?.get(path) !== written,
  )
}

function expectUndone(
  part: Pick<Part, 'before' | 'after'>,
  files: { readonly before: Files; readonly after: Files },
  isHeld: boolean,
  what: string,
  // biome-ignore lint/suspicious/noExplicitAny: a printed document
  json: any,
): void {
  const values = [...valuesOf(part, files.before, files.after)]
  const client = clientOfFile(Object.keys({ ...files.before, ...part.after })[0] ?? '')
  if (client === undefined || !isReadable(client, files.before)) return

  const isDeleted = Object.keys(part.after).some((name) => files.before[name] === undefined)
  const isForeignOnly =
    !isDeleted &&
    values.every(
      ({ earlier, written, now }) =>
        now === written || now === earlier || (earlier === written && !isEndpoint(written ?? now)),
    )
  if (isForeignOnly && isSafeToRestore(client, part))
    expect(isHeld, `${what} is held, though only foreign settings changed`).toBe(false)

  const losesTables = json.warnings.some(({ code }: { code: string }) => code === 'changes-go-too')
  for (const value of values) {
    const { name, path, earlier, written, now, result } = value
    const accepted = acceptedResults(value, { values, isHeld, losesTables })
    if (!accepted.includes(result))
      throw new Error(
        `${what}: ${name} ${path}: ${earlier} → ${written}, now ${now}, is ${result} afterwards, not ${accepted.join(' or ')}`,
      )
  }
}

/** What an undo may make of a value. */
function acceptedResults(
  { path, earlier, written, now }: Value,
  {
    values,
    isHeld,
    losesTables,
  }: { values: readonly Value[]; isHeld: boolean; losesTables: boolean },
): readonly (string | undefined)[] {
  const lost = losesTables ? [undefined] : []
  if (earlier === written) return [now, ...lost]
  if (now !== written || isHeld) return [earlier, now, ...lost]
  return !isEndpoint(now) && isNextToForeign(values, path) ? [earlier, now] : [earlier]
}

/** Whether a value is an address or a key of a gateway: a changed one holds the other, also if the change wrote only one. */
function isEndpoint(value: string | undefined): boolean {
  return canaries.some((key) => value?.includes(key)) || /\.example/.test(value ?? '')
}

/** Whether someone else wrote into the table of a value, or next to a table that contains it. */
function isNextToForeign(values: readonly Value[], path: string): boolean {
  const tableOf = (of: string) => of.slice(0, of.lastIndexOf('/') + 1)
  return values
    .filter(({ earlier, written, now }) => earlier === written && now !== undefined)
    .some((value) => {
      const table = tableOf(value.path)
      return value.path.startsWith(tableOf(path)) || (table !== '/' && path.startsWith(table))
    })
}

function isSame(a: Files, b: Files): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function changedNames(a: Files, b: Files): readonly string[] {
  return Object.keys({ ...a, ...b }).filter((name) => a[name] !== b[name])
}

function contentOf(entry: string | undefined): string | undefined {
  return entry?.split(' ').at(-1)
}

function canariesIn(files: Files, name: string): readonly string[] {
  const text = textIn(files, name) ?? ''
  return canaries.filter((key) => text.includes(key))
}

// biome-ignore lint/suspicious/noExplicitAny: a printed document
function pathsOf(json: any): readonly string[] {
  return (json.files ?? []).map(({ path }: { path: string }) => path)
}

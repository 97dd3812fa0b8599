import { formatOf } from '../../src/edits/format.ts'
import type { ConfigValue } from '../../src/edits/types.ts'
import { type AllFiles, Copies } from '../../src/transaction/contents.ts'
import {
  type FileVersion,
  isUndoOrRedo,
  type RecordedFile,
  type RecordedSetting,
  type RunRecord,
  type Runs,
} from '../../src/transaction/record.ts'
import { noFirstCopies, removedRuns } from '../../src/transaction/records/first-copies.ts'
import { foldRuns, removableRuns, withRuns } from '../../src/transaction/records/prune.ts'
import type { UndoPlan } from '../../src/transaction/undo/undo-runs.ts'
import { bytesOf } from './a-plan.ts'

export const settingsPath = '/home/me/settings.json'
export const authPath = '/home/me/auth.json'

const recordedSettings: readonly RecordedSetting[] = [
  { path: ['url'], role: 'address' },
  { path: ['token'], role: 'key', isSecret: true },
  { path: ['model'], role: 'model', ourPrefix: 'gw/' },
  { path: ['plain'], role: 'model' },
  { path: ['limit'] },
]
const owner = { mode: 0o600, uid: 0, gid: 0 }

export type Values = Readonly<Record<string, ConfigValue>>

/** Simulates commands on recorded runs and files in memory. */
export class UndoMachine {
  readonly copies = new Copies((sha256) => {
    throw new Error(`no copy ${sha256}`)
  })
  /** Newest first. */
  runs: Runs = []
  readonly #disk = new Map<string, FileVersion | null>()

  constructor(files: Readonly<Record<string, string | null>> = {}) {
    for (const [path, text] of Object.entries(files)) this.write(path, text)
  }

  get contents(): AllFiles {
    const disk = new Map(this.#disk)
    return { copies: this.copies, planned: new Map(), get: (path) => disk.get(path) ?? null }
  }

  text(path: string): string | null {
    const bytes = this.copies.bytesOf(this.contents.get(path))
    return bytes && new TextDecoder().decode(bytes)
  }

  values(path = settingsPath): Values {
    return JSON.parse(this.text(path) ?? '{}')
  }

  /** Someone writes a file, or deletes it. */
  write(path: string, text: string | null, mode = owner.mode): void {
    this.#disk.set(path, text === null ? null : this.copies.add(bytesOf(text), { ...owner, mode }))
  }

  /** Someone changes some members of the settings. `undefined` removes one. */
  edit(values: Readonly<Record<string, ConfigValue | undefined>>): void {
    const bytes = this.copies.bytesOf(this.contents.get(settingsPath))
    const changes = Object.entries(values).map(([key, value]) => ({ path: [key], value }))
    const after = formatOf('json').edit(bytes, changes, settingsPath)
    this.write(settingsPath, new TextDecoder().decode(after))
  }

  /** A setup writes these values into the settings. With `auth`, it also writes a whole file. */
  setUp(values: Values, auth?: string | null, client = 'codex'): void {
    this.#record({ kind: 'setup', files: this.#writeFiles(values, auth, client) })
  }

  /** `off` writes these values into the settings, then the login. */
  off(values: Values, login: string): void {
    this.#record({ kind: 'off', files: this.#writeFiles(values, login, 'codex').toReversed() })
  }

  #writeFiles(values: Values, auth: string | null | undefined, client: string): RecordedFile[] {
    const authBefore = this.contents.get(authPath)
    if (auth !== undefined) this.write(authPath, auth)
    const before = this.contents.get(settingsPath)
    this.edit(values)

    const file = { client, format: 'json', holdsSecret: true } as const
    const files: RecordedFile[] = [
      {
        ...file,
        path: settingsPath,
        realPath: settingsPath,
        scope: 'keys',
        settings: recordedSettings.filter(({ path }) => String(path[0]) in values),
        before,
        written: this.contents.get(settingsPath),
      },
    ]
    if (auth !== undefined)
      files.unshift({
        ...file,
        path: authPath,
        realPath: authPath,
        scope: 'whole',
        settings: [{ path: ['key'], role: 'key', isSecret: true }],
        before: authBefore,
        written: this.contents.get(authPath),
      })
    return files
  }

  /** Removes the oldest records, as a run does if there are too many. */
  prune(limit: number): void {
    const old = removableRuns(this.runs, limit)
    const known = withRuns(noFirstCopies, this.runs)
    const kept = this.runs.slice(0, this.runs.length - old.length)
    this.runs = [...kept, ...removedRuns(foldRuns(this.copies, known, old))]
  }

  /** Applies and records a plan. @returns the plan, undefined if there was nothing to do */
  apply(plan: UndoPlan | undefined): UndoPlan | undefined {
    if (plan === undefined) return undefined
    const files = plan.files.map((file) => ({
      ...file,
      before: this.contents.get(file.path),
      written: plan.result.get(file.path),
    }))
    for (const { path, written } of files) this.#disk.set(path, written)
    const isRedo = plan.runs[0]?.kind === 'undo'
    const isMixed = plan.runs.some((run) => (run.kind === 'undo') !== isRedo)
    if (isMixed) throw new Error('A plan undoes changes and redoes undos')
    const kind = isRedo ? 'redo' : 'undo'
    this.#record({ kind, files, undoes: plan.undoes, kept: plan.kept })
    return plan
  }

  #record(run: Pick<RunRecord, 'kind' | 'files' | 'undoes' | 'kept'>): void {
    const count = Number(this.runs[0]?.id ?? 0) + 1
    const common = {
      id: String(count).padStart(6, '0'),
      at: '2026-11-24T12:00:00.000Z',
      home: '/home/me',
      command: isUndoOrRedo(run) ? 'rollback' : 'codex',
      clients: [...new Set(run.files.map(({ client }) => client))],
      address: 'https://gateway.example',
      model: 'gw/a',
      folders: [],
    }
    this.runs = [{ ...common, ...run } as RunRecord, ...this.runs]
  }
}

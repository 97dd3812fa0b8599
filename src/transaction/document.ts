import { isAbsolute, resolve } from 'node:path'
import type { KeyPath } from '../edits/plan.ts'
import { sha256Of } from './durable.ts'
import type { FileVersion, RecordedFile, RunRecord } from './types.ts'

/**
 * What lies on the disk for a run: first as the draft, then renamed to be the journal, then renamed
 * to be the record. So nothing has to be written once the run is committed.
 */
export interface RunDocument {
  readonly run: RunRecord
  /** For each of `run.files` the name of a new file beside it. */
  readonly temps: readonly string[]
  /** Folders to remove at the end where nothing is left in them, outermost first. */
  readonly dropFolders: readonly string[]
}

/** Counts up when an older repoint could no longer read the document. */
const version = 1

export function encodeDocument(document: RunDocument): Uint8Array {
  const { run, temps, dropFolders } = document
  const body = { version, run, temps, dropFolders }
  const text = JSON.stringify({ ...body, sha256: sumOf(body) }, undefined, 1)
  return new TextEncoder().encode(`${text}\n`)
}

/**
 * A document from the disk is acted upon, so nothing of it is taken on trust: its sum, every type
 * and every path are checked.
 *
 * @returns undefined for anything but a sound document of this version
 */
export function decodeDocument(bytes: Uint8Array): RunDocument | undefined {
  try {
    const { sha256, ...body } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return sha256 === sumOf(body) && isBody(body) ? body : undefined
  } catch {
    return undefined
  }
}

function sumOf(body: unknown): string {
  return sha256Of(new TextEncoder().encode(JSON.stringify(body)))
}

type Fields = Record<string, unknown>

function isBody(body: Fields): body is Fields & RunDocument {
  const { run, temps, dropFolders } = body
  if (body['version'] !== version || !isObject(run) || !isRun(run)) return false
  return (
    isListOf(dropFolders, isPath) &&
    isListOf(temps, isPath) &&
    temps.length === run.files.length &&
    run.files.every((file, index) => isTempOf(file, temps[index] as string))
  )
}

function isRun(run: Fields): run is Fields & RunRecord {
  return (
    isString(run['id']) &&
    /^\d{8}T\d{6}Z-[0-9a-f]+$/.test(run['id']) &&
    isString(run['at']) &&
    !Number.isNaN(Date.parse(run['at'])) &&
    isString(run['command']) &&
    isListOf(run['clients'], isString) &&
    isString(run['baseUrl']) &&
    isString(run['model']) &&
    (run['undoes'] === undefined || isString(run['undoes'])) &&
    isListOf(run['folders'], isPath) &&
    isListOf(run['files'], (file) => isObject(file) && isFile(file))
  )
}

function isFile(file: Fields): file is Fields & RecordedFile {
  return (
    isString(file['client']) &&
    isPath(file['path']) &&
    isPath(file['realPath']) &&
    // A record that was made up must not lead us to a file that is no configuration.
    (file['format'] === 'toml' ? /\.toml$/i : /\.jsonc?$/i).test(file['path'] as string) &&
    (file['format'] === 'toml' || file['format'] === 'json') &&
    (file['scope'] === 'keys' || file['scope'] === 'whole') &&
    typeof file['holdsSecret'] === 'boolean' &&
    isListOf(file['keys'], isKeyPath) &&
    isListOf(file['secretKeys'], isKeyPath) &&
    isListOf(file['boundKeys'], isKeyPath) &&
    isVersion(file['before']) &&
    isVersion(file['after'])
  )
}

function isVersion(value: unknown): value is FileVersion | null {
  if (value === null) return true
  if (!isObject(value) || !isString(value['sha256'])) return false
  const { mode } = value
  return (
    /^[0-9a-f]{64}$/.test(value['sha256']) &&
    Number.isInteger(mode) &&
    (mode as number) >= 0 &&
    // No setuid, setgid or sticky bit: a record that was made up must not hand out rights.
    (mode as number) <= 0o777 &&
    Number.isInteger(value['uid']) &&
    Number.isInteger(value['gid'])
  )
}

/** A temporary file lies beside its target and bears our name; nothing else is ever deleted. */
function isTempOf({ realPath }: RecordedFile, temp: string): boolean {
  const prefix = tempPrefix(realPath)
  return temp.startsWith(prefix) && /^[0-9a-f]{12}$/.test(temp.slice(prefix.length))
}

/** The name of a new file beside `realPath`, but for its random end. */
export function tempPrefix(realPath: string): string {
  const start = Math.max(realPath.lastIndexOf('/'), realPath.lastIndexOf('\\')) + 1
  return `${realPath.slice(0, start)}.${realPath.slice(start)}.repoint-`
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

function isListOf(value: unknown, isOne: (one: unknown) => boolean): value is unknown[] {
  return Array.isArray(value) && value.every(isOne)
}

function isKeyPath(value: unknown): value is KeyPath {
  const isStep = (step: unknown) => isString(step) || (isObject(step) && isString(step['element']))
  return isListOf(value, isStep) && value.length > 0
}

/** Absolute, without `..` or doubled separators, and without a NUL. */
function isPath(value: unknown): value is string {
  return isString(value) && isAbsolute(value) && resolve(value) === value && !value.includes('\0')
}

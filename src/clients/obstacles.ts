import type { KeyPath } from '../edits/plan.ts'
import type { Choice, ClientName, FileText, FileTexts, Obstacle, Scene } from './client.ts'
import { isOwnAddress, layersOf, shownUrl, withLostVersion } from './texts.ts'

/** What several clients meet in the same way. `id` is the first part of the codes. */
type Named = Pick<ClientName, 'id' | 'label'>

interface UnreadFile extends Pick<Obstacle, 'code' | 'message' | 'covers'> {
  readonly file: Pick<FileText, 'role' | 'path'>
  /** Without its leniencies the client would read it. */
  readonly isRepairable: boolean
}

const strict = {
  cure: 'Take comments and trailing commas out of it.',
  consent: 'Comments and trailing commas are taken out of',
  toStrictJson: true,
} as const

/** A file that is no JSON for its client, be it for what other readers bear. */
export function unreadFile(
  { file, isRepairable, ...found }: UnreadFile,
  repair: {
    readonly cure: string
    readonly consent: string
    readonly toStrictJson: true | 'but-comments'
  } = strict,
): Obstacle {
  const { role, path } = file
  const shared = { ...found, place: path, weight: 'blocks' } as const
  if (!isRepairable) return { ...shared, cure: 'Correct the file by hand.' }
  return {
    ...shared,
    cure: repair.cure,
    repair: { role, changes: [], toStrictJson: repair.toStrictJson },
    needsConsent: `${repair.consent} ${path}, which comes into force as a whole.`,
  }
}

/** An address that repoint has written, without its `/v1` by now. */
export function lostVersion(
  { id }: Named,
  scene: Scene,
  found: {
    readonly url: string | undefined
    readonly name: string
    /** What comes of it, beside that every request misses. */
    readonly effect?: string
    readonly place: string
    /** Absent: it stands where we cannot write. */
    readonly target?: { readonly role: string; readonly path: KeyPath } | undefined
  },
): readonly Obstacle[] {
  const { url, name, effect = '', place, target } = found
  const value = url && withLostVersion(url, scene)
  if (!value) return []
  return [
    {
      code: `${id}-base-url-version`,
      message: `${name} does not end in /v1: every request misses${effect}`,
      place,
      cure: 'Add /v1.',
      ...(target && {
        repair: { role: target.role, changes: [{ path: target.path, value, isBound: true }] },
      }),
      weight: 'blocks',
    },
  ]
}

/** What a setup is about to write stands there for another address, which it did not write. */
export function otherAddress(
  scene: Scene,
  choice: Choice,
  found: Pick<Obstacle, 'code' | 'place'> & {
    readonly what: string
    readonly url: string | undefined
  },
): readonly Obstacle[] {
  const { code, place, what, url } = found
  if (url === undefined || isOwnAddress(url, scene, choice)) return []
  return [
    {
      code,
      message: `${what} already stands for another address, ${shownUrl(url)}`,
      place,
      cure: 'To keep it, choose another id with --provider-id.',
      needsConsent: `${what.replace(/^the/, 'The')} will be overwritten; rollback brings it back.`,
      weight: 'may-block',
    },
  ]
}

/** Code of the folder that a client is started in, which it runs without a question: the role `project-code`. */
export function projectCode({ id, label }: Named, texts: FileTexts): readonly Obstacle[] {
  return layersOf(texts, 'project-code').map(({ path }) => ({
    code: `${id}-project-code`,
    message: `${label}, started in this folder, runs the folder's own code, which may read your key`,
    place: path,
    cure: `Do not start ${label} in this folder, unless you trust whoever wrote it.`,
    needsConsent: `${label}, started in this folder, runs ${path}, which may read your key.`,
    weight: 'may-block',
  }))
}

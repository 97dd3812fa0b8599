import { compact } from '../compact.ts'
import type { KeyChange, KeyPath } from '../edits/plan.ts'
import type { Machine } from '../platform/platform.ts'
import type { Choice, ClientName, Obstacle, Obstacles, Scene } from './client.ts'
import { pathsOf } from './paths.ts'
import { type StrictFile, takenOut } from './strict-json.ts'
import {
  isLoopbackUrl,
  isOwnAddress,
  type ReadFile,
  rootOf,
  shownUrl,
  withLostVersion,
} from './texts.ts'

/** What several clients meet in the same way. `id` is the first part of the codes, and the word of the command line. */
type Named = Pick<ClientName, 'id' | 'label'>

/** An obstacle at a key of a file. It blocks, unless it says otherwise. */
interface KeyObstacle extends Omit<Obstacle, 'place' | 'weight'> {
  readonly weight?: Obstacle['weight']
  /** What mends the key. Absent: nothing does, or `repair` says what. */
  readonly becomes?: Omit<KeyChange, 'path'>
}

export function obstacleAt(file: ReadFile, path: KeyPath, found: KeyObstacle): Obstacle {
  const { becomes, ...told } = found
  const repair = becomes && { role: file.role, changes: [{ path, ...becomes }] }
  return compact({ weight: 'blocks' as const, repair, ...told, place: file.place(path) })
}

/** A client that is at a gateway, and has no key to send. */
export function missingKey({ id }: Pick<Named, 'id'>, place: string, message: string): Obstacle {
  return {
    code: `${id}-no-key`,
    message,
    place,
    cure: `Run \`repoint ${id}\`.`,
    weight: 'blocks',
    covers: 'key-missing',
  }
}

interface UnreadFile extends Pick<Obstacle, 'code' | 'covers'> {
  /** What the client does then, as the beginning of a sentence that ends in why. */
  readonly effect: string
}

/**
 * A file that its client does not read, be it for what other readers bear; nothing of one that it reads.
 */
export function* unreadFile(file: StrictFile, { effect, ...found }: UnreadFile): Obstacles {
  const { role, path, ignored, isRepairable, bears } = file
  if (ignored === undefined) return

  const message = `${effect}: ${ignored}`
  const shared = { ...found, message, place: path, weight: 'blocks' } as const
  if (!isRepairable) {
    yield { ...shared, cure: 'Correct the file by hand.' }
    return
  }

  const taken = takenOut(bears)
  yield {
    ...shared,
    cure: `Take ${taken} out of it.`,
    repair: { role, changes: [], toStrictJson: bears?.allowsComments ? 'but-comments' : true },
    needsConsent: `${capitalised(taken)} are taken out of ${path}, which comes into force as a whole.`,
  }
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** An address that a client goes by, and where that stands. */
interface StandingAddress {
  readonly url: string | undefined
  readonly path: KeyPath
  readonly name: string
  /** What comes of one without `/v1`, beside that every request misses. */
  readonly effect?: string
}

/** An address that repoint has written, without its `/v1` by now; one from elsewhere is not mended here. */
export function* lostVersion(
  { id }: Named,
  scene: Scene,
  file: ReadFile,
  { url, path, name, effect = '' }: StandingAddress,
): Obstacles {
  const value = url && withLostVersion(url, scene)
  if (!value) return

  yield obstacleAt(file, path, {
    code: `${id}-base-url-version`,
    message: `${name} does not end in /v1: every request misses${effect}`,
    cure: 'Add /v1.',
    ...(file.text(path) === url && { becomes: { value } }),
  })
}

/** What is wrong with an address that is in use, and with the key beside it. */
export function* addressObstacles(
  client: Named,
  scene: Scene,
  file: ReadFile,
  found: StandingAddress & Pick<Leftover, 'key' | 'keyPlace'>,
): Obstacles {
  yield* lostVersion(client, scene, file, found)
  yield* leftoverObstacles(client, scene, { ...found, urlPlace: file.place(found.path) })
}

/** What a setup is about to write stands there for another address, which it did not write. */
export function* otherAddress(
  scene: Scene,
  choice: Choice,
  found: Pick<Obstacle, 'code' | 'place'> & {
    readonly what: string
    readonly url: string | undefined
    /** Absent: another id for ours. */
    readonly cure?: string
  },
): Obstacles {
  const { code, place, what, url } = found
  const { cure = 'To keep it, choose another id with --provider-id.' } = found

  if (url === undefined || isOwnAddress(url, scene, choice)) return

  yield {
    code,
    message: `${what} already stands for another address, ${shownUrl(url)}`,
    place,
    cure,
    needsConsent: `${what.replace(/^the/, 'The')} will be overwritten; rollback brings it back.`,
    weight: 'may-block',
  }
}

/**
 * The provider of an earlier setup under another id. For the same address it is the same one under
 * an old name, and goes; one for another address may be wanted beside the new one.
 */
export function formerProvider(
  { id }: Named,
  { root }: Choice,
  file: ReadFile,
  found: {
    readonly providerId: string
    readonly url: string
    readonly change: Omit<KeyChange, 'value'>
    readonly hasKey: boolean
    /** Where else something of it stands. */
    readonly beside?: string
  },
): Obstacle {
  const { providerId, url, change, hasKey, beside } = found
  const shared = {
    code: `${id}-former-provider`,
    message: `the provider ${providerId} is left of an earlier setup, for ${shownUrl(url)}`,
    place: file.place(change.path),
    weight: 'may-block',
  } as const

  if (rootOf(url) !== root) {
    const all = beside === undefined ? 'it' : `it, and ${beside}`
    return { ...shared, cure: `Nothing to do if you use both; else delete ${all}.` }
  }

  return {
    ...shared,
    cure: 'Remove it.',
    repair: { role: file.role, changes: [{ ...change, value: undefined }] },
    needsConsent: `The provider ${providerId} of an earlier setup will be removed${hasKey ? ', with its key' : ''}; rollback brings it back.`,
  }
}

/**
 * Variables that name another place in every folder that the client is started in.
 *
 * @param takesTilde the client puts the home in the place of `~`
 */
export function* relativePlaceObstacles(
  machine: Machine,
  code: string,
  label: string,
  names: readonly string[],
  takesTilde = false,
): Obstacles {
  const { isAbsolute, named } = pathsOf(machine)
  for (const name of names) {
    const value = machine.env[name]
    if (!value || isAbsolute(value) || (takesTilde && /^~(?:[\\/]|$)/.test(value))) continue

    yield {
      code,
      message: `${name} is relative: ${label} looks in ${named(name)} only while it is started here`,
      place: 'environment',
      cure: `Give ${name} an absolute path.`,
      weight: 'may-block',
    }
  }
}

/**
 * What stands in the place of a key while another tool's proxy holds the real one. Seen in what
 * those tools leave behind: farion1231/cc-switch#3191, SaladDay/cc-switch-cli#161,
 * kaitranntt/ccs#618 (2026-11-21).
 */
const placeholders: Readonly<Record<string, string>> = {
  proxy_managed: 'cc-switch',
  'proxy-placeholder': 'cc-switch',
  'ccs-internal-managed': 'ccs',
}

/** Ports of this machine at which other tools put a proxy between a client and its service. */
const proxies: Readonly<Record<string, string>> = {
  '15721': 'cc-switch',
  '3456': 'claude-code-router',
  '8317': 'CLIProxyAPI',
}

/** The tool whose placeholder a key is. */
export function placeholderOf(key: string | undefined): string | undefined {
  const name = key?.toLowerCase()
  return name !== undefined && Object.hasOwn(placeholders, name) ? placeholders[name] : undefined
}

interface Leftover {
  readonly url: string | undefined
  readonly urlPlace: string
  readonly key: string | undefined
  readonly keyPlace: string
}

/** What another tool has left in a client's settings: present state only, a setup replaces it. */
export function* leftoverObstacles({ id, label }: Named, scene: Scene, left: Leftover): Obstacles {
  const { url } = left
  const holder = placeholderOf(left.key)
  if (holder !== undefined) {
    yield {
      code: `${id}-placeholder-key`,
      message: `in the place of the key stands what ${holder} leaves there: only ${holder}'s own proxy takes it`,
      place: left.keyPlace,
      cure: `Start ${holder}, or run \`repoint ${id}\` with your key.`,
      weight: 'blocks',
    }
  }

  if (url === undefined || !isLoopbackUrl(url) || isOwnAddress(url, scene)) return
  const tool = proxies[new URL(url).port]
  if (tool === undefined) return

  yield {
    code: `${id}-local-proxy`,
    message: `${label} asks ${shownUrl(url)} on this machine, where ${tool} listens: it works only while that runs`,
    place: left.urlPlace,
    cure: `Start ${tool}, or run \`repoint ${id}\`.`,
    weight: 'may-block',
  }
}

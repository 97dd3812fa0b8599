import type { Machine } from '../../platform/platform.ts'
import type { ConfigFile, DiskReader, FolderFiles } from '../client.ts'
import { layersThere, pathsOf } from '../paths.ts'

/** What opencode and the clients that are made from it differ in. */
export interface Layout {
  /** The word of the command line, the program, the first part of its findings' codes. */
  readonly id: string
  readonly label: string
  /** Its folder among those of the XDG specification, and where an administrator's files lie. */
  readonly folder: string
  /** What its configuration is called in its own folder, the weaker before the stronger. */
  readonly configNames: readonly string[]
  /** The one that it makes where there is none. */
  readonly newConfig: string
  /** What its configuration is called in a project and below it, the weaker before the stronger. */
  readonly projectNames: readonly string[]
  /** Folders with configuration in a project and in the home, the weaker before the stronger. */
  readonly dotFolders: readonly string[]
  readonly folderFiles: readonly FolderFiles[]
  /** `OPENCODE` of `OPENCODE_CONFIG` and the others. */
  readonly variables: string
  readonly schema: string
  /** Ids of providers that it ships: it mixes what it ships under an id with what is written there. */
  readonly reservedProviderIds: readonly string[]
  /** Of which models it asks without a limit of tokens; absent: of none. */
  readonly asksForNoLimit?: RegExp
  /** What it does about context windows that are not known. */
  readonly withoutWindow: string
  /** The version that does not start with the keys of opencode's next one; absent: it does. */
  readonly stopsAtNewerKeys?: string
}

/** Where agents lie in these folders, each with a model of its own if it likes (1.18.34, Kilo 7.7.9). */
const agentFolders = ['agent', 'agents', 'mode', 'modes']

const xdgFolders = { CONFIG: '.config', DATA: '.local/share', STATE: '.local/state' } as const

/** These clients use them on every system, Windows included. */
export function xdgFolder(machine: Machine, kind: keyof typeof xdgFolders): string {
  const { join, named } = pathsOf(machine)
  return named(`XDG_${kind}_HOME`) ?? join(machine.home, xdgFolders[kind])
}

export function filesOf(layout: Layout, machine: Machine, disk: DiskReader): readonly ConfigFile[] {
  const { join, dirname, named } = pathsOf(machine)
  const { home, cwd } = machine
  const { folder, configNames, projectNames, dotFolders, variables } = layout

  const config = join(xdgFolder(machine, 'CONFIG'), folder)
  const data = join(xdgFolder(machine, 'DATA'), folder)
  const inFolder = (place: string) => projectNames.map((name) => join(place, name))
  const dotsIn = (place: string) => dotFolders.map((name) => join(place, name))
  const agentsIn = (place: string) =>
    dotsIn(place)
      .flatMap((dot) => agentFolders.map((kind) => join(dot, kind)))
      .flatMap((kind) => disk.entries(kind).map((name) => join(kind, name)))
      .filter((path) => path.endsWith('.md'))

  const [lowest, ...others] = configNames.map((name) => join(config, name))
  const target =
    named(`${variables}_CONFIG`) ??
    others.findLast((path) => disk.exists(path)) ??
    join(config, layout.newConfig)

  const above: string[] = []
  const dots: string[] = []
  const agents: string[] = []
  // Up to the root: in a repository that git does not answer for, be it broken or without a git,
  // opencode reads on above it (1.18.34, not 1.14.41; 2026-11-23).
  for (let place = cwd; ; place = dirname(place)) {
    above.unshift(...inFolder(place))
    dots.unshift(...dotsIn(place).flatMap(inFolder))
    if (place !== home) agents.unshift(...agentsIn(place))
    if (dirname(place) === place) break
  }

  const managed =
    machine.os === 'darwin'
      ? `/Library/Application Support/${folder}`
      : machine.os === 'win32'
        ? join(machine.env['ProgramData'] || 'C:\\ProgramData', folder)
        : `/etc/${folder}`
  const extra = named(`${variables}_CONFIG_DIR`)
  const own = { format: 'json', use: 'target' } as const

  return [
    { ...own, kind: 'auth', path: join(data, 'auth.json'), holdsSecret: true },
    { ...own, kind: 'config', path: target, holdsSecret: false },
    ...layersThere(disk, target, [
      ['lower', [lowest!, ...others]],
      ['upper', dotsIn(home).flatMap(inFolder)],
      ['project', [...above, ...dots]],
      ['project-agent', agents],
      ['upper', extra === undefined ? [] : inFolder(extra)],
      ['managed', inFolder(managed)],
    ]),
  ]
}

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>
  readonly needs?: string | readonly string[]
  readonly 'runs-on': string
  readonly strategy?: { readonly matrix: { readonly os?: readonly string[] } }
  readonly steps: readonly Step[]
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const folder = '.github/workflows'
const texts = readdirSync(folder).map((name) => [name, readFileSync(`${folder}/${name}`, 'utf8')])

const workflow = (name: string): Workflow => parse(readFileSync(`${folder}/${name}`, 'utf8'))
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps }) => steps)
const commandsOf = ({ steps }: Job) => steps.flatMap(({ run }) => (run === undefined ? [] : [run]))

describe.each(texts)('workflow %s', (name = '', text = '') => {
  test('pins every action by its commit, with the version as a comment', () => {
    const lines = text.split('\n').filter((line) => /^\s*(?:- )?uses:/.test(line))
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) expect(line).toMatch(/uses: [\w.-]+\/[\w.-]+@[0-9a-f]{40} # v\d/)
    const pins = lines.map((line) => /uses: ([^@]+)@(.*)$/.exec(line)!)
    const byAction = new Map(pins.map(([, action, commit]) => [action, commit]))
    for (const [, action, commit] of pins) expect(byAction.get(action)).toBe(commit)
  })

  test('leaves no token behind in a checkout', () => {
    const checkouts = stepsOf(workflow(name)).filter(({ uses }) => uses?.includes('/checkout@'))
    for (const step of checkouts) expect(step.with?.['persist-credentials']).toBe(false)
  })

  test('gives nobody more than reading by default', () => {
    expect(workflow(name).permissions).toEqual({ contents: 'read' })
  })
})

describe('the release', () => {
  const { jobs } = workflow('release.yml')

  test('a job that runs code of the repository or of its dependencies can only read', () => {
    const isRisky = ({ steps, ...job }: Job) =>
      steps.some(({ uses }) => uses?.includes('/checkout@')) ||
      commandsOf({ steps, ...job }).some((run) =>
        /npm (?:ci|cit|run|install|exec|test)|npx/.test(run),
      )
    const risky = Object.values(jobs).filter(isRisky)
    expect(risky.length).toBeGreaterThan(0)
    for (const job of risky) expect(job.permissions).toEqual({ contents: 'read' })
  })

  test('the package is packed by a job that runs only the build', () => {
    const build = jobs['build']!
    expect(commandsOf(build).slice(1)).toEqual([
      'npm ci --ignore-scripts',
      'npm run build',
      'npm pack',
    ])
    expect(build.needs).toBeUndefined()
    const upload = build.steps.at(-1)!
    expect(upload.uses).toContain('/upload-artifact@')
    expect(upload.with).toMatchObject({ name: 'package', path: 'repoint-*.tgz' })
  })

  test('no job whose artifact is published runs tests, install scripts or a shared cache', () => {
    const uploading = Object.values(jobs).filter(({ steps }) =>
      steps.some(({ uses }) => uses?.includes('/upload-artifact@')),
    )
    expect(uploading.length).toBe(2)
    for (const job of uploading) {
      const installs = commandsOf(job).filter((run) =>
        /^npm (?:ci|cit|i|install|test|t)\b/.test(run),
      )
      expect(installs).toEqual(['npm ci --ignore-scripts'])
      const node = job.steps.find(({ uses }) => uses?.includes('/setup-node@'))!
      expect(node.with).toMatchObject({ 'package-manager-cache': false })
    }
  })

  test('nothing is published before types, lint and tests', () => {
    expect(commandsOf(jobs['tests']!)).toEqual(['npm cit', 'npm run types', 'npm run lint'])
  })

  test('the package is published by the only job that can prove who it is, from the packed file', () => {
    const able = Object.entries(jobs).filter(([, job]) => job.permissions?.['id-token'] === 'write')
    expect(able.map(([id]) => id)).toEqual(['publish'])
    const publish = jobs['publish']!
    expect(publish.permissions).toEqual({ 'id-token': 'write' })
    expect(publish.needs).toEqual(['build', 'tests', 'programs'])
    expect(publish.steps.map(({ uses }) => uses?.split('@')[0])).toEqual([
      'actions/setup-node',
      'actions/download-artifact',
      undefined,
    ])
    expect(commandsOf(publish)).toEqual([
      'npm publish ./repoint-*.tgz --ignore-scripts --provenance --access public',
    ])
  })

  test.each(['ci.yml', 'release.yml'])('%s tests on macOS and Windows', (name) => {
    const jobsOfAll = Object.values(workflow(name).jobs)
    const tested = jobsOfAll.filter((job) => commandsOf(job).includes('npm cit'))
    const systems = tested.flatMap(({ strategy }) => strategy?.matrix.os ?? [])
    expect(systems).toEqual(expect.arrayContaining(['macos-latest', 'windows-latest']))
  })
})

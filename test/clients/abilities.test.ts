import { writeFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { triesAll } from '../support/sample.ts'
import { claudeVersions, installedVersions } from './support/install.ts'
import { inferences, prompt } from './support/prompt.ts'
import { runCommand } from './support/run-client.ts'

/** The facts of a model in a client's files have an effect on its requests: images, reasoning, context window. */

const key = 'sk-abilities-6b0e93d1c7a2f485'
/** A picture of one pixel. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const question = 'what is in this picture'
const isSeen = /data:image\\?\/(?:png|jpeg|webp);base64,|"media_type":"image\//
const isReasonedAbout = /"reasoning(?:_effort)?\\?":/

/** According to the snapshot, the first model accepts images and reasons, and the second does neither. */
const models = ['kimi-k3', 'devstral-2512', 'glm-5'] as const

interface Asked {
  /** More arguments of its setup. */
  readonly setup?: readonly string[]
  readonly args?: readonly string[]
  /** Absent: the client attaches the picture by itself. */
  readonly says?: (picture: string) => string
  /** Arguments of the command that lists the client's models, and the form of a line. Absent: there is no such command. */
  readonly list?: readonly [readonly string[], RegExp]
  /** The client requests reasoning only from models that its files mark as reasoning. */
  readonly isToldToReason?: true
  /** The client sends images to every model, whatever its files say. */
  readonly isAlwaysSeeing?: true
  /** The client starts slowly, and a test of another client with the same code covers the other model. */
  readonly isOnlySeeing?: true
}

const readsIt = (path: string) => `#call Read ${JSON.stringify({ file_path: path })}`

const asked: Readonly<Record<string, Asked>> = {
  // Kilo has the same code. versions.test.ts runs its versions.
  opencode: {
    args: ['-f', 'pic.png', '--variant', 'high', '--'],
    list: [['models', 'gateway'], /^gateway\/(.+)$/gm],
  },
  pi: {
    args: ['@pic.png'],
    list: [['--list-models'], /^gateway +(\S+)/gm],
    isToldToReason: true,
  },
  openclaw: {
    // Over chat, the client requests reasoning from no model.
    setup: ['--protocol', 'responses'],
    says: () => '#call view_image {"path": "pic.png"}',
    isToldToReason: true,
    // pi has the same code.
    isOnlySeeing: true,
  },
  qwen: { says: () => `${question} @pic.png` },
  droid: { says: readsIt, list: [['exec', '--help'], /^ *custom:gateway(?:\/(\S+)| )/gm] },
  claude: { says: readsIt, args: ['--allowed-tools', 'Read'], isAlwaysSeeing: true },
  cline: {
    says: () => '#call read_files {"files":[{"path":"pic.png"}]}',
    isAlwaysSeeing: true,
  },
  codex: { args: ['-i', 'pic.png', '--'], isAlwaysSeeing: true },
}

/** The newest version. With REPOINT_EVERY_CASE=1, the oldest one first, unless it starts too slowly. */
const versionsOf = (client: string): readonly string[] => {
  const all = client === 'claude' ? claudeVersions : installedVersions[client]!
  return triesAll && client !== 'openclaw' ? [all[0]!, all.at(-1)!] : all.slice(-1)
}
const rows = Object.keys(asked).flatMap((client) =>
  versionsOf(client).map((version, index) => ({ client, version, isOldest: index === 0 })),
)

interface Place {
  readonly gateway: Gateway
  readonly home: Home
}

async function aPlace(): Promise<Place> {
  const gateway = await withGateway({ key, models: [...models] }, onTestFinished)
  const home = aHome({ 'work/.keep': '' })
  writeFileSync(home.at('work/pic.png'), picture)
  return { gateway, home }
}

async function setUp({ gateway, home }: Place, ...args: string[]): Promise<void> {
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
  const { status, stderr } = await runCli(home, [...args, '--yes'], { env })
  expect([status, stderr]).toEqual([0, expect.anything()])
}

/** The request of a real client for one of its models. */
async function sentBy(
  runner: string,
  { gateway, home }: Place,
  model: string,
  { args = [], says }: { readonly args?: readonly string[]; readonly says: string },
): Promise<string> {
  gateway.clearRequests()
  await prompt(runner, { home: home.path, cwd: home.at('work'), args, prompt: says })
  return inferences(gateway.requests())
    .filter(({ modelAsked }) => modelAsked === model)
    .map(({ requestBody }) => requestBody)
    .join('\n')
}

describe('a setup writes the facts of a model for the client', () => {
  test.each(rows)(
    '$client $version',
    { timeout: 400_000 },
    async ({ client, version, isOldest }) => {
      const {
        setup = [],
        args = [],
        says,
        list,
        isToldToReason,
        isAlwaysSeeing,
        isOnlySeeing,
      } = asked[client]!
      const place = await aPlace()
      const { home } = place
      const text = says?.(home.at('work/pic.png')) ?? question
      const runner = `${client} ${version}`
      await setUp(place, client, '--model', models[0], ...setup)
      if (list !== undefined) {
        const [command, line] = list
        const run = { home: home.path, cwd: home.at('work'), args: command }
        const { stdout, stderr } = await runCommand(client, version, run)
        const found = [...(stdout + stderr).matchAll(line)].map(([, id = models[0]]) => id)
        expect(found.sort()).toEqual([...models].sort())
      }
      const sent = await sentBy(runner, place, models[0], { args, says: text })
      expect(sent).toMatch(isSeen)
      if (isToldToReason) expect(sent).toMatch(isReasonedAbout)
      if (!isOldest || isOnlySeeing) return

      await setUp(place, client, '--model', models[1], ...setup)
      // The client may ask another model what the picture shows.
      const blind = await sentBy(runner, place, models[1], { args, says: text })
      expect(blind).not.toBe('')
      if (!isAlwaysSeeing) expect(blind).not.toMatch(isSeen)
      if (isToldToReason) expect(blind).not.toMatch(isReasonedAbout)
    },
  )
})

// test/clients/first-requests.test.ts has the effort of Codex and Claude Code.
test('opencode sends the effort of --reasoning-effort', { timeout: 300_000 }, async () => {
  const place = await aPlace()
  await setUp(place, 'opencode', '--model', 'glm-5', '--reasoning-effort', 'low')
  const sent = await sentBy('opencode', place, 'glm-5', { says: 'ping' })
  expect(sent).toMatch(/"reasoning_effort":"low"/)
})

test('opencode compacts a conversation at the context window in its files', async () => {
  const place = await aPlace()
  const limits = ['--context-window', '8000', '--output-limit', '1000']
  await setUp(place, 'opencode', '--model', 'glm-5', ...limits)
  const sent = (says: string) => sentBy('opencode', place, 'glm-5', { says })
  const goesOn = /Continue if you have next steps/
  expect(await sent('ping')).not.toMatch(goesOn)
  expect(await sent(`#say ${'word '.repeat(4800)}`)).toMatch(goesOn)
})

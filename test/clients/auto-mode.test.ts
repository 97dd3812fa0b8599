import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startGateway } from '../../src/serve/index.ts'
import { fixtureCatalog } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { aSafeguardsFront } from '../support/safeguards-front.ts'
import { keys, runOnTerminal } from '../support/terminal.ts'
import { installedClient } from './support/install.ts'

const key = 'sk-canary-auto-mode-0a1b2c3d4e5f'
const env = { REPOINT_API_KEY: key }
const command = 'touch made.txt && rm -f ../other.txt'

/** The text without spaces, which the screen draws as movements of the cursor. */
const words = (text: string) => new RegExp(text.split(' ').join('\\s*'))

test.each([
  { way: 'setup', does: 'answers', id: 'claude' },
  { way: 'setup', does: 'drops', id: 'claude' },
  { way: 'setup', does: 'rejects', id: 'claude' },
  { way: 'setup', does: 'drops', id: 'claude-gpt' },
  { way: 'run', does: 'drops', id: 'claude' },
  { way: 'run', does: 'answers', id: 'claude' },
] as const)(
  'after $way of $id, Claude Code runs a command at a gateway that $does',
  async (row) => {
    const gateway = await startGateway({
      families: 'rewritten',
      key,
      models: fixtureCatalog,
      answer: ({ tools, afterTool }) => {
        if (afterTool) return 'Made it.'
        if (!tools.includes('Bash')) return 'A title'
        return { calls: [{ tool: 'Bash', with: { command, description: 'Makes a file' } }] }
      },
    })
    const { port } = await aSafeguardsFront(gateway, row.does)
    const url = `http://127.0.0.1:${port}`
    const home = aHome({})
    const cwd = home.at('work')
    mkdirSync(cwd)
    const projects = { [cwd]: { hasTrustDialogAccepted: true } }
    home.put('.claude.json', JSON.stringify({ hasCompletedOnboarding: true, projects }))

    const [program, ...args] = installedClient('claude')
    const isRun = row.way === 'run'
    if (!isRun) {
      const { status, text } = await runHere(home, [row.id, '--base-url', url, '--yes'], env)
      expect(status, text).toBe(0)
    }
    const pointed = [
      'run',
      '--base-url',
      url,
      '--key-env',
      'REPOINT_API_KEY',
      '--',
      program,
      ...args,
    ]
    const tui = isRun
      ? runOnTerminal(home, pointed, { cwd, env })
      : runOnTerminal(home, args, { command: program, cwd })

    await tui.shows(/mode\s*on|for\s*shortcuts/)
    tui.type('Make the file')
    await tui.shows(words('Make the file'))
    // Keys that arrive together count as a paste.
    await new Promise((resolve) => setTimeout(resolve, 600))
    tui.type(keys.enter)

    // Auto mode runs the command by itself. Without a verdict, the first answer is Yes.
    const isAuto = row.way === 'setup' && row.does === 'answers'
    if (!isAuto) {
      await tui.shows(words('Do you want to proceed'))
      await tui.shows(/❯\s*1\.\s*Yes/)
    }
    // A question that has just appeared ignores the first key.
    const answers = isAuto ? undefined : setInterval(() => tui.type('1'), 1_000)
    await tui.shows(words('Made it')).finally(() => clearInterval(answers))
    expect(tui.screen()).not.toMatch(words("can't check actions"))
    if (!isAuto) expect(tui.screen()).not.toMatch(words('Make auto mode your default'))
    expect(tui.screen()).not.toContain(key)
    expect(existsSync(join(cwd, 'made.txt'))).toBe(true)

    // The client writes into its home until it has ended.
    for (let tries = 0; tries < 3; tries++) {
      tui.type(keys.ctrlC)
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    await tui.ended
    await gateway.close()
  },
)

import { expect, onTestFinished, test, vi } from 'vitest'
import { Session } from '../../../src/commands/screen/session.ts'
import { nodePlatform } from '../../../src/platform/node.ts'
import type { Platform } from '../../../src/platform/platform.ts'
import { captured } from '../../support/captured.ts'

function recorded(
  options: { isJson?: boolean; home?: string; terminal?: Partial<Platform['terminal']> } = {},
) {
  const real = nodePlatform()
  const { output, terminal } = captured(real.terminal)
  const platform: Platform = {
    ...real,
    interrupt: new AbortController().signal,
    machine: { ...real.machine, home: options.home ?? '/home/me', env: {} },
    terminal: { ...terminal, ...options.terminal },
  }
  return { output, session: new Session(platform, { isJson: options.isJson ?? false }) }
}

test('a hidden secret is masked in lines, remarks and documents', () => {
  const { output, session } = recorded()
  session.hide('very-secret-1')
  session.say('key very-secret-1')
  session.remark('warning: very-secret-1')
  expect(output.out + output.err).not.toContain('very-secret-1')

  const json = recorded({ isJson: true })
  json.session.hide('very-secret-1')
  json.session.document({ message: 'very-secret-1' })
  expect(JSON.parse(json.output.out)).toEqual({ message: '....' })
})

test('a secret with characters that JSON escapes is masked in documents too', () => {
  const { output, session } = recorded({ isJson: true })
  session.hide('se"cr\\et')
  session.document({ message: 'x se"cr\\et y' })
  expect(JSON.parse(output.out)).toEqual({ message: 'x .... y' })
})

test('the home folder is shortened, but not in quotes, where a shell would not expand it', () => {
  const { session } = recorded({ home: '/home/me' })
  const typed = "export CA='/home/me/gw.pem' # /home/me/gw.pem"
  expect(session.forPeople(typed)).toBe("export CA='/home/me/gw.pem' # ~/gw.pem")
})

test('text that looks like a key is masked even if it is not registered as a secret', () => {
  const { session } = recorded()
  expect(session.redact('unknown command sk-0123456789abcdef')).toBe('unknown command ....')
})

test('a finding is shown once, with the label of its severity', () => {
  const { output, session } = recorded()
  session.addFindings(
    { code: 'a', severity: 'note', message: 'worth knowing' },
    { code: 'b', severity: 'warning', message: 'may not work', hint: 'do this' },
  )
  session.addShownFindings({ code: 'c', severity: 'error', message: 'in the plan' })
  session.showFindings()
  session.showFindings()

  expect(output.err).toBe('note: worth knowing\nwarning: may not work\n         do this\n')
  expect(session.findingsAsJson.map(({ code }) => code)).toEqual(['a', 'b', 'c'])
})

test('--json prints only the document', () => {
  const { output, session } = recorded({ isJson: true })
  session.say('a line')
  session.remark('a remark')
  expect(output).toEqual({ out: '', err: '' })
})

test.each([
  ['/home/me/.codex/auth.json', '~/.codex/auth.json'],
  ['/home/melissa/.codex', '/home/melissa/.codex'],
  ['/etc/codex', '/etc/codex'],
])('the path %s is shown as %s', (path, shown) => {
  expect(recorded().session.showPath(path)).toBe(shown)
})

test('a long wait shows its seconds and whether the files are written, on one line', async () => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const { output, session } = recorded({ terminal: { stderrIsTerminal: true, columns: 50 } })
  const wait = async (label: string, ms: number) => {
    const step = session.step(label, new Promise((settle) => setTimeout(settle, ms)))
    await vi.advanceTimersByTimeAsync(ms)
    await step
    return output.err.split('\x1b[2K').at(-2)
  }

  expect(await wait('Asking', 2_900)).toMatch(/^. Asking\r$/)
  expect(await wait('Asking', 12_100)).toMatch(/^. Asking \(12 s\)\r$/)
  session.noteApplied({ run: {} })
  expect(await wait('Trying Codex', 400)).toMatch(/^. The files are written\. Trying Codex\r$/)
  const line = await wait('x'.repeat(100), 99_000)
  expect(line).toMatch(/^. The files are written\. x+ \(9\d s\)\r$/)
  expect(line?.trimEnd().length).toBeLessThan(50)
})

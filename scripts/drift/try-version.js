/** One version of a real client, set up, used and rolled back against the local gateway. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { execa } from 'execa'
import { clients } from './clients.js'

const repointProgram = resolve('bin/repoint.js')

/** Only a shell puts these two together: the prompt itself does not hold the word. */
const shellCommand = 'printf "%s-%s" river stone'
const shellOutput = 'river-stone'

/** An unconfigured Codex tries for longer to reach its own service, in ms. */
const unconfiguredTimeoutMs = 8_000

/**
 * A row of the matrix: the ids that the client asked for, its shell tool, whether repoint
 * refused the setup (rightly, if the client does not answer with it either), and the steps that did
 * not do what they should.
 *
 * @param gateway of `startGateway`, asked by nobody else
 * @param program how to start the client, as `programOf` says
 * @param startsUnconfigured whether the client is also started before its setup, and must not answer
 */
export async function tryVersion({
  gateway,
  name,
  version,
  program,
  setup,
  startsUnconfigured = true,
}) {
  const home = mkdtempSync(join(tmpdir(), 'repoint-drift-'))
  const env = homeFor(home, name, program)
  const repoint = (...args) =>
    execa(process.execPath, [repointProgram, ...args, '--json'], {
      env: { ...env, REPOINT_API_KEY: gateway.key, REPOINT_BASE_URL: gateway.url },
      extendEnv: false,
      cwd: join(home, 'work'),
      reject: false,
      timeout: 60_000,
    })
  const client = async (prompt, timeout = 150_000) => {
    const { stdout } = await execa(name, clients[name].run(prompt), {
      env: { ...env, ...clients[name].env },
      extendEnv: false,
      cwd: join(home, 'work'),
      reject: false,
      stdin: 'ignore',
      timeout,
      forceKillAfterDelay: 500,
    })
    return stdout ?? ''
  }

  try {
    const failed = []
    const expectThat = (step, isSo) => {
      if (!isSo) failed.push(step)
    }

    if (startsUnconfigured)
      expectThat('fails before', !hasAnswered(await client('ping', unconfiguredTimeoutMs)))
    const before = filesIn(home, name)
    const setUp = await repoint(...setup, '--yes')
    const isRefused = setUp.exitCode !== 0
    if (isRefused) {
      const { code, message } = JSON.parse(setUp.stdout).error
      console.error(`${name} ${version}, ${setup.join(' ')}: ${code}: ${message}`)
      await repoint(...setup, '--yes', '--no-verify')
    }

    gateway.clearRequests()
    // A client that hands a tool's output back has answered.
    const tool = await shellTool(clients[name].tools(shellCommand), client)
    const answers = tool !== undefined || hasAnswered(await client('ping'))
    expectThat(isRefused ? 'refused rightly' : 'answers', answers !== isRefused)
    const asked = gateway.requests().filter(({ modelAsked }) => modelAsked !== undefined)
    const isServed = asked.length > 0 && asked.every(({ status }) => status === 200)

    const doctor = await repoint('doctor', setup[0])
    expectThat('doctor right', (doctor.exitCode === 0) === isServed)

    if (answers) expectThat('shell tool', tool !== undefined)

    await repoint('rollback', '--original', '--yes')
    expectThat('rolled back', filesIn(home, name) === before)
    return {
      client: name,
      version,
      setup: setup.join(' '),
      models: [...new Set(asked.map(({ modelAsked }) => modelAsked))].sort(),
      tool: tool ?? null,
      isRefused,
      failed,
    }
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The environment, in which the client is found first on PATH under the name that it has. */
export function homeFor(home, name, program) {
  const binFolder = join(home, 'bin')
  mkdirSync(binFolder)
  mkdirSync(join(home, 'work'))
  const quoted = program.map((word) => `'${word}'`).join(' ')
  writeFileSync(join(binFolder, name), `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 })
  return {
    PATH: [binFolder, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
    HOME: home,
    TERM: 'dumb',
    LANG: 'C.UTF-8',
  }
}

function hasAnswered(stdout) {
  return /\bpong\b/.test(stdout)
}

/** The name of the tool that runs a command for the model and hands its output back. */
async function shellTool(tools, client) {
  for (const [tool, input] of tools) {
    const said = await client(`#call ${tool} ${JSON.stringify(input)}`)
    if (said.includes(shellOutput)) return tool
  }
  return undefined
}

/** The client's configuration, to be compared. */
function filesIn(home, name) {
  const read = (path) => (existsSync(path) ? readFileSync(path, 'base64') : null)
  return JSON.stringify(clients[name].files.map((file) => read(join(home, file))))
}

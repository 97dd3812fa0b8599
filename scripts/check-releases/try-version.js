/** Sets up one version of a real client at the local gateway, uses it and rolls the setup back. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { execa } from 'execa'
import { clients } from '../real-clients.js'

const repointProgram = resolve('bin/repoint.js')

/** Only a shell prints this word: the prompt does not contain it. */
const shellCommand = 'printf "%s-%s" river stone'
const shellOutput = 'river-stone'

/** How long an unconfigured client may run, in ms. Codex would try longer to reach its own service. */
const unconfiguredTimeoutMs = 8_000

/** How long a client may run until it has written its own files, in ms. */
const firstFileTimeoutMs = 90_000

/**
 * Returns the models that the client requested, its shell tool, whether repoint refused the setup, and the
 * steps that failed. A refusal, which the client's own answer decides, is right if the client does not answer after
 * the setup either. The try of the setup is right if the client then answers, or fails, as it did.
 *
 * @param gateway a gateway that no other client uses
 * @param program the command that starts the client, as `programOf` returns it
 * @param startsUnconfigured also starts the client before its setup, when it must not answer
 */
export async function tryVersion({
  gateway,
  name,
  version,
  program,
  setup,
  startsUnconfigured = true,
}) {
  const home = mkdtempSync(join(tmpdir(), 'repoint-release-'))
  const env = homeFor(home, name, program)
  const repoint = (...args) =>
    execa(process.execPath, [repointProgram, ...args, '--json'], {
      env: { ...env, REPOINT_API_KEY: gateway.key, REPOINT_BASE_URL: gateway.url },
      extendEnv: false,
      cwd: join(home, 'work'),
      reject: false,
      timeout: 120_000,
    })
  const client = async (prompt, { timeout = 150_000, cancelSignal } = {}) => {
    const { stdout } = await execa(name, clients[name].run(prompt), {
      env: { ...env, ...clients[name].env },
      extendEnv: false,
      cwd: join(home, 'work'),
      reject: false,
      stdin: 'ignore',
      timeout,
      ...(cancelSignal && { cancelSignal }),
      forceKillAfterDelay: 500,
    })
    return stdout ?? ''
  }

  try {
    const failed = []
    const expectThat = (step, isTrue) => {
      if (!isTrue) failed.push(step)
    }

    if (startsUnconfigured) {
      const timeout = unconfiguredTimeoutMs
      expectThat('fails before', !hasAnswered(await client('ping', { timeout })))
    }
    // Otherwise its own first file would look like ours. A busy machine needs longer than the start above.
    if (startsUnconfigured && clients[name].writesFiles && !hasFiles(home, name)) {
      // Cline retries for 70 s after it has written the file (3.0.65, 2026-11-27).
      const stopped = new AbortController()
      const watch = setInterval(() => {
        // It may still be writing the file.
        if (hasFiles(home, name)) setTimeout(() => stopped.abort(), 1_000)
      }, 500)
      await client('ping', { timeout: firstFileTimeoutMs, cancelSignal: stopped.signal })
      clearInterval(watch)
    }
    const before = filesIn(home, name)
    const setUp = await repoint(...setup, '--yes', '--try-client')
    const { tried, error } = JSON.parse(setUp.stdout)
    const isRefused = setUp.exitCode !== 0 && error.code !== 'client-failed'
    if (isRefused) {
      const { code, message } = error
      console.error(`${name} ${version}, ${setup.join(' ')}: ${code}: ${message}`)
      await repoint(...setup, '--yes', '--no-verify')
    }

    gateway.clearRequests()
    // A client that sends the output of a tool back has answered.
    const tool = await shellTool(clients[name].tools(shellCommand), client)
    const answers = tool !== undefined || hasAnswered(await client('ping'))
    expectThat(isRefused ? 'refused rightly' : 'answers', answers !== isRefused)
    if (!isRefused) expectThat('try right', tried[0].ok === answers)
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

/** Makes a home whose `bin` has the client, and returns an environment with that `bin` first in PATH. */
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

/** The name of the tool that runs a command for the model and returns its output. */
async function shellTool(tools, client) {
  for (const [tool, input] of tools) {
    const output = await client(`#call ${tool} ${JSON.stringify(input)}`)
    if (output.includes(shellOutput)) return tool
  }
  return undefined
}

function hasFiles(home, name) {
  return clients[name].files.every((file) => existsSync(join(home, file)))
}

/** The contents of the client's files as one text, for a comparison. */
function filesIn(home, name) {
  const read = (path) => (existsSync(path) ? readFileSync(path, 'base64') : null)
  return JSON.stringify(clients[name].files.map((file) => read(join(home, file))))
}

import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { UserError } from '../../errors.ts'
import { readScenario, type Scenario } from './scenario.ts'
import { maxYamlBytes, readYaml } from './yaml.ts'

/** How often the file is looked at, in ms. Looking by time also sees editors that replace it. */
const lookEveryMs = 250

/** @throws UserError `config-invalid`, with line and column where it can be read */
function readScenarioFile(path: string): Scenario {
  let text: string
  try {
    if (statSync(path).size > maxYamlBytes) throw new Error('it is larger than 4 MiB')
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new UserError({
      code: 'config-invalid',
      message: `Cannot read the scenario ${path}: ${(error as Error).message}`,
      hint: 'Check the path and its permissions.',
      cause: error,
    })
  }

  return readYaml(text, basename(path), readScenario)
}

/** What tells one state of a file from the next; that of a file that is gone is a state too. */
function fingerprintOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    return 'gone'
  }
}

/**
 * Reads a file and reads it again whenever it changes: hands over what it says, or what is wrong with
 * it. Returns the way to stop. Does not keep the process alive.
 *
 * @throws UserError `config-invalid` where it is wrong from the start
 */
export function followScenarioFile(
  path: string,
  onRead: (scenario: Scenario) => void,
  onChange: (problem?: string) => void,
): () => void {
  let seen = fingerprintOf(path)
  onRead(readScenarioFile(path))

  const look = () => {
    const state = fingerprintOf(path)
    if (state === seen) return
    seen = state
    try {
      onRead(readScenarioFile(path))
      onChange()
    } catch (error) {
      // A file that is wrong for a moment leaves the last good one in force.
      if (!(error instanceof UserError)) throw error
      onChange(error.message)
    }
  }

  const timer = setInterval(look, lookEveryMs).unref()
  return () => clearInterval(timer)
}

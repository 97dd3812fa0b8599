import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { UserError } from '../../errors.ts'
import { readScenario, type Scenario } from './scenario.ts'
import { maxYamlBytes, readYaml } from './yaml.ts'

/** How often the file is looked at, in ms. Looking by time also sees editors that replace it. */
const lookEveryMs = 250

/**
 * @throws UserError `config-invalid`, with line and column where it can be read
 */
export function readScenarioFile(path: string): Scenario {
  return readYaml(fileText(path), basename(path), readScenario)
}

function fileText(path: string): string {
  try {
    if (statSync(path).size > maxYamlBytes) throw new Error('it is larger than 4 MiB')
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UserError({
      code: 'config-invalid',
      message: `Cannot read the scenario ${path}: ${(error as Error).message}`,
      hint: 'Check the path and its permissions.',
      cause: error,
    })
  }
}

/** What tells one state of a file from the next; that of a file that is gone is a state too. */
export function fingerprintOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    return 'gone'
  }
}

/**
 * Reads the file again whenever it changes and hands over what it says, or what is wrong with it.
 * Returns the way to stop. Does not keep the process alive.
 *
 * @param known its state before it was read
 */
export function watchScenarioFile(
  path: string,
  known: string,
  onChange: (result: Scenario | UserError) => void,
): () => void {
  let seen = known
  const look = () => {
    const state = fingerprintOf(path)
    if (state === seen) return
    seen = state
    onChange(readAgain())
  }

  function readAgain(): Scenario | UserError {
    try {
      return readScenarioFile(path)
    } catch (error) {
      if (error instanceof UserError) return error
      throw error
    }
  }

  const timer = setInterval(look, lookEveryMs).unref()
  return () => clearInterval(timer)
}

import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { UserError } from '../../errors.ts'
import { maxYamlBytes, readYaml } from '../settings/yaml.ts'
import { readScenario, type Scenario } from './scenario.ts'

/** @throws UserError `config-invalid`, with line and column if the file can be read */
export function readScenarioFile(path: string): Scenario {
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

import type { KeyChange } from '../edits/plan.ts'
import type { Machine } from '../platform/platform.ts'
import type { Obstacle, ObstacleContext } from './client.ts'
import { exportedVariables } from './shell-profiles.ts'

/** A variable that defeats a setup. */
export interface DefeatingVariable {
  readonly name: string
  readonly code: string
  /** What the client does with it, as the end of a sentence. */
  readonly effect: string
  readonly weight: Obstacle['weight']
  /** The role of the file and the change that takes its effect away, where there is one. */
  readonly repair?: { readonly role: string; readonly change: KeyChange }
}

/**
 * One obstacle for each variable that is set now, and one for each line of a shell profile that will
 * set it in the next shell.
 */
export function variableObstacles(
  machine: Machine,
  context: ObstacleContext,
  variables: readonly DefeatingVariable[],
): readonly Obstacle[] {
  const profiles = context.shellProfiles.map(({ path, text }) => ({
    path,
    exported: exportedVariables(path, text),
  }))
  return variables.flatMap((variable): Obstacle[] => {
    const { name, code, effect, weight } = variable
    const repair = variable.repair && {
      repair: { role: variable.repair.role, changes: [variable.repair.change] },
    }
    const lines = profiles.flatMap(({ path, exported }) =>
      exported.filter((found) => found.name === name).map((found) => `${path}:${found.line}`),
    )
    const fromLines = lines.map(
      (place): Obstacle => ({
        code,
        message: `${name} is exported in a shell profile: ${effect}`,
        place,
        cure: 'Remove the line and open a new terminal.',
        weight,
        ...repair,
      }),
    )
    if (!machine.env[name]) return fromLines
    const here: Obstacle = {
      code,
      message: `${name} is set in this environment: ${effect}`,
      place: 'environment',
      cure: lines.length === 0 ? unsetCommand(machine, name) : `\`${unsetOf(machine, name)}\``,
      weight,
      ...repair,
    }
    return [here, ...fromLines]
  })
}

/** How to be rid of a variable that no shell profile is seen to set. */
export function unsetCommand(machine: Machine, name: string): string {
  return `\`${unsetOf(machine, name)}\`, and find what sets it.`
}

function unsetOf(machine: Machine, name: string): string {
  return machine.os === 'win32' ? `Remove-Item Env:${name}` : `unset ${name}`
}

/** Whether a variable is set now or in the next shell. */
export function isExported(machine: Machine, context: ObstacleContext, name: string): boolean {
  return (
    Boolean(machine.env[name]) ||
    context.shellProfiles.some(({ path, text }) =>
      exportedVariables(path, text).some((found) => found.name === name),
    )
  )
}

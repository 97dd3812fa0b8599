import type { Command } from 'commander'
import { bashScript } from './completion/bash.ts'
import { fishScript } from './completion/fish.ts'
import { powershellScript } from './completion/powershell.ts'
import { completedCommands, programFlags } from './completion/words.ts'
import { zshScript } from './completion/zsh.ts'
import { rememberedModels } from './model-cache.ts'
import type { Session } from './screen/session.ts'

const scripts = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
} as const

export type Shell = keyof typeof scripts

/** Prints the script that completes repoint's command line in `shell`. Returns the exit status. */
export function completion(session: Session, program: Command, shell: Shell): number {
  session.platform.terminal.out(scripts[shell](completedCommands(program), programFlags(program)))
  return 0
}

/** Prints what the scripts complete a model with. */
export function printRememberedModels(session: Session): number {
  for (const id of rememberedModels(session.platform)) session.say(id)
  return 0
}

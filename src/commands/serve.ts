import { commandOf } from './command-line/command.ts'
import { define } from './serve/flags.ts'

export const command = commandOf(define, async (session, words, flags) => {
  const { runLocalGateway } = await import('./serve/local-gateway.ts')
  return runLocalGateway(session, words, flags)
})

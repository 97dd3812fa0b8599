import { claude, claudeGpt } from './claude/claude.ts'
import type { Client, ClientId } from './client.ts'
import { codex } from './codex/codex.ts'
import { opencode } from './opencode/opencode.ts'

/** Every client, in the order in which they are offered. */
export const clients: readonly Client[] = [codex, claude, claudeGpt, opencode]

export function clientById(id: string): Client {
  const client = clients.find((one) => one.id === id)
  if (client === undefined) throw new Error(`there is no client ${id}`)
  return client
}

/** The ids of the clients that share files with `id`, to be looked up in what a record names. */
export function familyIds(id: ClientId): readonly string[] {
  const { family } = clientById(id)
  return clients.filter((client) => client.family === family).map((client) => client.id)
}

import type { ClientName } from '../contract/client.ts'

export const claudeName: ClientName = { id: 'claude', family: 'claude', label: 'Claude Code' }

export const claudeGptName: ClientName = {
  id: 'claude-gpt',
  family: 'claude',
  label: 'Claude Code with GPT models',
}

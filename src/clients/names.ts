import type { ClientName } from './contract/client.ts'

// The start of repoint loads this file, so it is small.

export const codexName: ClientName = { id: 'codex', family: 'codex', label: 'Codex' }

export const claudeName: ClientName = { id: 'claude', family: 'claude', label: 'Claude Code' }

export const claudeGptName: ClientName = {
  id: 'claude-gpt',
  family: 'claude',
  label: 'Claude Code with GPT models',
}

export const opencodeName: ClientName = { id: 'opencode', family: 'opencode', label: 'opencode' }

export const kiloName: ClientName = { id: 'kilo', family: 'kilo', label: 'Kilo' }

export const piName: ClientName = { id: 'pi', family: 'pi', label: 'pi' }

export const openclawName: ClientName = { id: 'openclaw', family: 'openclaw', label: 'OpenClaw' }

export const qwenName: ClientName = { id: 'qwen', family: 'qwen', label: 'Qwen Code' }

export const droidName: ClientName = { id: 'droid', family: 'droid', label: 'Factory droid' }

export const clineName: ClientName = { id: 'cline', family: 'cline', label: 'Cline' }

export const copilotName: ClientName = {
  id: 'copilot',
  family: 'copilot',
  label: 'GitHub Copilot CLI',
}

export const kimiName: ClientName = { id: 'kimi', family: 'kimi', label: 'Kimi Code' }

export const grokName: ClientName = { id: 'grok', family: 'grok', label: 'Grok Build' }

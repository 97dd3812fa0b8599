import type { ClientName } from '../contract/client.ts'

export const codexName: ClientName = { id: 'codex', family: 'codex', label: 'Codex' }

import type { ClientName } from '../contract/client.ts'

export const opencodeName: ClientName = { id: 'opencode', family: 'opencode', label: 'opencode' }

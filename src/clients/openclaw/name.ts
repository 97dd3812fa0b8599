import type { ClientName } from '../contract/client.ts'

export const openclawName: ClientName = { id: 'openclaw', family: 'openclaw', label: 'OpenClaw' }

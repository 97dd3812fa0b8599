import type { ClientName } from '../contract/client.ts'

export const kiloName: ClientName = { id: 'kilo', family: 'kilo', label: 'Kilo' }

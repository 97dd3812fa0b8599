import type { ClientName } from '../contract/client.ts'

export const droidName: ClientName = { id: 'droid', family: 'droid', label: 'Factory droid' }

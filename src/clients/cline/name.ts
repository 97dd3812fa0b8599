import type { ClientName } from '../contract/client.ts'

export const clineName: ClientName = { id: 'cline', family: 'cline', label: 'Cline' }

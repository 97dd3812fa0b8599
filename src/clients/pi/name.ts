import type { ClientName } from '../contract/client.ts'

export const piName: ClientName = { id: 'pi', family: 'pi', label: 'pi' }

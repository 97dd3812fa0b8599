import type { ClientName } from '../contract/client.ts'

export const qwenName: ClientName = { id: 'qwen', family: 'qwen', label: 'Qwen Code' }

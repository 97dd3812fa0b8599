import type { ClientName } from '../contract/client.ts'

export const copilotName: ClientName = {
  id: 'copilot',
  family: 'copilot',
  label: 'GitHub Copilot CLI',
}

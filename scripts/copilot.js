/** Starts GitHub Copilot CLI, which repoint does not set up: only its environment names the gateway. */
import { join } from 'node:path'
import { modulesOf } from './install.js'

export const copilot = {
  versions: ['1.0.102'],
  program: () => [join(modulesOf('copilot'), 'copilot', 'copilot')],
  start: (text, { protocol, model, url, key }) => ({
    args: ['-p', text],
    env: {
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: key,
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_WIRE_API: protocol === 'chat' ? 'completions' : protocol,
      COPILOT_MODEL: model,
    },
  }),
}

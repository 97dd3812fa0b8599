import { UserError } from '../errors.ts'
import type { ClientFamily } from './client.ts'

/**
 * Provider ids that mean something to the client already.
 *
 * Codex does not start with a table of such a name (0.169.0, 2026-11-21). opencode mixes what it
 * ships under the id with what is written there: its models, its variables for keys. Of the 225 ids
 * that 1.18.33 ships (2026-11-21) these are the ones that someone may think of.
 */
export const reservedProviderIds: Readonly<Record<ClientFamily, readonly string[]>> = {
  codex: ['openai', 'ollama', 'lmstudio', 'amazon-bedrock'],
  claude: [],
  opencode: [
    'alibaba',
    'amazon-bedrock',
    'anthropic',
    'azure',
    'azure-cognitive-services',
    'baseten',
    'cerebras',
    'chutes',
    'cloudflare-ai-gateway',
    'cloudflare-workers-ai',
    'cohere',
    'databricks',
    'deepinfra',
    'deepseek',
    'digitalocean',
    'fireworks-ai',
    'github-copilot',
    'gitlab',
    'google',
    'google-vertex',
    'google-vertex-anthropic',
    'groq',
    'helicone',
    'huggingface',
    'llama',
    'lmstudio',
    'meta',
    'minimax',
    'mistral',
    'modelscope',
    'moonshotai',
    'nebius',
    'nvidia',
    'ollama-cloud',
    'openai',
    'opencode',
    'opencode-go',
    'openrouter',
    'perplexity',
    'requesty',
    'scaleway',
    'siliconflow',
    'snowflake-cortex',
    'togetherai',
    'v0',
    'venice',
    'vercel',
    'volcengine',
    'wandb',
    'watsonx',
    'xai',
    'zai',
    'zhipuai',
  ],
}

export function isReserved(client: ClientFamily, id: string): boolean {
  return reservedProviderIds[client].includes(id)
}

/**
 * Whether a provider can be set up under an id. A slash would end the id early in opencode's
 * `provider/model`; a dot makes a path of it in error messages and in `-c` of Codex. Pure.
 *
 * @throws UserError `usage`
 */
export function checkProviderId(client: ClientFamily, id: string): void {
  const refuse = (why: string) =>
    new UserError({
      code: 'usage',
      message: `${JSON.stringify(id)} cannot be the provider's id: ${why}`,
      hint: 'Choose another with --provider-id, or leave it out: the default is "gateway".',
    })
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(id))
    throw refuse('only letters, digits, "-" and "_" may stand in it, the first a letter or a digit')
  if (isReserved(client, id))
    throw refuse(`${client === 'codex' ? 'Codex' : client} has a provider of that name built in`)
}

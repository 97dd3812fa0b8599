import type { SensitiveSettings } from '../contract/config.ts'

const tried = '2.1.197 to 2.1.330, 2026-11-23'
/** The program of 2.1.330 contains the name. */
const read = 'read in 2.1.330, 2026-11-23'

/** The program of 2.1.331 contains the name. */
const named = 'read in 2.1.331, 2026-11-24'

const user = ['settings']
/** Files that override the user's own. */
const stronger = ['project', 'managed']
const all = [...user, ...stronger]
const folder = ['project']
const agents = ['project-agent']

export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'settings',
  rows: [
    { path: 'env.ANTHROPIC_BASE_URL', role: 'address', fileKinds: all, source: tried },
    // Those of Vertex and Bedrock were tried; those of Foundry, Mantle, AWS and Google Cloud are in the
    // program.
    { path: 'env.ANTHROPIC_*_URL', role: 'address', fileKinds: stronger, source: tried },
    { path: 'env.CLAUDE_CODE_*_URL', role: 'address', fileKinds: folder, source: read },
    { path: 'env.ANTHROPIC_*_RESOURCE', role: 'address', fileKinds: folder, source: read },
    { path: 'env.ANTHROPIC_*_HOST', role: 'address', fileKinds: folder, source: read },
    { path: 'env.ANTHROPIC_UNIX_SOCKET', role: 'address', fileKinds: folder, source: read },
    { path: 'env.ANTHROPIC_AUTH_TOKEN', role: 'key', fileKinds: all, source: tried },
    { path: 'env.ANTHROPIC_API_KEY', role: 'key', fileKinds: all, source: tried },
    { path: 'env.ANTHROPIC_CUSTOM_HEADERS', role: 'key', fileKinds: all, source: tried },
    { path: 'env.CLAUDE_CODE_*_TOKEN', role: 'key', fileKinds: folder, source: read },
    { path: 'apiKeyHelper', role: 'key', fileKinds: all, source: tried },
    { path: 'env.CLAUDE_CODE_USE_BEDROCK', role: 'provider', fileKinds: stronger, source: tried },
    { path: 'env.CLAUDE_CODE_USE_VERTEX', role: 'provider', fileKinds: stronger, source: tried },
    { path: 'env.CLAUDE_CODE_USE_FOUNDRY', role: 'provider', fileKinds: stronger, source: tried },
    { path: 'env.CLAUDE_CODE_USE_MANTLE', role: 'provider', fileKinds: stronger, source: tried },
    {
      path: 'env.CLAUDE_CODE_USE_ANTHROPIC_*',
      role: 'provider',
      fileKinds: stronger,
      source: tried,
    },
    { path: 'env.CLAUDE_CODE_USE_GATEWAY', role: 'provider', fileKinds: stronger, source: tried },
    { path: 'env.*HTTP*_PROXY', role: 'proxy', fileKinds: folder, source: tried },
    { path: 'env.ALL_PROXY', role: 'proxy', fileKinds: folder, source: read },
    { path: 'env.CLAUDE_CODE_PROXY_HOST', role: 'proxy', fileKinds: folder, source: read },
    { path: 'env.NODE_TLS_REJECT_UNAUTHORIZED', role: 'trust', fileKinds: folder, source: tried },
    { path: 'env.NODE_EXTRA_CA_CERTS', role: 'trust', fileKinds: folder, source: tried },
    { path: 'env.SSL_CERT_*', role: 'trust', fileKinds: folder, source: read },
    { path: 'env.CLAUDE_CODE_CLIENT_*', role: 'trust', fileKinds: folder, source: read },
    { path: 'env.ANTHROPIC_*MODEL', role: 'model', fileKinds: all, source: tried },
    { path: 'env.CLAUDE_CODE_SUBAGENT_MODEL', role: 'model', fileKinds: all, source: tried },
    {
      path: 'env.ANTHROPIC_CUSTOM_MODEL_OPTION*',
      role: 'model',
      fileKinds: [...user, ...folder],
      source: named,
    },
    {
      path: 'env.CLAUDE_CODE_MODEL_CATALOG*',
      role: 'model',
      fileKinds: [...user, ...folder],
      source: named,
    },
    {
      path: 'env.CLAUDE_CODE_SUBAGENT_MODEL_FORCE',
      role: 'model',
      fileKinds: all,
      source: named,
    },
    { path: 'env.CLAUDE_CODE_AUTO_MODE_MODEL', role: 'model', fileKinds: all, source: named },
    { path: 'model', role: 'model', fileKinds: [...all, ...agents], source: tried },
    {
      path: 'env.CLAUDE_CODE_ENABLE_PROXY_AUTH_HELPER',
      role: 'proxy',
      fileKinds: folder,
      source: named,
    },
    { path: 'proxyAuthHelper', role: 'proxy', fileKinds: folder, source: named },
  ],
}

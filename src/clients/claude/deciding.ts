import type { DecidingTable } from '../client.ts'

const run = '2.1.197 to 2.1.330, 2026-11-23'
/** Named in the program of 2.1.330. */
const read = 'read in 2.1.330, 2026-11-23'

/** Named in the program of 2.1.331. */
const named = 'read in 2.1.331, 2026-11-24'

const own = ['settings', 'project', 'managed']
const others = ['project', 'managed']
const folder = ['project']
const agents = ['project-agent']

export const deciding: DecidingTable = {
  called: 'settings',
  rows: [
    { at: 'env.ANTHROPIC_BASE_URL', decides: 'address', layers: own, seen: run },
    // Of Vertex and Bedrock run; those of Foundry, Mantle, AWS and Google Cloud as the program has them.
    { at: 'env.ANTHROPIC_*_URL', decides: 'address', layers: others, seen: run },
    { at: 'env.CLAUDE_CODE_*_URL', decides: 'address', layers: folder, seen: read },
    { at: 'env.ANTHROPIC_*_RESOURCE', decides: 'address', layers: folder, seen: read },
    { at: 'env.ANTHROPIC_*_HOST', decides: 'address', layers: folder, seen: read },
    { at: 'env.ANTHROPIC_UNIX_SOCKET', decides: 'address', layers: folder, seen: read },
    { at: 'env.ANTHROPIC_AUTH_TOKEN', decides: 'key', layers: own, seen: run },
    { at: 'env.ANTHROPIC_API_KEY', decides: 'key', layers: own, seen: run },
    { at: 'env.ANTHROPIC_CUSTOM_HEADERS', decides: 'key', layers: own, seen: run },
    { at: 'env.CLAUDE_CODE_*_TOKEN', decides: 'key', layers: folder, seen: read },
    { at: 'apiKeyHelper', decides: 'key', layers: own, seen: run },
    { at: 'env.CLAUDE_CODE_USE_BEDROCK', decides: 'provider', layers: others, seen: run },
    { at: 'env.CLAUDE_CODE_USE_VERTEX', decides: 'provider', layers: others, seen: run },
    { at: 'env.CLAUDE_CODE_USE_FOUNDRY', decides: 'provider', layers: others, seen: run },
    { at: 'env.CLAUDE_CODE_USE_MANTLE', decides: 'provider', layers: others, seen: run },
    { at: 'env.CLAUDE_CODE_USE_ANTHROPIC_*', decides: 'provider', layers: others, seen: run },
    { at: 'env.CLAUDE_CODE_USE_GATEWAY', decides: 'provider', layers: others, seen: run },
    { at: 'env.*HTTP*_PROXY', decides: 'proxy', layers: folder, seen: run },
    { at: 'env.ALL_PROXY', decides: 'proxy', layers: folder, seen: read },
    { at: 'env.CLAUDE_CODE_PROXY_HOST', decides: 'proxy', layers: folder, seen: read },
    { at: 'env.NODE_TLS_REJECT_UNAUTHORIZED', decides: 'trust', layers: folder, seen: run },
    { at: 'env.NODE_EXTRA_CA_CERTS', decides: 'trust', layers: folder, seen: run },
    { at: 'env.SSL_CERT_*', decides: 'trust', layers: folder, seen: read },
    { at: 'env.CLAUDE_CODE_CLIENT_*', decides: 'trust', layers: folder, seen: read },
    { at: 'env.ANTHROPIC_*MODEL', decides: 'model', layers: others, seen: run },
    { at: 'env.CLAUDE_CODE_SUBAGENT_MODEL', decides: 'model', layers: others, seen: run },
    { at: 'env.ANTHROPIC_CUSTOM_MODEL_OPTION*', decides: 'model', layers: folder, seen: named },
    { at: 'env.CLAUDE_CODE_MODEL_CATALOG*', decides: 'model', layers: folder, seen: named },
    { at: 'env.CLAUDE_CODE_SUBAGENT_MODEL_FORCE', decides: 'model', layers: others, seen: named },
    { at: 'env.CLAUDE_CODE_AUTO_MODE_MODEL', decides: 'model', layers: others, seen: named },
    { at: 'model', decides: 'model', layers: [...others, ...agents], seen: run },
    {
      at: 'env.CLAUDE_CODE_ENABLE_PROXY_AUTH_HELPER',
      decides: 'proxy',
      layers: folder,
      seen: named,
    },
    { at: 'proxyAuthHelper', decides: 'proxy', layers: folder, seen: named },
  ],
}

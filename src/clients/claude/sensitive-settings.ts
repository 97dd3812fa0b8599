import type { SensitiveSettings } from '../contract/config.ts'
import { serviceAddresses, serviceSwitches } from './settings.ts'

const tried = '2.1.197 to 2.1.330, 2026-11-23'
/** The program of 2.1.330 contains the name. */
const read = { source: 'read in 2.1.330, 2026-11-23', isUntested: true } as const

/** The program of 2.1.331 contains the name. */
const named = { source: 'read in 2.1.331, 2026-11-24', isUntested: true } as const

const user = ['settings']
/** Files that override the user's own. */
const stronger = ['project', 'managed']
const all = [...user, ...stronger]
const folder = ['project']
const agents = ['project-agent']

// In a project none of 52 variables `*_URL` sends a request elsewhere without a provider switch, nor do
// CLAUDE_CODE_HTTP_PROXY, _HTTPS_PROXY, _PROXY_URL and ANTHROPIC_UNIX_SOCKET (2.1.332, 2026-11-28).
export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'settings',
  rows: [
    {
      path: 'env.ANTHROPIC_BASE_URL',
      role: 'address',
      fileKinds: all,
      setByRun: true,
      source: tried,
    },
    // Without the switches of the services, which `repoint run` turns off, they have no effect (2.1.330, 2026-11-28).
    ...serviceAddresses.map((name) => ({
      path: `env.${name}`,
      role: 'address' as const,
      fileKinds: stronger,
      setByRun: true as const,
      source: tried,
    })),
    { path: 'env.ANTHROPIC_*_URL', role: 'address', fileKinds: stronger, source: tried },
    { path: 'env.ANTHROPIC_*_RESOURCE', role: 'address', fileKinds: folder, ...read },
    { path: 'env.ANTHROPIC_*_HOST', role: 'address', fileKinds: folder, ...read },
    {
      path: 'env.ANTHROPIC_AUTH_TOKEN',
      role: 'key',
      fileKinds: all,
      setByRun: true,
      source: tried,
    },
    { path: 'env.ANTHROPIC_API_KEY', role: 'key', fileKinds: all, setByRun: true, source: tried },
    {
      path: 'env.ANTHROPIC_CUSTOM_HEADERS',
      role: 'key',
      fileKinds: all,
      setByRun: true,
      source: tried,
    },
    { path: 'env.CLAUDE_CODE_*_TOKEN', role: 'key', fileKinds: folder, ...read },
    { path: 'apiKeyHelper', role: 'key', fileKinds: all, setByRun: true, source: tried },
    ...serviceSwitches.map((name) => ({
      path: `env.${name}`,
      role: 'provider' as const,
      fileKinds: stronger,
      setByRun: true as const,
      source: tried,
    })),
    {
      path: 'env.CLAUDE_CODE_USE_ANTHROPIC_*',
      role: 'provider',
      fileKinds: stronger,
      source: tried,
    },
    { path: 'env.*HTTP*_PROXY', role: 'proxy', fileKinds: folder, source: tried },
    { path: 'env.ALL_PROXY', role: 'proxy', fileKinds: folder, ...read },
    { path: 'env.CLAUDE_CODE_PROXY_HOST', role: 'proxy', fileKinds: folder, ...read },
    { path: 'env.NODE_TLS_REJECT_UNAUTHORIZED', role: 'trust', fileKinds: folder, source: tried },
    { path: 'env.NODE_EXTRA_CA_CERTS', role: 'trust', fileKinds: folder, source: tried },
    { path: 'env.SSL_CERT_*', role: 'trust', fileKinds: folder, ...read },
    { path: 'env.CLAUDE_CODE_CLIENT_*', role: 'trust', fileKinds: folder, ...read },
    { path: 'env.ANTHROPIC_*MODEL', role: 'model', fileKinds: all, source: tried },
    { path: 'env.CLAUDE_CODE_SUBAGENT_MODEL', role: 'model', fileKinds: all, source: tried },
    {
      path: 'env.ANTHROPIC_CUSTOM_MODEL_OPTION*',
      role: 'model',
      fileKinds: [...user, ...folder],
      ...named,
    },
    {
      path: 'env.CLAUDE_CODE_MODEL_CATALOG*',
      role: 'model',
      fileKinds: [...user, ...folder],
      ...named,
    },
    {
      path: 'env.CLAUDE_CODE_SUBAGENT_MODEL_FORCE',
      role: 'model',
      fileKinds: all,
      ...named,
    },
    { path: 'env.CLAUDE_CODE_AUTO_MODE_MODEL', role: 'model', fileKinds: all, ...named },
    { path: 'model', role: 'model', fileKinds: [...all, ...agents], source: tried },
    {
      path: 'env.CLAUDE_CODE_ENABLE_PROXY_AUTH_HELPER',
      role: 'proxy',
      fileKinds: folder,
      ...named,
    },
    { path: 'proxyAuthHelper', role: 'proxy', fileKinds: folder, ...named },
  ],
}

/** Configurations for a gateway as other tools and people write them. */

/** The key of these gateways. */
export const foreignKey = 'sk-canary-of-another-tool-7c1e9b'

/** A file whose lines that begin with `-` point the client at a gateway. */
type MarkedFiles = Readonly<Record<string, string>>

/** By family. In each file of this home, `repoint off` removes the marked lines and no other byte. */
const marked: Readonly<Record<string, MarkedFiles>> = {
  codex: {
    '.codex/config.toml': `# Mine.
-model = "gpt-5.5-codex" # by cc-switch
-model_provider = "ccswitch"
-model_context_window = 1000000
-forced_login_method = "api"
model_reasoning_effort = "high"
approval_policy = "never" # keep

[mcp_servers.files]
command = "true"

-[model_providers.ccswitch]
-name = "CC Switch"
-base_url = "http://127.0.0.1:15721/v1"
-wire_api = "responses"
-requires_openai_auth = true

[model_providers.local]   # for the train
name = "Local"
base_url = "http://127.0.0.1:9/v1"
`,
    '.codex/auth.json': `-{"OPENAI_API_KEY":"${foreignKey}","tokens":null}\n`,
  },
  claude: {
    '.claude/settings.json': `{
  "permissions": { "defaultMode": "default", "disableAutoMode": "disable" },
  "env": {
-    "ANTHROPIC_BASE_URL": "http://127.0.0.1:3456",
-    "ANTHROPIC_AUTH_TOKEN": "${foreignKey}",
-    "ANTHROPIC_MODEL": "deepseek-v4",
-    "ANTHROPIC_SMALL_FAST_MODEL": "deepseek-v4-flash",
-    "ANTHROPIC_DEFAULT_OPUS_MODEL": "deepseek-v4",
-    "ANTHROPIC_DEFAULT_OPUS_MODEL_NAME": "DeepSeek",
-    "CLAUDE_CODE_SUBAGENT_MODEL": "deepseek-v4-flash",
-    "CLAUDE_CODE_MAX_CONTEXT_TOKENS": "128000",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "MINE": "1"
  },
  "model": "opus",
  "n": 12345678901234567890
}
`,
  },
  opencode: {
    '.config/opencode/opencode.jsonc': `{
  // Mine.
-  "model": "packy/gpt-5.5",
-  "small_model": "packy/gpt-5.4-mini",
  "agent": {
    "plan": {
-      "model": "packy/gpt-5.5",
      "temperature": 0.1,
    },
    "write": { "model": "anthropic/claude-sonnet-5" },
  },
  "provider": {
-    "packy": {
-      "npm": "@ai-sdk/openai-compatible",
-      "options": { "baseURL": "https://packy.example/v1", "apiKey": "${foreignKey}" },
-      "models": { "gpt-5.5": {}, "gpt-5.4-mini": {} },
-    },
    "local": { "options": { "baseURL": "http://127.0.0.1:9/v1" } }, /* keep */
  },
}
`,
    '.local/share/opencode/auth.json': `{
-  "packy": { "type": "api", "key": "${foreignKey}" },
  "anthropic": { "type": "oauth", "refresh": "sk-users-own-login-1" }
}
`,
  },
  kilo: {
    '.config/kilo/kilo.jsonc': `{
-  "model": "packy/gpt-5.5",
  "permission": { "bash": "ask" }, // keep
  "provider": {
-    "packy": {
-      "npm": "@ai-sdk/openai-compatible",
-      "options": { "baseURL": "https://packy.example/v1" },
-      "models": { "gpt-5.5": {} },
-    },
  },
}
`,
    '.local/share/kilo/auth.json': `{
-  "packy": { "type": "api", "key": "${foreignKey}" },
  "kilo": { "type": "oauth", "refresh": "sk-users-own-login-2" }
}
`,
  },
  pi: {
    '.pi/agent/models.json': `{
  "providers": {
-    "packy": {
-      "baseUrl": "https://packy.example/v1",
-      "api": "openai-completions",
-      "apiKey": "${foreignKey}",
-      "models": [{ "id": "gpt-5.5" }]
-    },
    "ollama": { "baseUrl": "http://localhost:11434/v1", "api": "openai-completions", "apiKey": "ollama", "models": [{ "id": "qwen" }] }
  }
}
`,
    '.pi/agent/settings.json': `{
-  "defaultProvider": "packy",
-  "defaultModel": "gpt-5.5",
  "theme": "dark"
}
`,
    '.pi/agent/auth.json': `{
-  "packy": { "type": "api_key", "key": "${foreignKey}" },
  "anthropic": { "type": "oauth", "refresh": "sk-users-own-login-3" }
}
`,
  },
  openclaw: {
    '.openclaw/openclaw.json': `// Mine.
{
  models: {
    providers: {
-      packy: {
-        baseUrl: 'https://packy.example/v1',
-        api: 'openai-completions',
-        apiKey: '${foreignKey}',
-        models: [{ id: 'gpt-5.5', name: 'GPT' }],
-      },
      ollama: { baseUrl: 'http://127.0.0.1:11434/v1', models: [] },
    },
  },
  agents: {
    defaults: {
-      model: { primary: 'packy/gpt-5.5' },
      maxConcurrent: 4, // keep
    },
  },
}
`,
  },
  qwen: {
    '.qwen/settings.json': `{
  "$version": 4,
  "env": {
-    "PACKY_KEY": "${foreignKey}",
    "MINE": "1"
  },
  "modelProviders": {
    "openai": [
-      { "id": "qwen4-coder", "name": "Packy", "baseUrl": "https://packy.example/v1", "envKey": "PACKY_KEY" },
-      { "id": "glm-5", "name": "Packy too", "baseUrl": "https://packy.example/v1", "envKey": "PACKY_KEY" },
      { "id": "qwen4-coder", "name": "At home", "baseUrl": "http://127.0.0.1:11434/v1", "envKey": "HOME_KEY" }
    ]
  },
  "security": {
    "auth": {
-      "selectedType": "openai",
      "useExternal": false
    }
  },
  "model": {
-    "name": "qwen4-coder",
    "enableOpenAILogging": false
  },
  "general": { "vimMode": true } // keep
}
`,
  },
  droid: {
    '.factory/settings.json': `{
  // as I like it
  "diffMode": "unified",
  "customModels": [
-    { "model": "gpt-5.5", "displayName": "Packy", "baseUrl": "https://packy.example/v1", "apiKey": "${foreignKey}", "provider": "generic-chat-completion-api" },
-    { "model": "glm-5", "displayName": "Packy too", "baseUrl": "https://packy.example/v1", "apiKey": "${foreignKey}", "provider": "generic-chat-completion-api" },
    { "model": "gpt-5.5", "displayName": "At home", "baseUrl": "http://127.0.0.1:11434/v1", "apiKey": "none", "provider": "generic-chat-completion-api" }
  ],
  "sessionDefaultSettings": {
-    "model": "custom:Packy-0",
    "autonomyMode": "normal"
  }
}
`,
  },
  cline: {
    '.cline/data/settings/providers.json': `{
  "version": 1,
-  "lastUsedProvider": "openai-compatible",
  "modes": {},
  "providers": {
-    "openai-compatible": {
-      "settings": { "provider": "openai-compatible", "apiKey": "${foreignKey}", "model": "gpt-5.5", "baseUrl": "https://packy.example/v1" },
-      "updatedAt": "2026-09-02T09:25:03.046Z",
-      "tokenSource": "manual"
-    },
    "ollama": { "settings": { "provider": "ollama" }, "updatedAt": "2026-08-24T14:48:17.466Z", "tokenSource": "manual" }
  }
}
`,
  },
  kimi: {
    '.kimi-code/config.toml': `# as I like it
-default_model = "packy/gpt-5.5"
default_permission_mode = "auto"

-[providers.packy]
-type = "openai"
-base_url = "https://packy.example/v1"
-api_key = "${foreignKey}"

-[models."packy/gpt-5.5"]
-provider = "packy"
-model = "gpt-5.5"
-max_context_size = 200000

[providers.home]             # under my desk
type = "openai"
base_url = "http://127.0.0.1:11434/v1"
api_key = "none"
`,
  },
  grok: {
    '.grok/config.toml': `# as I like it
[models]
-default = "packy"
default_reasoning_effort = "high"

-[model.packy]
-model = "gpt-5.5"
-base_url = "https://packy.example/v1"
-api_key = "${foreignKey}"

[model.home]                 # under my desk
model = "qwen3-coder"
base_url = "http://127.0.0.1:11434/v1"
`,
  },
}

/** A home in which another tool pointed the client of this family at a gateway. */
export function foreignHome(family: string): Readonly<Record<string, string>> {
  return mapFiles(family, (line) => line.replace(/^-/, ''))
}

/** The same files after a switch to the client's own service. Files that become empty are missing. */
export function ownHome(family: string): Readonly<Record<string, string>> {
  const files = mapFiles(family, (line) => (line.startsWith('-') ? [] : line))
  return Object.fromEntries(Object.entries(files).filter(([, text]) => text !== ''))
}

function mapFiles(family: string, change: (line: string) => string | readonly string[]) {
  const files = Object.entries(marked[family] ?? {}).map(
    ([name, text]) => [name, text.split('\n').flatMap(change).join('\n')] as const,
  )
  return Object.fromEntries(files)
}

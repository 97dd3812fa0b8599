import { foreignKey } from './foreign-homes.ts'

/**
 * The files of a client as a tool has left them. In them, `repoint off` removes the lines that begin with `-`, and
 * adds those that begin with `+`.
 */
export interface ToolHome {
  readonly tool: string
  readonly client: string
  /** `run`: the tool wrote these files. `read`: they follow its source or its program. With the version. */
  readonly made: `run ${string}` | `read ${string}`
  readonly files: Readonly<Record<string, string>>
  /** Only the folder of the tool shows where the gateway comes from. */
  readonly isUncertain?: true
  /** The tool's proxy is a problem of its own in `status`. */
  readonly hasProxy?: true
}

/** All 2026-11-29. The user had a comment, a server, and in one file a ChatGPT login before. */
export const toolHomes: readonly ToolHome[] = [
  {
    tool: 'cc-switch',
    client: 'codex',
    made: 'read 3.20.0',
    isUncertain: true,
    files: {
      '.cc-switch/settings.json': '{"language":"en"}\n',
      '.codex/config.toml': `-model_provider = "custom"
-model = "gpt-5.6-sol"
model_reasoning_effort = "high"
disable_response_storage = true

-[model_providers.custom]
-name = "Packy"
-base_url = "https://packy.example/v1"
-wire_api = "responses"
-requires_openai_auth = true
-experimental_bearer_token = "${foreignKey}"
`,
      '.codex/auth.json':
        '{"OPENAI_API_KEY":null,"tokens":{"access_token":"t","refresh_token":"r"},"auth_mode":"chatgpt"}\n',
    },
  },
  {
    tool: 'cc-switch',
    client: 'claude',
    made: 'read 3.20.0',
    hasProxy: true,
    files: {
      '.cc-switch/settings.json': '{"language":"en"}\n',
      '.claude/settings.json': `{
  "env": {
-    "ANTHROPIC_BASE_URL": "http://127.0.0.1:15721",
-    "ANTHROPIC_AUTH_TOKEN": "PROXY_MANAGED",
-    "ANTHROPIC_DEFAULT_OPUS_MODEL": "deepseek-v4",
-    "ANTHROPIC_DEFAULT_OPUS_MODEL_NAME": "deepseek-v4",
    "MINE": "1"
  }
}
`,
    },
  },
  {
    tool: 'cc-switch-cli',
    client: 'codex',
    made: 'read 5.10.2',
    hasProxy: true,
    files: {
      '.codex/config.toml': `-model_provider = "custom"
-model = "gpt-5.6-sol"
model_reasoning_effort = "high"

-[model_providers.custom]
-name = "Packy"
-base_url = "http://127.0.0.1:15722/v1"
-wire_api = "responses"
-requires_openai_auth = true
`,
      '.codex/auth.json': '-{"OPENAI_API_KEY":"PROXY_MANAGED"}\n',
    },
  },
  {
    tool: 'claude-code-router',
    client: 'claude',
    made: 'read 3.1.1',
    hasProxy: true,
    files: {
      '.claude/settings.json': `{
-  "apiKeyHelper": "/home/me/.claude-code-router/bin/key",
  "env": {
-    "ANTHROPIC_BASE_URL": "http://127.0.0.1:3456",
    "ANTHROPIC_API_BASE_URL": "http://127.0.0.1:3456",
    "CLAUDE_AGENT_API_BASE_URL": "http://127.0.0.1:3456",
    "MINE": "1"
  }
}
`,
    },
  },
  {
    tool: 'opencodex',
    client: 'codex',
    made: 'run 2.63.0',
    hasProxy: true,
    files: {
      '.codex/config.toml': `# Mine.
model_reasoning_effort = "high"
approval_policy = "never" # keep
# Auto-injected by opencodex (undo: ocx restore)
-openai_base_url = "http://127.0.0.1:10100/v1"
# Auto-injected by opencodex (undo: ocx restore)
-experimental_realtime_ws_base_url = "http://127.0.0.1:10100/v1"

[mcp_servers.files]
command = "true"
`,
      '.codex/auth.json':
        '{"OPENAI_API_KEY":null,"tokens":{"access_token":"t","refresh_token":"r"},"auth_mode":"chatgpt"}\n',
      '.codex/opencodex.config.toml': `# OpenCodex proxy fallback config (Design B)
# Root override that points Codex's built-in openai provider at the proxy on 127.0.0.1:10100.
# Merge these root keys into ~/.codex/config.toml manually if auto-injection was removed.
openai_base_url = "http://127.0.0.1:10100/v1"`,
    },
  },
  {
    tool: 'zcf',
    client: 'codex',
    made: 'run 3.7.3',
    files: {
      '.ufomiao/zcf/config.toml': 'version = "3.7.3"\n',
      '.codex/config.toml': `# Mine.
model_reasoning_effort = "high"
approval_policy = "never" # keep
-model = "gpt-5.5"
-model_provider = "custom-api-key"

[mcp_servers.files]
command = "true"
args = []

[model_providers]

-[model_providers.custom-api-key]
-name = "Custom API Key"
-base_url = "https://packy.example/v1"
-wire_api = "responses"
-temp_env_key = "CUSTOM-API-KEY_API_KEY"
-requires_openai_auth = false
-model = "gpt-5.5"
`,
      '.codex/auth.json': `{
  "OPENAI_API_KEY": "${foreignKey}",
  "tokens": {
    "access_token": "t",
    "refresh_token": "r"
  },
  "auth_mode": "chatgpt",
  "custom-api-key": "${foreignKey}"
}`,
    },
  },
  {
    tool: 'zcf',
    client: 'claude',
    made: 'run 3.7.3',
    isUncertain: true,
    files: {
      '.ufomiao/zcf/config.toml': 'version = "3.7.3"\n',
      '.claude/config.json': '{\n  "primaryApiKey": "zcf"\n}',
      '.claude/settings.json': `{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "env": {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
-    "MCP_TIMEOUT": "60000",
+    "MCP_TIMEOUT": "60000"
-    "ANTHROPIC_AUTH_TOKEN": "${foreignKey}",
-    "ANTHROPIC_BASE_URL": "https://packy.example",
-    "ANTHROPIC_MODEL": "deepseek-v4"
  },
  "includeCoAuthoredBy": false,
  "permissions": {
    "allow": ["Bash", "Edit"],
    "deny": [],
    "defaultMode": "default"
  },
  "hooks": {}
}`,
    },
  },
  {
    tool: 'ccs',
    client: 'claude',
    made: 'run 7.79.1',
    files: {
      '.ccs/config.yaml': 'version: 1\n',
      '.claude/settings.json': `{
  "permissions": {
    "defaultMode": "default"
  },
  "model": "opus",
  "env": {
-    "ANTHROPIC_AUTH_TOKEN": "${foreignKey}",
-    "ANTHROPIC_BASE_URL": "https://packy.example",
-    "ANTHROPIC_DEFAULT_HAIKU_MODEL": "deepseek-v4",
-    "ANTHROPIC_DEFAULT_OPUS_MODEL": "deepseek-v4",
-    "ANTHROPIC_DEFAULT_SONNET_MODEL": "deepseek-v4",
-    "ANTHROPIC_MODEL": "deepseek-v4",
    "CCS_DROID_PROVIDER": "generic-chat-completion-api"
  }
}
`,
    },
  },
  {
    tool: "Vercel's CLI",
    client: 'claude',
    made: 'run 60.1.3',
    files: {
      '.claude/settings.json': `{
  "permissions": { "defaultMode": "default" },
  "model": "opus",
  "env": {
-    "ANTHROPIC_BASE_URL": "https://ai-gateway.vercel.sh/claude-code",
-    "ANTHROPIC_API_KEY": "",
-    "CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY": "1",
-    "ENABLE_TOOL_SEARCH": "true",
+    "ENABLE_TOOL_SEARCH": "true"
-    "ANTHROPIC_AUTH_TOKEN": "${foreignKey}"
  }
}
`,
    },
  },
  {
    tool: "Vercel's CLI",
    client: 'codex',
    made: 'run 60.1.3',
    files: {
      '.codex/config.toml': `# Mine.
model_reasoning_effort = "high"
approval_policy = "never" # keep
-model_provider = "vercel"

-[model_providers.vercel]
-name = "Vercel AI Gateway"
-base_url = "https://ai-gateway.vercel.sh/codex/v1"
-env_key = "AI_GATEWAY_API_KEY"
-wire_api = "responses"
`,
      '.profile': `# >>> vercel ai-gateway >>>
# Managed by \`vercel ai-gateway setup\` — safe to remove this block.
export AI_GATEWAY_API_KEY='${foreignKey}'
# <<< vercel ai-gateway <<<
`,
    },
  },
  {
    tool: "Vercel's CLI",
    client: 'openclaw',
    made: 'run 60.1.3',
    files: {
      '.openclaw/openclaw.json': `{
  "models": {
    "providers": {
-      "vercel-ai-gateway": {
-        "baseUrl": "https://ai-gateway.vercel.sh/coding-agent/v1",
-        "apiKey": "\${AI_GATEWAY_API_KEY}",
-        "api": "openai-completions",
-        "models": [
-          {
-            "id": "anthropic/claude-fable-5",
-            "name": "Claude Fable 5 (Gateway)"
-          }
-        ]
-      }
    }
  },
  "agents": {
    "defaults": {
-      "model": {
-        "primary": "vercel-ai-gateway/anthropic/claude-fable-5"
-      }
    }
  }
}
`,
    },
  },
  {
    tool: 'Ollama',
    client: 'codex',
    made: 'read main of 2026-09',
    files: {
      '.codex/config.toml': `-profile = "ollama-launch-codex-app"
-model = "qwen3-coder"
-model_provider = "ollama-launch-codex-app"
model_catalog_json = "/home/me/.codex/ollama-launch-models.json"

[profiles.ollama-launch-codex-app]
model = "qwen3-coder"
openai_base_url = "http://127.0.0.1:11434/v1/"
model_provider = "ollama-launch-codex-app"

-[model_providers.ollama-launch-codex-app]
-name = "Ollama"
-base_url = "http://127.0.0.1:11434/v1/"
-wire_api = "responses"
`,
    },
  },
  {
    tool: 'Ollama',
    client: 'opencode',
    made: 'read main of 2026-09',
    files: {
      '.config/opencode/opencode.json': `{
  "$schema": "https://opencode.ai/config.json",
-  "model": "ollama/qwen3-coder",
  "provider": {
-    "ollama": {
-      "models": {
-        "qwen3-coder": {
-          "_launch": true,
-          "name": "qwen3-coder"
-        }
-      },
-      "name": "Ollama",
-      "npm": "@ai-sdk/openai-compatible",
-      "options": {
-        "baseURL": "http://127.0.0.1:11434/v1"
-      }
-    }
  }
}`,
    },
  },
  {
    tool: 'Ollama',
    client: 'pi',
    made: 'read main of 2026-09',
    files: {
      '.pi/agent/models.json': `{
  "providers": {
-    "ollama": {
-      "api": "openai-completions",
-      "apiKey": "ollama",
-      "baseUrl": "http://127.0.0.1:11434/v1",
-      "models": [
-        {
-          "_launch": true,
-          "id": "qwen3-coder"
-        }
-      ]
-    }
  }
}`,
      '.pi/agent/settings.json': `{
-  "defaultModel": "qwen3-coder",
-  "defaultProvider": "ollama"
}`,
    },
  },
  {
    tool: 'Ollama',
    client: 'droid',
    made: 'read main of 2026-09',
    files: {
      '.factory/settings.json': `{
  "customModels": [
-    {
-      "model": "qwen3-coder",
-      "displayName": "qwen3-coder",
-      "baseUrl": "http://127.0.0.1:11434/v1",
-      "apiKey": "ollama",
-      "provider": "generic-chat-completion-api",
-      "maxOutputTokens": 64000,
-      "supportsImages": false,
-      "id": "custom:qwen3-coder-0",
-      "index": 0
-    }
  ],
  "sessionDefaultSettings": {
-    "model": "custom:qwen3-coder-0",
    "reasoningEffort": "none"
  }
}`,
    },
  },
]

/** The files as the tool has left them. */
export function filesOf({ files }: ToolHome): Readonly<Record<string, string>> {
  return mapLines(files, (line) => (line.startsWith('+') ? [] : [line.replace(/^-/, '')]))
}

/** The files after `repoint off`. Those that become empty are missing. */
export function filesAfterOff({ files }: ToolHome): Readonly<Record<string, string>> {
  const left = mapLines(files, (line) => (line.startsWith('-') ? [] : [line.replace(/^\+/, '')]))
  return Object.fromEntries(Object.entries(left).filter(([, text]) => text !== ''))
}

function mapLines(
  files: ToolHome['files'],
  change: (line: string) => readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => [
      name,
      text.split('\n').flatMap(change).join('\n'),
    ]),
  )
}

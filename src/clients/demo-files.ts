/** The example files of the clients that `repoint demo` shows, by path below the home folder. */
export const demoFiles: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  codex: {
    '.codex/config.toml': `# My Codex settings. Please keep the comments.
model = "gpt-5.4"            # the cheap one
approval_policy = "on-request"

[mcp_servers.files]          # do not lose me
command = "mcp-files"
args = ["--root", "~/notes"]

[projects."/home/me/shop"]
trust_level = "trusted"
`,
  },
  'claude-gpt': {
    '.claude/settings.json': `{
  "permissions": { "allow": ["Bash(npm test:*)"], "deny": [] },
  "hooks": {},
  "model": "opus"
}
`,
  },
  opencode: {
    '.config/opencode/opencode.jsonc': `{
  // keys that I got used to
  "keybinds": { "leader": "ctrl+x" },
  "share": "disabled", // never
}
`,
  },
  kilo: {
    '.config/kilo/kilo.jsonc': `{
  // it asks before every command
  "permission": { "bash": "ask" },
}
`,
  },
  pi: {
    '.pi/agent/models.json': `{
  "providers": {
    // on the machine under my desk
    "ollama": {
      "baseUrl": "http://localhost:11434/v1",
      "api": "openai-completions",
      "apiKey": "ollama",
      "models": [{ "id": "qwen2.5-coder:7b" }],
    },
  },
}
`,
    '.pi/agent/settings.json': `{
  "theme": "dark",
  "defaultThinkingLevel": "low"
}
`,
  },
  openclaw: {
    '.openclaw/openclaw.json': `// Mine.
{
  agents: {
    defaults: {
      workspace: '~/.openclaw/workspace',
      model: { primary: 'ollama/qwen2.5-coder:7b' }, // under my desk
    },
  },
  gateway: { mode: 'local', bind: 'loopback' },
}
`,
  },
  qwen: {
    '.qwen/settings.json': `{
  "$version": 4,
  // no vim at work
  "general": { "vimMode": false },
  "tools": { "approvalMode": "auto-edit" }
}
`,
  },
  droid: {
    '.factory/settings.json': `{
  // the one at home
  "customModels": [
    { "model": "qwen3-coder", "displayName": "At home", "baseUrl": "http://127.0.0.1:11434/v1", "apiKey": "none", "provider": "generic-chat-completion-api" }
  ],
  "diffMode": "unified"
}
`,
  },
  cline: {
    '.cline/data/settings/providers.json': `{
  "version": 1,
  "lastUsedProvider": "ollama",
  "providers": { "ollama": { "settings": { "provider": "ollama" }, "updatedAt": "2026-09-02T09:25:03.046Z", "tokenSource": "manual" } }
}
`,
  },
  kimi: {
    '.kimi-code/config.toml': `# asks before it edits
default_permission_mode = "manual"

[[hooks]]                    # do not lose me
event = "Stop"
command = "notify-send done"
`,
  },
  grok: {
    '.grok/config.toml': `[cli]
auto_update = false          # I do it myself

[mcp_servers.files]
command = "mcp-files"
`,
  },
}

/** Configurations as people write them, for the versions that the tests run. */

export const codexConfig = `# My Codex, 2026.
model = "gpt-5.5" # the fast one
model_reasoning_effort = "low"
approval_policy = "never"
tool_output_token_limit = 12000

# Files.
[mcp_servers.files]
command = "true"
args = [ "-y", "server", ] # trailing comma
enabled = false

[projects."/home/ada/work"]
trust_level = "trusted"

[model_providers.local]   # for the train
name = "Local"
base_url = "http://127.0.0.1:9/v1"
wire_api = "responses"

[tui]
notifications = false
`

export const claudeSettings = `{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": {
    "allow": ["Bash(npm run test:*)", "Read(~/.zshrc)"], "deny": []
  },
  "env": {
    "MINE": "1"
  },
  "hooks": {
    "SessionStart": [
      { "hooks": [{ "type": "command", "command": "echo yes > $HOME/hook-was-here" }] }
    ]
  },
  "model": "opus",
  "enabledPlugins": { "formatter@company": false },
  "mcpServers": {},
  "myOwnKey": [12345678901234567890, 1e400, -0]
}
`

export const opencodeConfig = `{
  // Mine.
  "$schema": "https://opencode.ai/config.json",
  "share": "disabled", /* never */
  "model": "local/llama", // offline
  "permission": { "bash": "allow", },
  "mcp": {
    "files": { "type": "local", "command": ["true"], "enabled": false },
  },
  "provider": {
    "local": {
      "npm": "@ai-sdk/openai-compatible",
      "options": { "baseURL": "http://127.0.0.1:9/v1" },
      "models": { "llama": { "limit": { "context": 8192, "output": 1024 } } },
    },
  },
}
`

import { dirname, join } from 'node:path'
import type { Platform } from '../../platform/platform.ts'
import { createDurably, makeFolders, missingFolders, randomName } from '../../transaction/files.ts'

/** Configurations as people write them, so that a diff shows what is left alone. */
const handWritten: Readonly<Record<string, string>> = {
  '.codex/config.toml': `# My Codex settings. Please keep the comments.
model = "gpt-5.4"            # the cheap one
approval_policy = "on-request"

[mcp_servers.files]          # do not lose me
command = "mcp-files"
args = ["--root", "~/notes"]

[projects."/home/me/shop"]
trust_level = "trusted"
`,
  '.claude/settings.json': `{
  "permissions": { "allow": ["Bash(npm test:*)"], "deny": [] },
  "hooks": {},
  "model": "opus"
}
`,
  '.config/opencode/opencode.jsonc': `{
  // keys that I got used to
  "keybinds": { "leader": "ctrl+x" },
  "share": "disabled", // never
}
`,
}

/** Makes a home of mode 0700 in the temporary folder, with a few hand-written configurations. */
export function makeThrowawayHome({ files, machine }: Pick<Platform, 'files' | 'machine'>): string {
  const parent =
    machine.env['TMPDIR'] ?? machine.env['TEMP'] ?? (machine.os === 'win32' ? machine.home : '/tmp')
  const home = join(parent, `repoint-demo-${randomName()}`)
  files.mkdir(home, 0o700)
  for (const [name, text] of Object.entries(handWritten)) {
    const path = join(home, name)
    makeFolders(files, missingFolders(files, dirname(path), dirname), dirname)
    createDurably(files, path, new TextEncoder().encode(text), { mode: 0o644 })
  }
  return home
}

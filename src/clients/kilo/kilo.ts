import type { ClientModule } from '../client.ts'
import type { Layout } from '../opencode/layout.ts'
import { clientOf } from '../opencode/module.ts'
import { reservedIds } from '../opencode/opencode.ts'
import { leftRunning } from './daemon.ts'
import { firstStart, startedFile } from './first-start.ts'
import tested from './tested.json' with { type: 'json' }

/**
 * Made from opencode: its layout under another name, with its order of layers and its reading of keys.
 * A bad key fails at once, with the gateway's words and status 1; without any setup and offline it
 * waits in silence. Each start adds `$schema` where it is missing. Run: 7.7.9 and 7.0.33, 2026-11-22;
 * only the older stops at keys that it does not know.
 */
const layout: Layout = {
  id: 'kilo',
  label: 'Kilo',
  folder: 'kilo',
  // opencode's names count in Kilo's own folder too, and win over its own; opencode's folder and
  // variables do not.
  configNames: ['config.json', 'kilo.json', 'kilo.jsonc', 'opencode.json', 'opencode.jsonc'],
  // The one that its first start makes.
  newConfig: 'kilo.jsonc',
  projectNames: ['kilo.json', 'kilo.jsonc', 'opencode.json', 'opencode.jsonc'],
  // ~/.kilocode counts in 7.7.9 alone, .opencode in 7.0.33 alone.
  dotFolders: ['.kilocode', '.kilo'],
  codeFolders: ['plugin', 'plugins', 'tool', 'tools'],
  variables: 'KILO',
  schema: 'https://app.kilo.ai/config.json',
  reservedIds: ['kilo', ...reservedIds],
  withoutWindow: 'Kilo does not compact its conversations, which end where the window is full',
}

const shared = clientOf(layout, {
  tested,
  binary: {
    pingArgs: (prompt) => ['run', prompt],
    authorityVariables: ['NODE_EXTRA_CA_CERTS'],
    pingEnv: {
      // A server that was started before would answer with what it read then.
      KILO_NO_DAEMON: '1',
      // Where its own service cannot be reached, 7.0.33 waits for it longer than for the answer.
      KILO_DISABLE_SESSION_INGEST: '1',
      KILO_TELEMETRY_LEVEL: 'off',
    },
  },
  leftRunning,
  demoFiles: {
    '.config/kilo/kilo.jsonc': `{
  // it asks before every command
  "permission": { "bash": "ask" },
}
`,
  },
})

export const kilo: ClientModule = {
  ...shared,
  files: (machine, look) => [...shared.files(machine, look), ...startedFile(machine, look)],
  inTheWay: (scene, choice) => [...shared.inTheWay(scene, choice), ...firstStart(scene)],
}

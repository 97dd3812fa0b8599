// Builds dist unless it is newer than all that goes into it, so that suites can run side by side.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const sources = ['src', 'scripts/build.js', 'scripts/build', 'package.json', 'tsconfig.json']
const marker = 'THIRD-PARTY-LICENSES.md'

const built = existsSync('dist/main.cjs') && existsSync(marker) ? statSync(marker).mtimeMs : 0
if (Math.max(...sources.map(newest)) >= built) {
  const { status } = spawnSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}

/** When the newest file at or below `path` was changed, in ms since 1970. */
function newest(path) {
  const status = statSync(path)
  if (!status.isDirectory()) return status.mtimeMs
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))))
}

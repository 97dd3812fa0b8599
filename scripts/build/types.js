/** Writes the type declarations of the local gateway: dist/types. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Keeps the declarations that `entry` exports or needs, and removes those of other modules. */
export function declareTypes(entry) {
  const require = createRequire(import.meta.url)
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.types.json'], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(1)
  const shown = reachable(entry)
  for (const { parentPath, name } of files('dist/types')) {
    const path = join(parentPath, name)
    if (shown.has(path))
      writeFileSync(path, readFileSync(path, 'utf8').replace(ownImport, "$1.js'"))
    else rmSync(path)
  }
}

/** The compiler leaves `.ts` in declarations, which no published file is called. */
const ownImport = /(from '\.[^']+)\.ts'/g

function files(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
}

function reachable(path, found = new Set()) {
  if (found.has(path)) return found
  found.add(path)
  for (const [, specifier] of readFileSync(path, 'utf8').matchAll(/from '(\.[^']+)'/g))
    reachable(join(dirname(path), specifier.replace(/\.[jt]s$/, '.d.ts')), found)
  return found
}

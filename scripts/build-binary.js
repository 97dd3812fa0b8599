/**
 * Builds repoint as one program that needs no Node on the machine, with its SHA-256. Run it for a release.
 *
 *   npm run binary                     dist/binary/repoint, for this machine
 *   npm run binary -- linux-arm64      dist/binary/repoint-linux-arm64, if npm has a Node for that system
 *
 * The program is Node's single executable: Node itself with our bundle in it. `--build-sea` accepts an ES
 * module from Node 26 on (run with 26.10.0, 2026-11-23).
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { installPackages, modulesOf, nodeOf, npmArgsFor } from './install.js'
import { nodeIn, nodePackages } from './nodes.js'

const major = 26
const own = `${process.platform}-${process.arch}`
const [named] = process.argv.slice(2)
const target = named ?? own
const ending = target.startsWith('win') ? '.exe' : ''
const folder = 'dist/binary'
const program = join(folder, (named === undefined ? 'repoint' : `repoint-${named}`) + ending)
const bundle = join(folder, 'repoint.mjs')
const recipe = join(folder, 'recipe.json')

mkdirSync(folder, { recursive: true })
// What is published, in one file: a single executable imports nothing from the disk.
await build({
  entryPoints: ['bin/repoint.js'],
  outfile: bundle,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: `node${major}`,
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
})
writeFileSync(
  recipe,
  JSON.stringify({
    main: bundle,
    mainFormat: 'module',
    output: program,
    executable: nodeFor(target),
    disableExperimentalSEAWarning: true,
  }),
)
execFileSync(nodeOf(major), ['--build-sea', recipe], { stdio: ['ignore', 'ignore', 'inherit'] })
for (const path of [bundle, recipe]) rmSync(path)
// macOS starts no unsigned program. Without an account of Apple's it is signed by itself.
if (process.platform === 'darwin' && target.startsWith('darwin'))
  execFileSync('codesign', ['--sign', '-', '--force', program])

const digest = createHash('sha256').update(readFileSync(program)).digest('hex')
writeFileSync(`${program}.sha256`, `${digest}  ${basename(program)}\n`)
console.log(program)

/** The program of the newest Node of that major version for a system and a processor. */
function nodeFor(platform) {
  if (platform === own) return nodeOf(major)
  const set = `node-${platform}`
  installPackages(set, nodePackages([major], platform), npmArgsFor(...platform.split('-')))
  return nodeIn(modulesOf(set), major, platform)
}

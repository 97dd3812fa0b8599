/**
 * Bundles src into dist, so that the published package has no dependencies. Each dynamic import
 * becomes a file of its own, read only when it is used.
 *
 * dist/cli.mjs, platform.mjs  What bin/repoint.js puts together.
 * dist/gateway.mjs, types/    The local gateway, for programs that import `repoint/gateway`.
 * dist/sbom.json              Which packages are bundled, for programs that check them.
 *
 * With --if-older it builds only if something has changed since, so that suites can run side by side.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { dataForUsers } from './build/data.js'
import { billOfMaterials, licencesOf } from './build/licences.js'
import { declareTypes } from './build/types.js'

const sources = ['src', 'scripts/build.js', 'scripts/build', 'package.json', 'tsconfig.json']
/** Written last. */
const licences = 'THIRD-PARTY-LICENSES.md'

if (process.argv.includes('--if-older') && isBuilt()) process.exit(0)
rmSync('dist', { recursive: true, force: true })

const { metafile } = await build({
  entryPoints: {
    cli: 'src/cli.ts',
    platform: 'src/platform/node.ts',
    gateway: 'src/serve/index.ts',
  },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  // Of a file named so Node need not ask package.json what it is: a start takes some 6 % less.
  outExtension: { '.js': '.mjs' },
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // jsonc-parser's CommonJS form hides its require() calls; its `module` form can be bundled.
  mainFields: ['module', 'main'],
  // Bundled CommonJS packages require Node's own modules.
  banner: {
    js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)",
  },
  // The page of `serve`.
  loader: { '.html': 'text' },
  plugins: [dataForUsers],
  minify: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
})

declareTypes('dist/types/serve/index.d.ts')
const inputs = Object.keys(metafile.inputs)
const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
writeFileSync('dist/sbom.json', JSON.stringify(billOfMaterials(inputs, manifest), null, 2))
writeFileSync(licences, licencesOf(inputs))

function isBuilt() {
  if (!existsSync('dist/cli.mjs') || !existsSync(licences)) return false
  return Math.max(...sources.map(newest)) < statSync(licences).mtimeMs
}

/** When the newest file at or below `path` was changed, in ms since 1970. */
function newest(path) {
  const status = statSync(path)
  if (!status.isDirectory()) return status.mtimeMs
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))))
}

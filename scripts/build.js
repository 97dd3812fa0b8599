/**
 * Bundles src into dist, so that the published package has no dependencies. Run it before bin/repoint.js;
 * the npm scripts do so. A module that is imported dynamically becomes a separate file.
 *
 *   npm run build
 *   node scripts/build.js --if-older   builds only if a source is newer, so that suites can run side by side
 *
 * dist/cli.mjs, platform.mjs  What bin/repoint.js starts.
 * dist/gateway.mjs, types/    The local gateway, for programs that import `repoint/gateway`.
 * dist/sbom.json              The bundled packages, for programs that check them.
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
  // With `.mjs`, Node need not look for package.json: a start takes some 6 % less.
  outExtension: { '.js': '.mjs' },
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // jsonc-parser's CommonJS form hides its require() calls; its `module` form can be bundled.
  mainFields: ['module', 'main'],
  // The page of `serve`.
  loader: { '.html': 'text' },
  plugins: [dataForUsers],
  minify: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
})

for (const path of Object.keys(metafile.outputs)) defineRequire(path)
declareTypes('dist/types/serve/index.d.ts')
const inputs = Object.keys(metafile.inputs)
const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
writeFileSync('dist/sbom.json', JSON.stringify(billOfMaterials(inputs, manifest), null, 2))
writeFileSync(licences, licencesOf(inputs))

/** Bundled CommonJS packages require Node's own modules. The other files need no `require`, and start faster. */
function defineRequire(path) {
  const text = readFileSync(path, 'utf8')
  if (!/\brequire\b/.test(text)) return
  const definition =
    "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n"
  writeFileSync(path, definition + text)
}

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

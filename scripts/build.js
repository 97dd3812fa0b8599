/**
 * Bundles src into dist, so that the published package has no dependencies and starts at once.
 *
 * dist/main.cjs      The command line and the platform: all that `--help` needs.
 * dist/commands.cjs  All commands. A module in it is run when it is first imported.
 * dist/errors.cjs    On its own, because every bundle must mean the same by a UserError.
 * dist/gateway.cjs   The local gateway; dist/gateway.js is the same for `import`.
 * dist/parts/*.cjs   One file for each package that is imported dynamically: read only when used.
 * dist/types         Declarations of the programmatic entry.
 *
 * CommonJS, because Node 20 takes 4 ms to start its loader for ES modules, and a bundle of ES modules
 * loads every builtin that any lazy part of it imports (measured 2026-11-21).
 */
import { rmSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'
import {
  commandsOnTheirOwn,
  errorsOnTheirOwn,
  gatewayOnItsOwn,
  packagesOnTheirOwn,
} from './build/apart.js'
import { withoutChildProcess, withoutTomlParser, withoutUnusedUndici } from './build/lean.js'
import { licencesOf } from './build/licences.js'
import { declareTypes } from './build/types.js'

/** What is wanted of a package whose unused rest would weigh more than all of ours. */
const wantedExports = {
  // The editor prompt brings 400 kB of character tables.
  '@inquirer/prompts': ['checkbox', 'confirm', 'input', 'password', 'search'],
}

rmSync('dist', { recursive: true, force: true })

/** Paths of all sources that were bundled. */
const inputs = []
/** Dynamically imported, as found while bundling: the file's name → the package. */
const packages = new Map()
/** Dynamically imported by the command line: the names of the modules in src/commands. */
const commands = new Set()

await bundle('main', {
  contents:
    "export { main } from './src/cli.ts'; export { nodePlatform } from './src/platform/node.ts'",
  plugins: [
    packagesOnTheirOwn(packages),
    commandsOnTheirOwn(commands),
    errorsOnTheirOwn(),
    withoutChildProcess(),
  ],
})
await bundle('commands', {
  contents: `module.exports = {
    ${[...commands].map((name) => `'${name}': () => require('./src/commands/${name}.ts'),`).join('\n')}
  }`,
  plugins: [
    packagesOnTheirOwn(packages),
    errorsOnTheirOwn(),
    gatewayOnItsOwn(),
    withoutTomlParser(),
  ],
})
await bundle('errors', { contents: "export * from './src/errors.ts'", plugins: [] })
await bundle('gateway', {
  contents: "export * from './src/serve/index.ts'",
  plugins: [packagesOnTheirOwn(packages), errorsOnTheirOwn()],
})
for (const [name, specifier] of packages) {
  const exports = wantedExports[specifier]
  await bundle(`parts/${name}`, {
    contents: exports
      ? `export { ${exports.join(', ')} } from '${specifier}'`
      : `module.exports = require('${specifier}')`,
    plugins: [withoutUnusedUndici()],
  })
}
writeFileSync('dist/gateway.js', "export * from './gateway.cjs'\n")
writeFileSync('THIRD-PARTY-LICENSES.md', licencesOf(inputs))
declareTypes('dist/types/serve/index.d.ts')

async function bundle(name, { contents, plugins }) {
  const { metafile } = await build({
    stdin: { contents, resolveDir: '.', sourcefile: `${name}.js` },
    outfile: `dist/${name}.cjs`,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    // jsonc-parser's CommonJS form hides its require() calls; its `module` form can be bundled.
    mainFields: ['module', 'main'],
    target: 'node20.19',
    minify: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    plugins,
  })
  inputs.push(...Object.keys(metafile.inputs))
}

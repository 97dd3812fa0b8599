import { dirname, resolve } from 'node:path'
import { build } from 'esbuild'

/** Paths of the sources that went into the page. */
export const pageInputs = new Set()

/**
 * A module for the browser as two texts: `import page from './view/main.ts?bundled'` gives
 * `{ script, style }`, with all that it imports in them. For the build and for the tests, so that both
 * have the same page.
 */
async function bundledModule(path) {
  const { outputFiles, metafile } = await build({
    entryPoints: [path],
    outdir: 'out',
    write: false,
    bundle: true,
    format: 'iife',
    platform: 'browser',
    target: ['chrome111', 'firefox113', 'safari16.4'],
    minify: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  })
  for (const input of Object.keys(metafile.inputs)) pageInputs.add(input)
  const textOf = (ending) => outputFiles.find((file) => file.path.endsWith(ending))?.text.trim()
  return `export default ${JSON.stringify({ script: textOf('.js'), style: textOf('.css') })}`
}

const marked = /\?bundled$/

/** For esbuild. */
export const esbuildPage = {
  name: 'page',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: marked }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.replace(marked, '')),
      namespace: 'page',
    }))
    onLoad({ filter: /./, namespace: 'page' }, async ({ path }) => ({
      contents: await bundledModule(path),
    }))
  },
}

/** For Vitest. */
export const vitePage = {
  name: 'page',
  enforce: 'pre',
  resolveId(source, importer) {
    return marked.test(source) ? `\0${resolve(dirname(importer), source)}` : undefined
  },
  load(id) {
    return id.startsWith('\0') && marked.test(id)
      ? bundledModule(id.slice(1).replace(marked, ''))
      : undefined
  },
}

/** Imports modules of src into a script. The scripts are JavaScript, so esbuild bundles them first. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** Returns what these lines of TypeScript export. Their paths are relative to the root of the project. */
export async function importSource(lines) {
  const folder = mkdtempSync(join(tmpdir(), 'repoint-docs-'))
  const outfile = join(folder, 'source.mjs')
  try {
    await build({
      stdin: { contents: lines, resolveDir: '.', loader: 'ts' },
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      mainFields: ['module', 'main'],
      logLevel: 'warning',
      banner: {
        js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)",
      },
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

// Runs our edits over a folder of real configurations: npm run corpus -- FOLDER
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('usage: npm run corpus -- FOLDER')
  process.exit(2)
}

// Node 20 cannot run TypeScript: the script is bundled first.
const temporary = mkdtempSync(join(tmpdir(), 'repoint-corpus-'))
try {
  const outfile = join(temporary, 'corpus.mjs')
  await build({
    entryPoints: ['test/edits/corpus.ts'],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
    banner: {
      js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  })
  const { runCorpus } = await import(pathToFileURL(outfile).href)
  const report = runCorpus(folder)
  console.log(report.lines.join('\n'))
  process.exitCode = report.isClean ? 0 : 1
} finally {
  rmSync(temporary, { recursive: true, force: true })
}

import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const require = createRequire(pathToFileURL(resolve('.cache/sdk/package.json')))

/** A package of .cache/sdk. It is no dependency of ours, so it has no types here. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export async function sdk(name: string): Promise<any> {
  return import(pathToFileURL(placeOf(name)).href)
}

function placeOf(name: string): string {
  try {
    return require.resolve(name)
  } catch {
    // The package supports only `import`, like pi-ai 0.73.1.
    return resolve('.cache/sdk/node_modules', name, 'dist/index.js')
  }
}

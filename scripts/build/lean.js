/** esbuild plugins that keep dependencies from loading what we never use. */

/** commander loads it for commands that are programs of their own, which we have none of: 2 ms. */
export function withoutChildProcess() {
  return replaced('without-child-process', /\/commander\//, {
    'node:child_process': 'module.exports = {}',
  })
}

/** @iarna/toml only renders values here; its parser is most of it. */
export function withoutTomlParser() {
  return replaced('without-toml-parser', /@iarna\/toml\//, {
    './parse.js': 'module.exports = undefined',
  })
}

/**
 * undici 7 as a plain HTTP/1.1 client: 12 of 20 ms less to load (Node 20.20, measured 2026-11-21).
 * HTTP/2 comes with the first connection that speaks it.
 */
export function withoutUnusedUndici() {
  return replaced('without-unused-undici', /\/undici\/lib\/(core|dispatcher|util)\//, {
    './client-h2.js': "module.exports = (...args) => require('./client-h2')(...args)",
    // It looks for the default size of headers and for a class that we never hand over.
    'node:http': 'module.exports = { maxHeaderSize: 16384, IncomingMessage: class {} }',
    'node:assert':
      "module.exports = (holds, message) => { if (!holds) throw new Error(message ?? 'undici: assertion failed') }",
  })
}

function replaced(name, importer, modules) {
  return {
    name,
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, (args) =>
        args.path in modules && importer.test(args.importer.replaceAll('\\', '/'))
          ? { path: args.path, namespace: name, pluginData: args.resolveDir }
          : undefined,
      )
      onLoad({ filter: /./, namespace: name }, ({ path, pluginData }) => ({
        contents: modules[path],
        resolveDir: pluginData,
      }))
    },
  }
}

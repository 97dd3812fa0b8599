/**
 * esbuild plugins that leave something out of a bundle and have it required from a file of its own.
 * A require, where the source says import(): that would start the loader for ES modules.
 */

/** @param found takes the file's name and the package of each dynamic import */
export function packagesOnTheirOwn(found) {
  return apart('packages', /^[^./]/, ({ kind, path }) => {
    if (kind !== 'dynamic-import' || path.startsWith('node:')) return undefined
    const name = path.replace(/\.js$/, '').replace(/^@/, '').replaceAll('/', '-')
    found.set(name, path)
    return `require('./parts/${name}.cjs')`
  })
}

/** @param found takes the names of the commands */
export function commandsOnTheirOwn(found) {
  return apart('commands', /\/commands\/[\w-]+\.ts$/, ({ kind, path }) => {
    if (kind !== 'dynamic-import') return undefined
    const name = path.replace(/^.*\/|\.ts$/g, '')
    found.add(name)
    return `require('./commands.cjs')['${name}']()`
  })
}

export function errorsOnTheirOwn() {
  return apart('errors', /\/errors\.ts$/, () => "require('./errors.cjs')")
}

export function gatewayOnItsOwn() {
  return apart('gateway', /\/serve\/index\.ts$/, () => "require('./gateway.cjs')")
}

/** @param expressionFor what stands in the place of the module, or undefined to bundle it */
function apart(name, filter, expressionFor) {
  return {
    name,
    setup({ onResolve, onLoad }) {
      onResolve({ filter }, (args) => {
        const expression = expressionFor(args)
        return expression && { path: expression, namespace: name }
      })
      onLoad({ filter: /./, namespace: name }, ({ path }) => ({
        contents: `module.exports = ${path}`,
      }))
      onResolve({ filter: /\.cjs$/, namespace: name }, ({ path }) => ({ path, external: true }))
    },
  }
}

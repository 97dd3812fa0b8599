import { readFileSync } from 'node:fs'

/** The members of the data that only developers read: where each row comes from, and when. */
const forDevelopers = [
  [/[\\/](?:hosts|rules|families)\.json$/, ['source']],
  [/[\\/]first-requests\.json$/, ['date']],
  [
    /[\\/]tested\.json$/,
    ['day', 'system', 'node', 'client', 'setup', 'models', 'tool', 'isRefused'],
  ],
]

/**
 * An esbuild plugin that bundles data without those members, as text: V8 parses the text of a table faster
 * than it compiles the same table as a program.
 */
export const dataForUsers = {
  name: 'data-for-users',
  setup({ onLoad }) {
    onLoad({ filter: /\.json$/ }, ({ path }) => {
      const data = JSON.parse(readFileSync(path, 'utf8'))
      const rows = [data, data.rows, ...Object.values(data)].flat()
      const [, names = []] = forDevelopers.find(([file]) => file.test(path)) ?? []
      for (const row of rows) for (const name of names) delete row?.[name]
      const text = JSON.stringify(data)
      return { contents: `export default JSON.parse(${JSON.stringify(text)})`, loader: 'js' }
    })
  },
}

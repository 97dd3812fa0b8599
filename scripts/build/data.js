/** Removes from the bundled data what only developers read: where a row comes from, and when. */
import { readFileSync } from 'node:fs'

/** The members to remove, by the name of the file. */
const forDevelopers = [
  [/[\\/](?:hosts|rules|families|combinations)\.json$/, ['source']],
  [/[\\/]first-requests\.json$/, ['date']],
  [
    /[\\/]tested\.json$/,
    ['day', 'system', 'node', 'client', 'setup', 'models', 'tool', 'isRefused'],
  ],
]

/** The plugin of esbuild. */
export const dataForUsers = {
  name: 'data-for-users',
  setup({ onLoad }) {
    for (const [filter, names] of forDevelopers)
      onLoad({ filter }, ({ path }) => {
        const data = JSON.parse(readFileSync(path, 'utf8'))
        const rows = [data, data.rows, ...Object.values(data)].flat()
        for (const row of rows) for (const name of names) delete row?.[name]
        return { contents: JSON.stringify(data), loader: 'json' }
      })
  },
}

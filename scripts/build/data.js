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

/** An esbuild plugin that bundles the data of src without those members. */
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

/**
 * Records the first request of each real client, which repoint's probe sends, into
 * src/clients/NAME/first-requests.json. Run it when a client is added or a new version sends another
 * request: `npm run test:clients` compares them. Only the texts of a request are shortened.
 *
 *   node scripts/record-first-requests.js [NAME …]      the default is every client
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { copilot } from './copilot.js'
import { compactRecordings } from './first-requests/compact.js'
import { recordFirstRequest } from './first-requests/record.js'
import { shortenRequest } from './first-requests/shorten.js'
import { situations } from './first-requests/situations.js'
import { importSource } from './import-source.js'
import { installPackages, installVersion } from './install.js'
import { offline } from './offline.js'
import { clients } from './real-clients.js'

const atOnce = 3
const isInside = 'REPOINT_RECORDS'

const named = process.argv.slice(2)
const names = named.length > 0 ? named : Object.keys(situations)

if (process.env[isInside] === undefined) {
  // Without its packages, a client cannot be installed inside: there is no network.
  for (const name of names.filter((one) => one in clients))
    for (const version of clients[name].versions) installVersion(name, version)
  if (names.includes('copilot')) installPackages('copilot')
  const [command, ...words] = [...offline(), process.execPath, ...process.argv.slice(1)]
  const env = { ...process.env, [isInside]: '1' }
  process.exit(spawnSync(command, words, { stdio: 'inherit', env }).status ?? 1)
}

/** How each client is run: its versions, its program, and its start once it is set up. */
const recorded = {
  ...Object.fromEntries(
    Object.entries(clients).map(([name, { versions, run, env }]) => [
      name,
      {
        versions,
        program: (version) => installVersion(name, version),
        start: (text) => ({ args: run(text), env }),
      },
    ]),
  ),
  copilot,
}

const { prompt } = await importSource("export { prompt } from './src/gateway/probe/plain-body.ts'")
for (const name of names) await recordClient(name)

async function recordClient(name) {
  const { versions } = recorded[name]
  const todo = situations[name].flatMap((situation) =>
    versions.filter(situation.isFor ?? (() => true)).map((version) => ({ version, situation })),
  )
  const waiting = [...todo]
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        next.request = await record(name, next)
    }),
  )

  const requests = todo.map(({ version, situation: { kind, protocol }, request }) => ({
    kind,
    protocol,
    version,
    ...request,
  }))
  const file = `src/clients/${name}/first-requests.json`
  const date = new Date().toISOString().slice(0, 10)
  writeFileSync(file, compactRecordings(requests, { date, newest: versions.at(-1) }))
  console.log(`${file}: ${requests.length} requests`)
}

async function record(client, { version, situation }) {
  const { program, start } = recorded[client]
  const request = await recordFirstRequest({
    client,
    program: program(version),
    start,
    situation,
    prompt,
  })
  console.log(`${client} ${version} ${situation.protocol} ${situation.kind}`)
  return shortenRequest(request, { prompt, home: request.home })
}

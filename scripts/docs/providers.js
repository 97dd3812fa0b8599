/** docs/providers.md: from the table that the forged servers and the tests of test/providers run on. */

/** Protocol → how the clients' columns are headed. */
const columns = ['responses', 'messages', 'chat']

/**
 * @param table the forged providers
 * @param programs the gateways that are run as npm has them
 * @param versions of these, by package
 * @param clients every client
 * @param hosts what is known of hosts by name
 */
export function providersPage({ table, programs, versions, clients, hosts, asTable }) {
  const heads = columns.map((protocol) => {
    const names = clients
      .filter((client) => client.protocols[0] === protocol)
      .map(({ label }) => label)
    const editor = protocol === 'chat' ? ['Cursor (`repoint editor`)'] : []
    return `${[...names, ...editor].join(', ')}: ${protocol}`
  })
  const lines = table.map((shape) => [
    shape.name,
    ...columns.map((protocol) => cell(shape, shape.setups[protocol])),
  ])
  const programLines = programs.map(({ name, note, setups }) => [
    name,
    versions[name],
    Object.entries(setups('http://127.0.0.1:PORT'))
      .map(([id, { refused }]) =>
        refused === undefined ? `\`${id}\`` : `\`${id}\` refused: \`${refused}\``,
      )
      .join('<br>'),
    note,
  ])
  return `# Providers

What to enter for which gateway, and what \`repoint\` makes of it. \`repoint\` asks the address, with the key, as the client will, and believes what answers; of some hosts it knows by name where to ask first ([below](#hosts-by-name)). This page is written by \`npm run docs\` from the table that the tests run on.

**How this was proven.** Each provider of the first table is forged by a server on this machine: its routes, its keys, its ids and its words when it refuses, after public documentation and reports, which are listed below with their dates; what a model says comes from the local gateway. \`test/providers/\` sets every client up with what stands here and asks as that client would, and \`test/clients/\` lets the real clients answer. The programs of the second table are run as npm has them. No account with a real service was used for either.

${asTable(['Provider', ...heads], lines)}

Where a model is named, the provider lists none, or none that a rule would choose. A setup of several clients takes the address for chat, and \`--messages-url\` where the messages protocol has a root of its own.

## Programs

${asTable(['Package', 'Version', 'Clients', ''], programLines)}

Not run: 9router, which fetches a database at its first start, and claude-code-router 3, which needs a native module.

## Hosts by name

Where only a host is typed, or its web page, these are asked first; whatever answers counts, as with any other address. Written from \`src/gateway/hosts.json\`.

${asTable(['', 'Chat and responses', 'Messages', 'Web pages', 'Keys are made at', 'Wants', 'Source'], hosts.map(hostLine))}

## Where the facts are from

${table.map(facts).join('\n\n')}
`
}

function cell({ host }, setup) {
  if (setup === undefined) return ''
  const { paste, args = [], refused, note } = setup
  if (refused !== undefined && !note) return 'not served'
  const words = args.map((arg) => (/\s/.test(arg) ? `'${arg}'` : arg)).join(' ')
  const entered = `\`${host}${paste}\`${words === '' ? '' : ` \`${words}\``}`
  const said = note === undefined ? [] : [note]
  return refused === undefined ? [entered, ...said].join('<br>') : `refused: ${note}`
}

function hostLine({ name, host, chat, messages, pages, keys, headers = [], source, date }) {
  const root = (path) => (path === undefined ? '' : `\`https://${host}${path}\``)
  const wants = headers.map((header) => `\`${header}\``).join(' ')
  return [
    name,
    root(chat),
    root(messages),
    pages.join(' '),
    keys ?? '',
    wants,
    `<${source}> (${date})`,
  ]
}

function facts({ name, sources, unchecked }) {
  const lines = sources.map(({ url, date }) => `- <${url}> (${date})`)
  const guesses = unchecked.length === 0 ? [] : [`- Not found, so a guess: ${unchecked.join('; ')}`]
  return [`**${name}**`, '', ...lines, ...guesses].join('\n')
}

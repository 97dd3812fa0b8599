/** Writes docs/providers.md from the table that the simulated servers and the tests in test/providers use. */

/** The protocols, one column each. */
const columns = ['responses', 'messages', 'chat']

/**
 * @param table the simulated providers
 * @param programs the real gateways from npm
 * @param versions their versions, by package
 * @param clients every client
 * @param hosts the rows of src/gateway/hosts.json
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
        refused === undefined ? `\`${id}\`` : `\`${id}\`: rejected (\`${refused}\`)`,
      )
      .join('<br>'),
    note,
  ])
  return `# Providers

What to enter for which gateway, and the result. repoint sends the client's own request to the address, and decides by the answer. For some hosts it knows the path to try first ([below](#hosts-by-name)). \`npm run docs\` writes this page from the table that the tests use.

**How this was tested.** A local server simulates each provider of the first table: its routes, key headers, model IDs and error messages, as public documentation and reports describe them (listed below with their dates). The answers of the models come from the local gateway. \`test/providers/\` sets every client up with the values of this page and sends that client's request; \`test/clients/\` runs the real clients. The programs of the second table are the unmodified packages from npm. No test used an account with a real service.

${asTable(['Provider', ...heads], lines)}

If a row names a model, the provider lists none, or none that repoint would choose. A setup of several clients uses the address for chat, and \`--messages-url\` if the messages protocol has its own base URL.

## Programs

${asTable(['Package', 'Version', 'Clients', ''], programLines)}

Not run: 9router, which downloads a database at its first start, and claude-code-router 3, which needs a native module.

## Hosts by name

If someone enters only a host, or the address of its web page, repoint tries these base URLs first. The answer decides, as with any other address. From \`src/gateway/hosts.json\`.

${asTable(['', 'Chat and responses', 'Messages', 'Web pages', 'Keys', 'Required headers', 'Source'], hosts.map(hostLine))}

## Sources

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
  return refused === undefined ? [entered, ...said].join('<br>') : `rejected: ${note}`
}

function hostLine({ name, host, chat, messages, pages, keys, headers = [], source, date }) {
  const root = (path) => (path === undefined ? '' : `\`https://${host}${path}\``)
  const required = headers.map((header) => `\`${header}\``).join(' ')
  return [
    name,
    root(chat),
    root(messages),
    pages.join(' '),
    keys ?? '',
    required,
    `<${source}> (${date})`,
  ]
}

function facts({ name, sources, unchecked }) {
  const lines = sources.map(({ url, date }) => `- <${url}> (${date})`)
  const guesses =
    unchecked.length === 0
      ? []
      : [`- Guessed, because no source states it: ${unchecked.join('; ')}`]
  return [`**${name}**`, '', ...lines, ...guesses].join('\n')
}

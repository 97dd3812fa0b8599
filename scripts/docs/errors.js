/** The likely cause of each error code, and what the user does about it. docs/errors.md is made from this. */
const causes = {
  internal: ['A bug in repoint.', 'Report it, with the lines that repoint prints.'],

  usage: [
    'The command is not complete, or two of its flags contradict each other.',
    'The message names the flag. `repoint COMMAND --help` shows them all.',
  ],
  'key-missing': [
    'No key, no terminal to ask for one, or the variable with the key is not set.',
    'Pass the key with `--key-env NAME`, `--key-file PATH` or `--key-stdin`.',
  ],
  'key-placeholder': [
    'The key is an example from instructions, or its middle is masked.',
    "Copy the whole key with the copy button of the gateway's web page.",
  ],
  'confirmation-needed': [
    'The command changes or deletes something, and there is no terminal to ask.',
    'Look at the changes with `--dry-run`, then add `--yes`.',
  ],
  'header-missing': [
    'The gateway requires a header in addition to the key.',
    "Add it: `--header 'NAME: VALUE'` ([headers.md](headers.md)).",
  ],

  'key-rejected': [
    'The key is mistyped, disabled, expired, or for another gateway.',
    "Copy a valid key from the gateway's web page. For clients that are set up: `repoint key`.",
  ],

  'not-an-api': [
    'The address belongs to a web page or to another program.',
    'Use the "API base URL" from your gateway\'s page: `--base-url URL`.',
  ],
  'wrong-route': [
    'The API is at another path of this host.',
    'Use the "API base URL" from your gateway\'s page: `--base-url URL`.',
  ],
  'docs-host': [
    'The address belongs to the documentation.',
    'Use the address that the documentation names: `--base-url URL`.',
  ],

  'model-unknown': [
    'The gateway does not have the model, or has no provider for it at the moment.',
    'Name another model: `--model ID`. The hint names the nearest ones.',
  ],
  'model-not-allowed': [
    'The gateway does not allow this key to use the model, or has no price for it.',
    "Name another model: `--model ID`. Or allow the model on the gateway's web page.",
  ],
  'protocol-unsupported': [
    'The gateway does not serve the protocol that the client needs.',
    '`repoint check` shows which clients work with the gateway.',
  ],
  'route-not-allowed': [
    'The key may use the API, but not this route.',
    "Allow the route on the gateway's web page. Without a list of models: `--model ID`.",
  ],
  'tools-unsupported': [
    'The model answers, but not with tools, which every client sends.',
    'Name a model that can use tools: `--model ID`.',
  ],
  'parameter-unsupported': [
    'The gateway rejects a parameter that the client always sends.',
    'The hint names the setting of the client. Otherwise name another model: `--model ID`.',
  ],
  'request-rejected': [
    'The gateway rejects the request, and its words name no cause that repoint knows.',
    'Read the words of the gateway in the message. Name another model: `--model ID`.',
  ],

  refused: [
    'Nothing listens at the address, or the network blocks the connection.',
    'Start the gateway, or check the host and port: `--base-url URL`.',
  ],
  dns: [
    'The name in the address has no host, or the name server does not answer.',
    'Check the spelling of the address, the network and the VPN.',
  ],
  tls: [
    'The certificate is private, expired or for another host, or the port does not speak https.',
    'For a private authority: `--ca-file PATH`. Otherwise use the scheme in the hint.',
  ],
  proxy: [
    'The proxy in an environment variable does not work, or rejects the host.',
    'Correct or unset that variable, or bypass the proxy with `NO_PROXY`.',
  ],
  timeout: [
    'The gateway, or the network, did not answer in time. A local model may still be loading.',
    'Run the command again, or wait longer: `--timeout SECONDS`.',
  ],
  redirected: [
    'The address leads to another one, often a login page.',
    'Open the address in a browser. If you trust the other one, use it: `--base-url URL`.',
  ],

  quota: [
    'The account or the plan of the key has no credit left.',
    "Top it up on the gateway's web page, or use another key.",
  ],
  'rate-limited': [
    'Too many requests.',
    'Wait as long as the hint says, then run the command again.',
  ],
  'gateway-fault': [
    'The gateway, or a server in front of it, has a fault.',
    "Run the command again in a few minutes, or ask the gateway's operator.",
  ],
  'client-refused': [
    "The gateway accepts only certain clients, and rejected repoint's test request.",
    'Let the installed client test the gateway: `--try-client`.',
  ],
  forbidden: [
    'A region, a network, a firewall, a content filter or the account blocks the request.',
    'The message says which one, if the gateway does. The key is not the cause.',
  ],

  'config-invalid': [
    'A configuration file has a syntax error, or a value that its client rejects.',
    'Fix the line in the message, then run the command again.',
  ],
  'config-conflict': [
    'A setting that repoint cannot change safely stops the client from using the gateway.',
    'Change the setting in the message. `repoint doctor --fix` removes what it can.',
  ],
  'changed-underneath': [
    'Another program changed the file during the run.',
    'Run the same command again.',
  ],
  'not-permitted': [
    'You cannot write the file or its folder, or the file belongs to somebody else.',
    'Check the owner and the mode with the command in the hint.',
  ],
  'disk-full': ['The disk or the quota is full.', 'Make room, then run the same command again.'],
  'io-failed': [
    'The disk or the file system has a fault.',
    'Check the disk, then run the command again.',
  ],
  'backup-missing': [
    "A saved copy in repoint's state folder is missing or damaged.",
    '`repoint rollback --list` shows the runs that repoint can still undo.',
  ],
  'record-damaged': [
    'A record is damaged, or another version of repoint wrote it.',
    '`repoint status` shows what your clients use. `repoint forget --all` starts again.',
  ],
  'client-failed': [
    'The client is not installed, or failed when repoint started it.',
    '`repoint doctor CLIENT` finds the cause.',
  ],
  'client-too-old': [
    'This version of the client cannot use another gateway.',
    'Update the client, then run the command again.',
  ],
  'client-version-unknown': [
    'The client did not print its version.',
    'Start the client with `--version`. When it prints a version, run the command again.',
  ],

  locked: ['Another run of repoint is in progress.', 'Wait for it, then run the command again.'],
  'held-back': [
    'You, or another program, changed a setting after the setup, so the undo kept it.',
    'To undo it too: `repoint rollback CLIENT --force`.',
  ],
  drifted: [
    'A client no longer points where the setup put it.',
    '`repoint doctor --fix` restores the setup. `repoint CLIENT` sets it up again.',
  ],
  cancelled: ['You pressed Ctrl-C or answered No.', 'Run the command again.'],
}

/** A row for each code. @param exitStatus the codes of the program with their statuses */
export function codeRows(exitStatus) {
  const codes = Object.keys(exitStatus)
  const unknown = Object.keys(causes).filter((code) => !codes.includes(code))
  const missing = codes.filter((code) => causes[code] === undefined)
  if (unknown.length > 0)
    throw new Error(`scripts/docs/errors.js explains unknown codes: ${unknown.join(', ')}`)
  if (missing.length > 0)
    throw new Error(`scripts/docs/errors.js does not explain these codes: ${missing.join(', ')}`)
  return codes.map((code) => [`\`${code}\``, String(exitStatus[code]), ...causes[code]])
}

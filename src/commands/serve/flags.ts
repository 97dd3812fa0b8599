import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings'
import { ForeignArgument } from '../command-line/arguments.ts'
import { examples, type FlagsOf } from '../command-line/command.ts'

export function define() {
  return new Command('serve')
    .description('run a gateway on this machine, or a command that uses it')
    .addArgument(
      new ForeignArgument(
        '[command...]',
        'after --: runs it with the gateway and exits with its status',
      ),
    )
    .addOption(
      new Option('--port <number>', 'port to listen on; 0 takes any free one')
        .default(0)
        .argParser(portNumber),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--key-file <path>', 'accept the key in this file')
    .option(
      '--key-env <name>',
      'accept the key in this variable (default: REPOINT_API_KEY, else a new key)',
    )
    .option('--models <file>', 'serve this catalog (JSON or YAML)')
    .option('--scenario <file>', 'give the answers in this file (JSON or YAML)')
    .option('--strict', 'reject requests without a written answer')
    .addOption(
      new Option('--fault <fault>', 'cause a fault: rate-limited,every=3 (repeatable)')
        .default<string[]>([], 'none')
        .argParser((fault: string, earlier: string[]) => [...earlier, fault]),
    )
    .addOption(
      new Option(
        '--families <word>',
        'reject what a family of models rejects (vendor), or accept it (rewritten)',
      ).choices(['vendor', 'rewritten'] as const),
    )
    .addOption(
      new Option('--fragment <word>', 'off: write each stream at once').choices([
        'on',
        'off',
      ] as const),
    )
    .option('--log', 'print a line for each request, on standard error')
    .option(
      '--upstream <url>',
      'forward requests to this gateway, with the key in REPOINT_UPSTREAM_KEY',
    )
    .option('--record <file>', 'record the answers of the upstream in this new scenario file')
    .option('--allow-http', 'allow plain http to another machine')
    .option('--json', 'print one line of JSON as soon as it listens')
    .addHelpText(
      'after',
      examples([
        'repoint serve --port 8787 --log',
        'repoint serve --scenario answers.yaml --fault overloaded,every=5',
        'repoint serve -- npm test',
      ]),
    )
}

export type ServeFlags = FlagsOf<typeof define>

function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('It takes a port number, 0 to 65535.')
  return Number(text)
}

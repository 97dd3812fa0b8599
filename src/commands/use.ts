import { Command } from '@commander-js/extra-typings'
import { familyRows, loadClients, rowOf } from '../clients/list.ts'
import { compact } from '../compact.ts'
import { UserError } from '../errors.ts'
import {
  noGatewayHint,
  savedChoices,
  savedGateway,
  savedGateways,
} from '../state/saved-gateways.ts'
import type { Runs } from '../transaction/record.ts'
import type { ClientNow } from './client-state/client-facts.ts'
import { clientsSetUp, reportSkipped, whyNotSetUp } from './client-state/client-now.ts'
import { isInstalled } from './client-state/program/installed-program.ts'
import { recoverAndListRuns } from './client-state/recorded-runs.ts'
import { clientsArgument, GatewayArgument, oneOfEachFamily } from './command-line/arguments.ts'
import { commandOf, examples, otherWays } from './command-line/command.ts'
import { modelId, timeoutOption, withTryFlags } from './command-line/flags.ts'
import { accessToSaved } from './find-gateway/access.ts'
import type { Session } from './screen/session.ts'
import { setUpChosenClients } from './setup/choose-clients.ts'
import type { SetupRequest } from './setup/context.ts'
import { setUpClients } from './setup/set-up-clients.ts'

function define() {
  return withTryFlags(new Command('use'), 'each client')
    .description('point clients at a saved gateway; they keep their models')
    .addArgument(new GatewayArgument('[name]', 'the gateway; without it, repoint asks'))
    .addArgument(
      clientsArgument('only these; without it: every client that is set up, or repoint asks'),
    )
    .option('--model [id]', 'one model for these clients; without an ID: from a list', modelId)
    .option('--defaults', 'use the default models again')
    .option('--details', 'show every setting that changes')
    .option('--dry-run', 'test and show everything; change nothing')
    .option('--yes', 'apply without asking for confirmation')
    .option('--no-verify', 'send no requests to the gateway')
    .addOption(timeoutOption())
    .option('--json', 'print one JSON document')
    .addHelpText('after', otherWays('use'))
    .addHelpText('after', examples(['repoint use work', 'repoint use mine codex --yes']))
}

/** Points clients at a gateway, in one run like any setup. Returns the exit status. */
export const command = commandOf(define, async (session, name, ids, flags) => {
  const runs = recoverAndListRuns(session)
  const saved = savedGateway(session, name ?? (await askName(session)))

  const gateway = accessToSaved(session, saved, flags.timeout * 1000)
  const picksModel = flags.model === true
  const model = flags.model === true ? undefined : flags.model
  const request: Omit<SetupRequest, 'clientIds'> = {
    command: 'use',
    flags,
    optionsOf: () => compact({ model }),
    picksModel,
    preset: { gateway },
  }

  const named = oneOfEachFamily(ids)
  const { setUp, skipped } =
    named.length > 0 ? { setUp: named, skipped: [] } : await idsSetUp(session, runs)
  if (setUp.length > 0) {
    // If repoint asks for the gateway, it also asks for the clients.
    const clientIds = name === undefined ? await chosenOf(session, setUp) : setUp
    await setUpClients(session, { ...request, clientIds }, { runs })
  } else {
    if (skipped.length > 0 || session.consent(flags.yes) !== 'ask')
      throw await whyNoClient(session, saved.name, skipped)
    await setUpChosenClients(session, { ...request, runs })
  }
  return 0
})

/** @throws UserError `usage` if repoint cannot ask */
async function askName(session: Session): Promise<string> {
  const all = savedGateways(session)
  if (!session.canAsk || all.length === 0)
    throw new UserError({
      code: 'usage',
      message: all.length === 0 ? 'No gateway is saved yet' : 'Which gateway?',
      hint:
        all.length === 0
          ? noGatewayHint
          : 'repoint use NAME. Your saved gateways: repoint gateways',
    })

  return session.platform.ask.search({
    message: 'Which gateway?',
    choices: savedChoices(session.platform, all),
  })
}

async function idsSetUp(session: Session, runs: Runs) {
  const { setUp, skipped } = await clientsSetUp(session, runs)
  reportSkipped(session, skipped)
  return { setUp: setUp.map(({ client }) => client.id), skipped }
}

async function whyNoClient(
  session: Session,
  name: string,
  skipped: readonly ClientNow[],
): Promise<UserError> {
  const all = await loadClients(familyRows)
  const { id } = all.find((client) => isInstalled(session, client)) ?? all[0]!
  return whyNotSetUp(skipped, {
    message: 'No client is set up yet',
    hint: `Name a client: repoint use ${name} ${id}`,
  })
}

function chosenOf(session: Session, ids: readonly string[]): Promise<readonly string[]> {
  return session.platform.ask.checkbox({
    message: 'Which clients?',
    choices: () => ids.map((id) => ({ value: id, name: rowOf(id).label, checked: true })),
    validate: (chosen) => chosen.length > 0 || 'Select at least one with the space bar.',
  })
}

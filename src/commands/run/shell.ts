/** `repoint run` without a command: a shell in which every client uses the gateway. */
import type { Client } from '../../clients/contract/client.ts'
import { UserError } from '../../errors.ts'
import type { Launch } from '../resolve/point-client.ts'
import type { Session } from '../screen/session.ts'
import { clientsCalled, gatewayEnv, type LaunchRequest, pointProgram, readList } from './launch.ts'

/** The first installed client for each program that a shell could start. */
export function firstInstalled(session: Session, clients: readonly Client[]): readonly Client[] {
  return installedPrograms(session, clients).flatMap((program) =>
    clientsCalled(session, clients, program).slice(0, 1),
  )
}

/** The program of the user's shell. */
export function shellOf({ platform }: Session): readonly [string] {
  const { env, os } = platform.machine
  return os === 'win32' ? [env['ComSpec'] || 'cmd.exe'] : [env['SHELL'] || '/bin/sh']
}

/**
 * Starts a shell with the usual variables and those of every client that needs no arguments. The other
 * clients would use their own files, and repoint reports that.
 */
export async function pointShell(
  session: Session,
  clients: readonly Client[],
  request: LaunchRequest,
): Promise<Launch> {
  const list = request.list ?? (await readList(session, request.requester))
  let { process } = request
  let { access } = request.requester
  let files: Launch['files'] = {}
  const needArguments: string[] = []
  for (const program of installedPrograms(session, clients)) {
    try {
      const called = clientsCalled(session, clients, program)
      const launch = await pointProgram(session, called, { ...request, list, process })
      access = launch.access

      if (launch.args.length > 0) needArguments.push(program)
      else {
        process = { ...process, env: launch.env }
        files = { ...files, ...launch.files }
      }
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      session.remark(`note: ${program} cannot use this gateway: ${error.message}`)
    }
  }

  const { name, address } = access
  const gateway = name === undefined ? address : `${name} (${address})`
  session.remark(`A shell that uses ${gateway}. To leave it: exit`)
  const gatewayFlags = name ?? `--base-url ${address} --key-env NAME`
  for (const program of needArguments)
    session.remark(
      `note: ${program} ignores these variables. Start it with: repoint run ${gatewayFlags} -- ${program}`,
    )
  return { args: process.args, env: gatewayEnv(access, process.env), files, access }
}

function installedPrograms({ platform }: Session, clients: readonly Client[]): readonly string[] {
  const programs = [...new Set(clients.map(({ program }) => program.command))]
  return programs.filter((program) => platform.processes.which(program) !== undefined)
}

import type { Session } from '../../../src/commands/screen/session.ts'
import { nodeFiles } from '../../../src/platform/node-files.ts'
import { aMachine } from '../../client-modules/support.ts'

/** The parts of a session that a proof uses, on a machine without clients. */
export const session = {
  step: <T>(_what: string, work: Promise<T>) => work,
  addFindings: () => {},
  platform: {
    processes: { which: () => undefined },
    files: nodeFiles('linux'),
    machine: aMachine({ home: '/nowhere', cwd: '/nowhere' }),
  },
} as unknown as Session

/** All error codes. A code never changes once released. docs/errors.md is generated from this list. */
import { type CodeMeaning, outcomeCodes } from './outcome-codes.ts'

/** The codes of failures on this machine. */
const localCodes = {
  internal: {
    exitStatus: 1,
    likelyCause: 'A bug in repoint.',
    cure: 'Report it, with the lines that repoint prints.',
  },
  usage: {
    exitStatus: 2,
    likelyCause: 'The command is not complete, or two of its flags contradict each other.',
    cure: 'The message names the flag. `repoint COMMAND --help` shows them all.',
  },
  'key-missing': {
    exitStatus: 2,
    likelyCause: 'No key, no terminal to ask for one, or the variable with the key is not set.',
    cure: 'Pass the key with `--key-env NAME`, `--key-file PATH` or `--key-stdin`.',
  },
  'key-placeholder': {
    exitStatus: 2,
    likelyCause: 'The key is an example from instructions, or its middle is masked.',
    cure: "Copy the whole key with the copy button of the gateway's web page.",
  },
  'confirmation-needed': {
    exitStatus: 2,
    likelyCause: 'The command changes or deletes something, and there is no terminal to ask.',
    cure: 'Look at the changes with `--dry-run`, then add `--yes`.',
  },
  'config-invalid': {
    exitStatus: 8,
    likelyCause: 'A configuration file has a syntax error, or a value that its client rejects.',
    cure: 'Fix the line in the message, then run the command again.',
  },
  'config-conflict': {
    exitStatus: 8,
    likelyCause:
      'A setting that repoint cannot change safely stops the client from using the gateway.',
    cure: 'Change the setting in the message. `repoint doctor --fix` removes what it can.',
  },
  'changed-underneath': {
    exitStatus: 8,
    likelyCause: 'Another program changed the file during the run.',
    cure: 'Run the same command again.',
  },
  'not-permitted': {
    exitStatus: 8,
    likelyCause: 'You cannot write the file or its folder, or the file belongs to somebody else.',
    cure: 'Check the owner and the mode with the command in the hint.',
  },
  'disk-full': {
    exitStatus: 8,
    likelyCause: 'The disk or the quota is full.',
    cure: 'Make room, then run the same command again.',
  },
  'io-failed': {
    exitStatus: 8,
    likelyCause: 'The disk or the file system has a fault.',
    cure: 'Check the disk, then run the command again.',
  },
  'backup-missing': {
    exitStatus: 8,
    likelyCause: "A saved copy in repoint's state folder is missing or damaged.",
    cure: '`repoint rollback --list` shows the runs that repoint can still undo.',
  },
  'record-damaged': {
    exitStatus: 8,
    likelyCause: 'A record is damaged, or another version of repoint wrote it.',
    cure: '`repoint status` shows what your clients use. `repoint forget --all` starts again.',
  },
  'client-failed': {
    exitStatus: 8,
    likelyCause: 'The client is not installed, or failed when repoint started it.',
    cure: '`repoint doctor CLIENT` finds the cause.',
  },
  'client-too-old': {
    exitStatus: 8,
    likelyCause: 'This version of the client cannot use another gateway.',
    cure: 'Update the client, then run the command again.',
  },
  'client-version-unknown': {
    exitStatus: 8,
    likelyCause: 'The client did not print its version.',
    cure: 'Start the client with `--version`. When it prints a version, run the command again.',
  },
  locked: {
    exitStatus: 9,
    likelyCause: 'Another run of repoint is in progress.',
    cure: 'Wait for it, then run the command again.',
  },
  'held-back': {
    exitStatus: 10,
    likelyCause: 'You, or another program, changed a setting after the setup, so the undo kept it.',
    cure: 'To undo it too: `repoint rollback CLIENT --force`.',
  },
  drifted: {
    exitStatus: 11,
    likelyCause: 'A client no longer points where the setup put it.',
    cure: '`repoint doctor --fix` restores the setup. `repoint CLIENT` sets it up again.',
  },
  cancelled: {
    exitStatus: 130,
    likelyCause: 'You pressed Ctrl-C or answered No.',
    cure: 'Run the command again.',
  },
} as const satisfies Readonly<Record<string, CodeMeaning>>

export const errorCodes = { ...localCodes, ...outcomeCodes }

export type ErrorCode = keyof typeof errorCodes

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code)
}

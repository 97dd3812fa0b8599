/**
 * What an undo knows about a client's connection: whether someone has pointed the client elsewhere since
 * the run, and which models belong to the gateway.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Contents } from '../contents.ts'
import { isAddress, isConnection, isSameContent, type RecordedFile } from '../record.ts'
import {
  type ComparedValue,
  compareSettings,
  historyOf,
  type ModelCheck,
  valueInVersion,
} from './compare.ts'

/**
 * Whether someone pointed a client elsewhere since the run: they changed its address, key or provider.
 * Then all of its settings stay, because half of them would send a key to the wrong address.
 *
 * An exception: a login replaced the gateway's key, and the client had no address before the run.
 *
 *     changed since the run     address before the run    the connection
 *     nothing                   any                       is undone
 *     address or provider       any                       stays
 *     the key is gone           none                      is undone: the login must not go to the gateway
 *     the key is gone           one                       stays: the login was not made for that address
 *
 * @param files the client's files in the run
 */
export function isRedirected(files: readonly RecordedFile[], contents: Contents): boolean {
  const changed = files.flatMap((file) => changedConnection(file, contents))
  if (changed.length === 0) return false

  const onlyKeyIsGone = changed.every(({ setting, now }) => setting.isSecret && !now)
  return !onlyKeyIsGone || hadAddress(files, contents)
}

/**
 * The connection settings of a file that someone changed since the run. A file with scope `whole` that
 * someone wrote since is a new login, even if it has no key, as before the run.
 */
function changedConnection(file: RecordedFile, contents: Contents): readonly ComparedValue[] {
  if (!file.settings.some(isConnection)) return []
  const now = contents.get(file.path)
  if (isSameContent(now, file.written) || isSameContent(now, file.before)) return []

  const compared = compareSettings(historyOf(contents, file))
  const connection = compared.filter(({ setting }) => isConnection(setting))
  if (file.scope !== 'whole')
    return connection.filter(({ isOurs, isEarlier }) => !isOurs && !isEarlier)

  // The run removed the file, so everything in it was written since.
  if (file.written === null) return connection
  return connection.filter(({ isOurs }) => !isOurs)
}

function hadAddress(files: readonly RecordedFile[], contents: Contents): boolean {
  return files.some((file) =>
    file.settings
      .filter(isAddress)
      .some(({ path }) => valueInVersion(historyOf(contents, file), 'before', path) !== undefined),
  )
}

/**
 * Which models that someone chose since the run are undone with it. If the run connected the client to
 * the gateway, every model of the gateway is undone, because it does not exist at the earlier service.
 * A model of another provider stays. If there is one, models that do not name their provider stay too.
 */
export function modelsOfGateway(files: readonly RecordedFile[], contents: Contents): ModelCheck {
  if (!connectsToGateway(files, contents)) return () => false

  const usesAnother = usesAnotherProvider(files, contents)
  return ({ ourPrefix }, model) =>
    ourPrefix === undefined ? !usesAnother : model.startsWith(ourPrefix)
}

/** Whether the run changed the client's address or provider. */
function connectsToGateway(files: readonly RecordedFile[], contents: Contents): boolean {
  return files.some((file) => {
    const history = historyOf(contents, file)
    return file.settings
      .filter(isAddress)
      .some(
        ({ path }) =>
          !isDeepStrictEqual(
            valueInVersion(history, 'before', path),
            valueInVersion(history, 'written', path),
          ),
      )
  })
}

/** Whether a model that names its provider names another one now. */
function usesAnotherProvider(files: readonly RecordedFile[], contents: Contents): boolean {
  return files.some((file) =>
    file.settings.some(({ role, path, ourPrefix }) => {
      if (role !== 'model' || ourPrefix === undefined) return false
      const model = valueInVersion(historyOf(contents, file), 'now', path)
      return typeof model === 'string' && !model.startsWith(ourPrefix)
    }),
  )
}

import type { ConfigValue } from '../../edits/types.ts'
import type { Findings } from '../../finding.ts'
import { type ModelAndProtocol, type Protocol, protocols } from '../../gateway/types.ts'
import { isExported, proxyFindings, variableFindings } from '../checks/environment.ts'
import {
  findingAt,
  missingKeyFinding,
  missingVersionFinding,
  relativePathFindings,
  unreadFileFinding,
} from '../checks/findings.ts'
import { leftoverFindings } from '../checks/other-tools.ts'
import { exportedVariables } from '../checks/shell-profiles.ts'
import type { ClientContext } from '../contract/client.ts'
import type { KnownVariables } from '../contract/config.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { mayNeedNoKey } from '../files/addresses.ts'
import {
  fileOf,
  filesOfKind,
  type ParsedFile,
  parseKind,
  parseLayers,
  textOf,
} from '../files/parse-file.ts'
import { isTable, valueIn } from '../files/tables.ts'
import { qwenName } from '../names.ts'
import { removal } from '../plan/edit-file.ts'
import {
  hasVariable,
  type InUse,
  inUse,
  isBehindAnother,
  keyVariable,
  lacksOnlyVersion,
  layoutVersion,
  listPath,
  loginTypes,
  mergedSettings,
  ourFirstPath,
  paths,
  readSettings,
  usualVariables,
} from './settings.ts'

export const variables: KnownVariables = {
  families: ['QWEN_', 'OPENAI_'],
  harmful: [
    {
      name: keyVariable,
      code: 'qwen-shell-variable',
      effect: 'Qwen Code sends this key instead of your gateway key',
      severity: 'error',
    },
  ],
  // Next to an entry that names its key, these change nothing (0.15.10 and 0.24.4, 2026-11-22). Other entries have
  // keys of their own.
  harmless: ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'QWEN_CUSTOM_API_KEY_*'],
}

/** Reports what would defeat the settings that a setup is about to write. */
export function* checkSetup(context: ClientContext, target: SetupTarget): Findings {
  const file = parseKind(context.files, 'settings')
  yield* checkSurroundings(context)
  yield* checkBrokenEntries(file)
  const { model, protocol } = target.resolved
  yield* checkEnforcedLogin(context.files, protocol)
  yield* checkLogin(context.files)
  yield* checkSameId(file, { model, protocol })
  yield* checkOldLayout(file)
  yield* checkVariables(context)
  // 0.15.10 ignores every exemption from a proxy.
  yield* proxyFindings(qwenName, target.baseUrl, context.machine.env)
}

/** Reports what is wrong with the effective configuration of Qwen Code. */
export function* checkNow(context: ClientContext): Findings {
  const { files } = context
  const file = parseKind(files, 'settings')
  const { value } = mergedSettings(files)
  yield* checkSurroundings(context)
  yield* checkBrokenEntries(file)
  yield* checkCopies(files)

  const used = inUse(value)
  // With another service, the user may configure Qwen Code freely.
  if (used?.url === undefined) return

  const { protocol, model } = used
  yield* checkEnforcedLogin(files, protocol)
  yield* checkMissingKey(context, used)
  yield* checkAddresses(context, used)
  yield* proxyFindings(qwenName, used.url, context.machine.env)
  if (used.variable !== keyVariable) return

  yield* checkOldLayout(file)
  yield* checkVariables(context)
  if (model !== undefined) yield* checkSameId(file, { model, protocol })
}

/**
 * Checks whether Qwen Code can read the settings, and where they are; the .env files of the home folder may
 * name the place too.
 */
function* checkSurroundings({ machine, files }: ClientContext): Findings {
  yield* unreadFileFinding(readSettings(fileOf(files, 'settings')), {
    code: 'qwen-settings-broken',
    effect: 'Qwen Code does not start, or (0.15.10) ignores the whole file',
    topic: 'broken',
  })

  yield* relativePathFindings(qwenName, machine, { names: ['QWEN_HOME'] })
  if (machine.env['QWEN_HOME']) return

  for (const location of envLines(files, 'QWEN_HOME', ['home-env']))
    yield {
      code: 'qwen-folder-elsewhere',
      message: 'QWEN_HOME is set in a .env file: Qwen Code reads settings.json of that folder',
      location,
      hint: 'Remove the line, or export QWEN_HOME in your shell.',
      severity: 'error',
    }
}

/** Both versions exit at once if an entry has no ID. */
function* checkBrokenEntries(file: ParsedFile): Findings {
  for (const path of protocols.map(listPath)) {
    const list = file.get(path)
    const code = 'qwen-entry-broken'
    const name = path.join('.')
    if (list === undefined) continue
    if (!Array.isArray(list)) {
      yield findingAt(file, path, {
        code,
        message: `Qwen Code does not start: ${name} is not a list`,
        hint: 'Make it a list of models.',
      })
      continue
    }

    const isWithoutId = (entry: ConfigValue) => !isTable(entry) || !entry['id']
    if (list.some(isWithoutId))
      yield findingAt(file, path, {
        code,
        message: `Qwen Code does not start: ${name} has an entry without an ID`,
        hint: 'Add the ID, or remove the entry.',
      })
  }
}

/**
 * A setting allows only another kind of login. Qwen Code waits for that login; without a terminal it waits
 * forever.
 */
function* checkEnforcedLogin(files: LoadedFiles, protocol: Protocol): Findings {
  const file = parseKind(files, 'settings')
  const path = paths.onlyType
  const only = file.get(path)
  if (only === undefined || only === loginTypes[protocol]) return

  const name = path.join('.')
  yield findingAt(file, path, {
    code: 'qwen-only-other-login',
    message: `${name} allows only ${JSON.stringify(only)}: Qwen Code asks you to log in`,
    ...removal(file, name, { path }),
  })
}

function* checkLogin(files: LoadedFiles): Findings {
  const file = parseKind(files, 'settings')
  const isChosen = file.get(paths.type) === 'qwen-oauth'
  if (!isChosen || filesOfKind(files, 'login').length === 0) return

  yield findingAt(file, paths.type, {
    code: 'qwen-login',
    message: "Qwen Code uses a login of its vendor's account",
    hint: 'Nothing to do: the login stays on this machine.',
    needsConsentTo: 'Stop using the login of Qwen Code. repoint rollback restores it.',
    severity: 'warning',
  })
}

/** Qwen Code uses the first entry with an ID, if no setting next to the model distinguishes them. */
function* checkSameId(file: ParsedFile, { model, protocol }: ModelAndProtocol): Findings {
  if (!isBehindAnother(file, { model, protocol })) return

  yield findingAt(file, [...listPath(protocol), { element: { id: model } }], {
    code: 'qwen-same-model',
    message: `another entry for ${model} comes first, and versions such as 0.15.10 use that one`,
    hint: 'With such a version, move it below the entry "Gateway", or remove it.',
    severity: 'warning',
  })
}

function* checkOldLayout(file: ParsedFile): Findings {
  const { document, root } = file
  if (document === undefined || root['$version'] === layoutVersion || lacksOnlyVersion(file)) return

  yield findingAt(file, ['$version'], {
    code: 'qwen-rewrites',
    message:
      'Qwen Code will rewrite the file at its next start, because its layout is old. Then other users can read the file, and versions such as 0.15.10 leave a copy',
    hint: 'Start Qwen Code once before the setup. Or afterwards: repoint doctor qwen --fix',
    severity: 'warning',
  })
}

/** Another value of the variable that our entry names overrides the settings. */
function* checkVariables(context: ClientContext): Findings {
  yield* variableFindings(context, variables.harmful)

  for (const location of envLines(context.files, keyVariable, ['home-env']))
    yield {
      code: 'qwen-env-file',
      message: `${keyVariable} in a .env file overrides your gateway key`,
      location,
      hint: 'Remove the line.',
      severity: 'error',
    }
}

/** The lines at which .env files of these kinds set a variable. */
function envLines(files: LoadedFiles, name: string, kinds: readonly string[]): readonly string[] {
  return kinds.flatMap((kind) =>
    filesOfKind(files, kind).flatMap((file) =>
      exportedVariables(file.path, textOf(file))
        .filter((found) => found.name === name)
        .map(({ line }) => `${file.path}:${line}`),
    ),
  )
}

/** Rollback does not change copies that the client made. */
function* checkCopies(files: LoadedFiles): Findings {
  for (const file of parseLayers(files, 'copy')) {
    if (file.get(paths.key) === undefined) continue

    yield findingAt(file, paths.key, {
      code: 'qwen-copy',
      message: 'Qwen Code left a copy of its settings, with a gateway key',
      hint: 'Delete the copy.',
      severity: 'warning',
    })
  }
}

function* checkMissingKey(
  context: ClientContext,
  { url, key, variable, entry, protocol }: InUse,
): Findings {
  const { files } = context
  const { value } = mergedSettings(files)
  const names = [variable, usualVariables[protocol].key]
  const isKeyElsewhere = names.some(
    (name) =>
      isExported(context, name) ||
      envLines(files, name, ['home-env', 'project-env']).length > 0 ||
      hasVariable(valueIn(value, ['env', name])),
  )
  const needsNone = hasVariable(entry?.['envKey']) || mayNeedNoKey(url, context)
  if (key !== undefined || isKeyElsewhere || needsNone) return

  const message = `${variable} has no value: Qwen Code does not start`
  yield missingKeyFinding(qwenName, fileOf(files, 'settings').path, message)
}

function* checkAddresses(
  context: ClientContext,
  { url, key, variable, protocol }: InUse,
): Findings {
  const file = parseKind(context.files, 'settings')
  if (variable === keyVariable) {
    const path = [...ourFirstPath(protocol), 'baseUrl']
    yield* missingVersionFinding(qwenName, context, file, {
      url,
      protocol,
      path,
      name: 'baseUrl of the entry',
    })
  }
  yield* leftoverFindings(qwenName, context, {
    url,
    urlPlace: () => file.place(listPath(protocol)),
    key,
    keyPlace: file.place(['env', variable]),
  })
}

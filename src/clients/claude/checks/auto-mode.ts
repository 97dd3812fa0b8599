import type { SettingChange } from '../../../edits/types.ts'
import type { Findings } from '../../../finding.ts'
import type { FirstRequest, Safeguards } from '../../../gateway/types.ts'
import { findingAt } from '../../checks/findings.ts'
import type { LoadedFile, LoadedFiles } from '../../contract/files.ts'
import { valueIn } from '../../files/tables.ts'
import { type ClaudeSettings, readSettings } from '../settings.ts'
import { asksForSafeguards } from '../versions.ts'

/**
 * Claude Code's auto mode lets the gateway check each tool call (`safeguards`). The terminal UI of
 * 2.1.300 to 2.1.331 starts in it by default. If the gateway gives no verdict, the first command stops:
 * 2.1.327 to 2.1.331 show "Auto mode can't check actions", 2.1.300 and 2.1.301 a notice about billed
 * requests to their own classifier. All of them were run on 2026-11-24.
 */
const modePath = ['permissions', 'defaultMode'] as const

const switchPath = ['permissions', 'disableAutoMode'] as const

/**
 * The settings that start Claude Code in the default permission mode, which asks, and keep it there. With the mode
 * alone, 2.1.330 and 2.1.331 offer at their start to make auto mode the default, with Yes first. Both versions
 * accept the two settings.
 */
export const askingModeChanges: readonly SettingChange[] = [
  { path: modePath, value: 'default' },
  { path: switchPath, value: 'disable' },
]

/** The check that auto mode requests; 2.1.331 adds folders, rules and the state of git. */
const safeguards: Safeguards = {
  beta: 'dangerous-tool-use-2026-09-03',
  body: [
    {
      type: 'dangerous_tool_use',
      classifier_context: { v: 1, permission_mode: 'auto', platform: 'linux' },
    },
  ],
}

/**
 * The check that a version requests in auto mode.
 *
 * @param withoutBetas experimental betas are off: auto mode stays on, but requests no check
 */
export function safeguardsOf(
  version: string | undefined,
  withoutBetas: boolean,
): FirstRequest['safeguards'] {
  if (!asksForSafeguards(version)) return undefined
  return withoutBetas ? 'withheld' : safeguards
}

/**
 * Whether the user or an administrator chose a mode or switched auto mode off. A project's settings apply in
 * its folder only, so they are skipped unless `kinds` names them.
 */
export function isModeChosen(
  files: LoadedFiles,
  kinds: readonly LoadedFile['kind'][] = ['settings', 'managed'],
): boolean {
  return files
    .filter(({ kind }) => kinds.includes(kind))
    .map((file) => readSettings(file).root)
    .some((root) => {
      const places = [modePath, switchPath, ['disableAutoMode']]
      return places.some((path) => valueIn(root, path) !== undefined)
    })
}

/** Reports what a gateway that does not answer `safeguards` means for the setup. */
export function* checkAutoMode(files: LoadedFiles, settings: ClaudeSettings): Findings {
  if (isModeChosen(files)) {
    if (valueIn(settings.root, modePath) !== 'auto') return
    yield findingAt(settings, [...modePath], {
      code: 'claude-auto-mode',
      message: 'the settings choose auto mode, and the gateway does not answer its safety check',
      hint: `Set permissions.defaultMode to "default", or ask the gateway's operator to forward \`safeguards\`.`,
      severity: 'warning',
    })
    return
  }

  yield {
    code: 'claude-auto-mode',
    message: `auto mode is turned off (permissions.defaultMode becomes "default"), because the gateway does not answer its safety check`,
    location: settings.path,
    hint: "Ask the gateway's operator to forward `safeguards`.",
    severity: 'warning',
  }
}

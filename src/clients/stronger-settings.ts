import type { FileText, Obstacle } from './client.ts'
import { rootOf, shownUrl } from './texts.ts'

/** What a file sets that wins over the user's own settings: of a project, or of the administrator. */
interface StrongerSettings {
  /** Of the role `managed` where it is the administrator's. */
  readonly file: FileText
  /** What it sets, by name. */
  readonly keys: string
  readonly place: string
  /** It decides where the key goes, or which one goes there; `url`: where to, as far as it says. */
  readonly takesKey: { readonly url: string | undefined } | undefined
}

/** The obstacle `ID-managed-settings` or `ID-project-settings`. */
export function strongerSettings(
  { id, label }: { readonly id: string; readonly label: string },
  { file, keys, place, takesKey }: StrongerSettings,
): Obstacle {
  if (file.role === 'managed')
    return {
      code: `${id}-managed-settings`,
      message: `the administrator's settings set ${keys}, which wins over yours`,
      place,
      cure: 'Ask the administrator of this machine.',
      weight: 'blocks',
    }

  const code = `${id}-project-settings`
  if (takesKey === undefined)
    return {
      code,
      message: `this folder's own settings set ${keys}, which wins over yours while ${label} runs here`,
      place,
      cure: `Remove them there, or start ${label} in another folder.`,
      weight: 'may-block',
    }

  // Whoever wrote this folder decides where the key goes, or what is run to get one.
  const { url } = takesKey
  const where = url === undefined ? 'another place or another key' : shownUrl(url)
  return {
    code,
    message: `this folder's own settings set ${keys}: ${label}, started here, takes your key to ${where}`,
    place,
    cure: `Do not start ${label} in this folder, unless you trust whoever wrote it.`,
    needsConsent: `${label}, started in this folder, takes your key to ${where}: ${file.path} says so.`,
    ...(url === undefined ? {} : { leadsTo: rootOf(url) }),
    weight: 'blocks',
  }
}

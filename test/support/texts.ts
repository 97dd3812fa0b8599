import type { Home } from './home.ts'

/** The text of each file in a home, by name, without repoint's own state. */
export function textsIn(home: Home): Readonly<Record<string, string>> {
  const names = home
    .everything()
    .filter((name) => !name.startsWith('.local/state') && home.isFile(name))
  return Object.fromEntries(names.map((name) => [name, home.text(name)]))
}

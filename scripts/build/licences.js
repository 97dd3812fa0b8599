import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The licences of all packages that went into the bundles, as one Markdown text.
 *
 * @param inputs paths of bundled sources, relative to the project
 * @throws Error if a package names no licence
 */
export function licencesOf(inputs) {
  const folders = new Set(inputs.flatMap((path) => packageFolder(path) ?? []))
  const sections = [...folders].sort().map(section)
  return `# Licences of what is bundled\n\nrepoint itself is under the MIT licence. Its published package contains parts of the following packages.\n\n${sections.join('\n')}`
}

function packageFolder(path) {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]
}

function section(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (!license) throw new Error(`${name} names no licence`)
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)(\.|$)/i.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  const quoted = texts.map((text) => `\n\`\`\`\`text\n${text}\n\`\`\`\`\n`).join('')
  return `## ${name} ${version}\n\n${license}\n${quoted}`
}

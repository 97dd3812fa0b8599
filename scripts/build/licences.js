/** Collects the licences of the bundled packages. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The licences of all bundled packages, as one Markdown text.
 *
 * @param inputs paths of bundled sources, relative to the project
 * @throws Error if a package names no licence
 */
export function licencesOf(inputs) {
  const sections = packageFolders(inputs).map(section)
  return `# Licences of what is bundled\n\nrepoint itself is under the MIT licence. Its published package contains parts of the following packages.\n\n${sections.join('\n')}`
}

/**
 * What is bundled, as a list that programs read: CycloneDX 1.6. npm's own list would name what we build
 * with, and nothing of what we publish.
 */
export function billOfMaterials(inputs, { name, version }) {
  const components = packageFolders(inputs).map((folder) => {
    const { name, version, license } = manifestIn(folder)
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
    return { type: 'library', name, version, purl, licenses: [{ license: { id: license } }] }
  })
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name, version } },
    components,
  }
}

function packageFolders(inputs) {
  return [...new Set(inputs.flatMap((path) => packageFolder(path) ?? []))].sort()
}

function manifestIn(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function packageFolder(path) {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]
}

function section(folder) {
  const { name, version, license } = manifestIn(folder)
  if (!license) throw new Error(`${name} names no licence`)
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)(\.|$)/i.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  const quoted = texts.map((text) => `\n\`\`\`\`text\n${text}\n\`\`\`\`\n`).join('')
  return `## ${name} ${version}\n\n${license}\n${quoted}`
}

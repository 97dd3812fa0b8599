/**
 * Writes the generated parts of README.md: the help of all commands and the table of exit statuses.
 * With --check it changes nothing and ends with status 1 when README.md is out of date.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { exitStatus } from '../dist/errors.js'

const meanings = {
  0: 'done, or nothing to do',
  1: 'a fault of repoint itself',
  2: 'wrong usage, or something is missing that only a person could be asked for',
  3: 'the gateway refuses the key',
  4: 'the address is not the API',
  5: 'the model cannot be used',
  6: 'the gateway cannot be reached',
  7: 'the gateway answers but does not serve',
  8: 'a local file cannot be read, edited or written safely',
  9: 'another run is at work',
  130: 'cancelled',
}

const before = readFileSync('README.md', 'utf8')
const after = withBlock(withBlock(before, 'help', help()), 'exit', exitTable())
if (!process.argv.includes('--check')) writeFileSync('README.md', after)
else if (after !== before) {
  console.error('README.md is out of date: npm run readme')
  process.exitCode = 1
}

function withBlock(text, name, content) {
  const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`]
  const [head, rest] = text.split(start)
  const tail = rest?.split(end)[1]
  if (tail === undefined) throw new Error(`README.md has no ${start} … ${end}`)
  return `${head}${start}\n${content}\n${end}${tail}`
}

function help() {
  const overview = helpOf()
  const list = overview.split('\nCommands:\n')[1].split('\n\n')[0]
  const names = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name]) => name)
  const pages = names
    .filter((name) => name !== 'help')
    .map(
      (name) =>
        `<details>\n<summary><code>repoint ${name}</code></summary>\n\n${block(helpOf(name))}\n\n</details>`,
    )
  return [block(overview), ...pages].join('\n\n')
}

function helpOf(...command) {
  const env = { PATH: process.env.PATH, LANG: 'C.UTF-8' }
  return execFileSync(process.execPath, ['bin/repoint.js', ...command, '--help'], {
    encoding: 'utf8',
    env,
  })
}

function block(text) {
  return `\`\`\`text\n${text.trim()}\n\`\`\``
}

function exitTable() {
  const rows = Object.entries(meanings).map(([status, meaning]) => {
    const codes = Object.keys(exitStatus).filter((code) => exitStatus[code] === Number(status))
    return `| ${status} | ${meaning} | ${codes.map((code) => `\`${code}\``).join(', ')} |`
  })
  const nameless = Object.values(exitStatus).filter((status) => !(status in meanings))
  if (nameless.length > 0) throw new Error(`no meaning for exit status ${nameless.join(', ')}`)
  return ['| Status | Meaning | Codes |', '|---|---|---|', ...rows].join('\n')
}

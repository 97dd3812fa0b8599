import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

test('a clone that is not built says what to type', () => {
  const clone = mkdtempSync(join(tmpdir(), 'repoint-clone-'))
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }))
  cpSync('bin', join(clone, 'bin'), { recursive: true })
  const { status, stderr } = spawnSync(process.execPath, [join(clone, 'bin/repoint.js')], {
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stderr).toBe(
    'error: This clone of repoint is not built yet.\nhint:  npm ci && npm run build\n',
  )
})

/** Git for Windows converts line endings unless a repository says otherwise: .gitattributes does. */
test.runIf(existsSync('.git'))('a clone with core.autocrlf has every byte', () => {
  const clone = mkdtempSync(join(tmpdir(), 'repoint-clone-'))
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }))
  execFileSync('git', ['clone', '--quiet', '-c', 'core.autocrlf=true', '.', clone])

  const tree = execFileSync('git', ['ls-tree', '-r', '-z', 'HEAD'], { encoding: 'utf8' })
  const files = tree.split('\0').flatMap((line) => {
    const [, , hash, name] = /^(\d+) blob (\w+)\t(.*)$/.exec(line) ?? []
    return hash !== undefined && name !== undefined ? [{ hash, name }] : []
  })
  expect(files.length).toBeGreaterThan(300)

  const names = files.map(({ name }) => name).join('\n')
  const args = ['hash-object', '--no-filters', '--stdin-paths']
  const hashes = execFileSync('git', args, { cwd: clone, input: names, encoding: 'utf8' })
  expect(hashes.trim().split('\n')).toEqual(files.map(({ hash }) => hash))
  expect(readFileSync(join(clone, '.gitattributes'), 'utf8')).toContain('* -text')
})

// `npm run test:sdk`: the official SDKs as clients of the gateway. Their newest versions need Node 22,
// so they run on one from npm; it and they lie in .cache/sdk and are no dev dependencies.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../.cache/sdk', import.meta.url))
const isNewEnough = Number(process.versions.node.split('.')[0]) >= 22
const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
const packages = [
  'openai@7.57.0',
  '@anthropic-ai/sdk@1.12.0',
  'ai@7.0.173',
  '@ai-sdk/openai@4.0.118',
  '@ai-sdk/anthropic@4.0.105',
  '@ai-sdk/openai-compatible@3.0.92',
  'zod@4.6.7',
  ...(isNewEnough ? [] : [`${nodePackage}@22.23.3`]),
]

const stamp = `${folder}/installed.json`
const wanted = JSON.stringify(packages)
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  console.error('Installing the SDKs into .cache/sdk …')
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/package.json`, '{"private":true,"type":"module"}\n')
  const { status } = spawnSync(
    'npm',
    ['install', '--prefix', folder, '--no-audit', '--no-fund', ...packages],
    { stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' },
  )
  if (status === 0) writeFileSync(stamp, wanted)
  else throw new Error('The SDKs could not be installed.')
}

const exe = process.platform === 'win32' ? '.exe' : ''
const node = isNewEnough ? process.execPath : `${folder}/node_modules/${nodePackage}/bin/node${exe}`
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const args = ['run', '--config', 'vitest.sdk.config.ts', ...process.argv.slice(2)]
process.exitCode = spawnSync(node, [vitest, ...args], { stdio: 'inherit' }).status ?? 1

/**
 * The situations in which the first request of a client has another shape, by client: each `kind` is a
 * recording, which the client's `firstRequest` chooses by this name.
 *
 * @typedef {object} Situation
 * @property {string} kind
 * @property {'responses' | 'messages' | 'chat'} protocol
 * @property {string} [model] the only one that the gateway lists; absent: its usual ones
 * @property {string} [command] of repoint; absent: the name of the client
 * @property {string[] | null} [setup] arguments of the setup; absent: the model; null: there is no setup
 * @property {Record<string, string>} [files] below the home, before the setup
 * @property {(version: string) => boolean} [isFor] absent: for every version
 */
import { isBefore } from './versions.js'

const since = (first) => (version) => !isBefore(version, first)
const until = (last) => (version) => !isBefore(last, version)

/** The same kind over several protocols. */
function overEach(kind, modelOf) {
  return Object.entries(modelOf).map(([protocol, model]) => ({
    kind,
    protocol,
    model,
    setup: ['--model', model, '--protocol', protocol],
  }))
}

/** One model, for each protocol. */
function overAll(model) {
  return { chat: model, responses: model, messages: model }
}

/** A client without files. */
function withoutSetup(kind, modelOf) {
  return overEach(kind, modelOf).map((one) => ({ ...one, setup: null }))
}

/** opencode, and what is made from it: the vendor of the model decides. */
const ofLayout = [
  ...overEach('gpt', { chat: 'gpt-5.6-sol', responses: 'gpt-5.6-sol' }),
  ...overEach('other', { chat: 'glm-5', responses: 'glm-5', messages: 'glm-5' }),
  ...overEach('claude', { messages: 'claude-haiku-4-5' }),
  ...overEach('thinking', { messages: 'claude-sonnet-5-5' }),
]

/** Qwen Code has one list of models for each protocol from 0.23.4 on. */
function newerQwen(kind, modelOf) {
  return overEach(kind, modelOf).map((one) => ({ ...one, isFor: since('0.23.4') }))
}

/**
 * OpenClaw, which takes 20 s of processor time for a start. 2026.9.5 offers 39 functions instead of 12, and
 * otherwise sends the same (2026-11-26).
 */
function newestOpenclaw(kind, modelOf) {
  return overEach(kind, modelOf).map((one) => ({ ...one, isFor: since('2026.9.6') }))
}

/** Claude Code. */
const olderHaiku = ['--slot', 'haiku', '--haiku-model', 'claude-haiku-4-5-20251001']
const withoutBetas = {
  '.claude/settings.json': '{"env": {"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1"}}',
}

/** @type {Record<string, readonly Situation[]>} */
export const situations = {
  codex: [
    // Codex has an entry for the model: in its own table, or in the catalog that a setup wrote.
    { kind: 'known', protocol: 'responses', model: 'gpt-5.4', isFor: until('0.130.0') },
    { kind: 'known', protocol: 'responses', model: 'gpt-5.5', isFor: since('0.149.1') },
    {
      kind: 'catalog',
      protocol: 'responses',
      model: 'gpt-5.6-sol',
      setup: ['--model', 'gpt-5.6-sol', '--catalog'],
      isFor: since('0.149.1'),
    },
    { kind: 'lite', protocol: 'responses', model: 'gpt-5.6-sol', isFor: since('0.149.1') },
    { kind: 'unknown', protocol: 'responses', model: 'glm-5' },
  ],
  claude: [
    { kind: 'own', protocol: 'messages', setup: ['--slot', 'sonnet'] },
    // A model that every version knows, and that none sends by itself now.
    {
      kind: 'older',
      protocol: 'messages',
      setup: olderHaiku,
    },
    {
      kind: 'unknown',
      protocol: 'messages',
      command: 'claude-gpt',
      setup: ['model', 'opus-model', 'haiku-model', 'fable-model'].flatMap((flag) => [
        `--${flag}`,
        'gpt-5.6-sol',
      ]),
    },
    {
      kind: 'plain',
      protocol: 'messages',
      setup: ['--slot', 'sonnet'],
      files: withoutBetas,
      isFor: since('2.1.197'),
    },
    {
      kind: 'older plain',
      protocol: 'messages',
      setup: olderHaiku,
      files: withoutBetas,
      isFor: since('2.1.330'),
    },
  ],
  opencode: ofLayout,
  kilo: ofLayout,
  pi: [
    ...overEach('reasoning', { chat: 'gpt-5.6-sol', responses: 'gpt-5.6-sol' }),
    ...overEach('plain', { chat: 'devstral-2512', responses: 'devstral-2512' }),
    ...overEach('reasoning', { messages: 'claude-sonnet-5-5' }),
    ...overEach('plain', { messages: 'devstral-2512' }),
  ],
  droid: [
    ...overEach('any', { chat: 'glm-5', responses: 'gpt-5.6-sol' }),
    ...overEach('thinking', { messages: 'claude-sonnet-5-5' }),
    ...overEach('plain', { messages: 'glm-5' }),
  ],
  openclaw: [
    ...newestOpenclaw('reasoning', { chat: 'gpt-5.6-sol', responses: 'gpt-5.6-sol' }),
    ...newestOpenclaw('adaptive', { messages: 'claude-sonnet-5-5' }),
    ...newestOpenclaw('plain', { chat: 'devstral-2512', responses: 'devstral-2512' }),
    ...newestOpenclaw('budget', { messages: 'claude-haiku-4-5' }),
    ...newestOpenclaw('plain', { messages: 'devstral-2512' }),
  ],
  qwen: [
    ...overEach('any', { chat: 'gpt-5.6-sol' }),
    ...newerQwen('any', { responses: 'gpt-5.6-sol' }),
    ...newerQwen('adaptive', { messages: 'claude-sonnet-5-5' }),
    ...newerQwen('budget', { messages: 'claude-haiku-4-5' }),
  ],
  cline: [
    { kind: 'gpt', protocol: 'chat', model: 'gpt-5.6-sol' },
    { kind: 'other', protocol: 'chat', model: 'glm-5' },
  ],
  kimi: [
    ...overEach('plain', overAll('gpt-5.6-sol')),
    ...overEach('adaptive', overAll('claude-sonnet-5-5')),
    ...overEach('budget', overAll('claude-haiku-4-5')),
  ],
  grok: [...overEach('known', overAll('grok-4.6')), ...overEach('plain', overAll('glm-5'))],
  copilot: [
    ...withoutSetup('gpt', { chat: 'gpt-5.6-sol', responses: 'gpt-5.6-sol' }),
    ...withoutSetup('reasoning', { chat: 'claude-sonnet-5', responses: 'claude-sonnet-5' }),
    ...withoutSetup('plain', { chat: 'glm-5', responses: 'glm-5' }),
  ],
}

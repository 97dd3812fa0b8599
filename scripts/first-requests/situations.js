/**
 * The situations in which the first request of a client has another shape, by client: each `kind` is a
 * recording, which the client's `first-request.ts` chooses by this name.
 *
 * @typedef {object} Situation
 * @property {string} kind
 * @property {'responses' | 'messages' | 'chat'} protocol
 * @property {string} model the only one that the gateway lists
 * @property {string[]} [setup] arguments of the setup; absent: the model
 * @property {(version: string) => boolean} [isFor] absent: for every version
 */
import { isBefore } from './versions.js'

const since = (first) => (version) => !isBefore(version, first)
const until = (last) => (version) => !isBefore(last, version)

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
}

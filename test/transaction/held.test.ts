import { describe, expect, test } from 'vitest'
import type { FileEdit } from '../../src/edits/plan.ts'
import { leftAsItIs, type UndoneFile, whyHeld } from '../../src/transaction/undo-file.ts'
import type { aHome } from '../support/home.ts'
import { worldIn } from '../support/world.ts'

const world = worldIn({ path: '/home/me' } as ReturnType<typeof aHome>)
const key = ['OPENAI_API_KEY']
const provider = ['model_provider']
const address = ['model_providers', 'gateway', 'base_url']

/** A file that goes back with nothing in its way, but for `state`. */
function aFile(name: string, state: Partial<UndoneFile> = {}): UndoneFile {
  return {
    edit: { path: `/home/me/.codex/${name}`, changes: [] } as unknown as FileEdit,
    kept: [],
    isGone: false,
    changedBound: [],
    addressGone: 'no',
    isKeyGone: false,
    addresses: [],
    ownAddresses: [],
    ...state,
  }
}

const auth = (state?: Partial<UndoneFile>) => aFile('auth.json', state)
const config = (state?: Partial<UndoneFile>) => aFile('config.toml', state)
const together = 'Address and key belong together, so all of them stay.'
const byForce = '`--force` puts the old contents back.'
const keepingLogin =
  '`--force` puts the old contents back, in place of the login made since. To keep that login, take out by hand what points at the gateway'

describe('why files are held together', () => {
  test.each<[string, readonly UndoneFile[], string | undefined]>([
    ['nothing was changed', [auth(), config()], undefined],
    ['an own address alone', [auth(), config({ ownAddresses: [address] })], undefined],
    ['an older address alone', [auth(), config({ addresses: [address] })], undefined],
    ['a login, and no older address', [auth({ isKeyGone: true }), config()], undefined],
    [
      'one address is changed',
      [auth(), config({ changedBound: [address] })],
      `Changed since: model_providers.gateway.base_url in ~/.codex/config.toml. ${together} ${byForce}`,
    ],
    [
      'several are changed, in two files, and a login was made',
      [
        auth({ changedBound: [key], isKeyGone: true }),
        config({ changedBound: [provider, address] }),
      ],
      `Changed since: OPENAI_API_KEY in ~/.codex/auth.json and model_provider, model_providers.gateway.base_url in ~/.codex/config.toml. ${together} ${keepingLogin}.`,
    ],
    [
      'what points at the gateway is named to be taken out',
      [
        auth({ isKeyGone: true, ownAddresses: [provider] }),
        config({ changedBound: [address], ownAddresses: [provider, address] }),
      ],
      `Changed since: model_providers.gateway.base_url in ~/.codex/config.toml. ${together} ${keepingLogin}: model_provider in ~/.codex/auth.json and model_provider, model_providers.gateway.base_url in ~/.codex/config.toml.`,
    ],
    [
      'the file with the address is gone',
      [auth(), config({ addressGone: 'yes' })],
      `~/.codex/config.toml was deleted since, and with it the address. ${together} ${byForce}`,
    ],
    [
      'a login was made and an older address would come back',
      [auth({ isKeyGone: true }), config({ addresses: [provider, address] })],
      `The key of this run was taken out since, and an older address would come back: model_provider, model_providers.gateway.base_url in ~/.codex/config.toml. ${together} ${keepingLogin}.`,
    ],
  ])('%s', (_, files, expected) => {
    expect(whyHeld(world, files)).toBe(expected)
  })

  test('an address that stands nowhere else holds nothing, unless an older one went with it', () => {
    const asked: string[] = []
    const isAbandoned = (path: string) => asked.push(path) > 0
    expect(whyHeld(world, [auth(), config({ addressGone: 'yes' })], isAbandoned)).toBeUndefined()
    expect(asked).toEqual(['/home/me/.codex/config.toml'])
    expect(whyHeld(world, [auth(), config({ addressGone: 'yes' })], () => false)).toContain(
      'was deleted since',
    )
    expect(whyHeld(world, [auth(), config({ addressGone: 'with-older' })], isAbandoned)).toContain(
      'was deleted since',
    )
    expect(asked).toHaveLength(1)
  })
})

describe('a file that is left as it is', () => {
  const before = Uint8Array.of(1)
  const edit = {
    ...auth().edit,
    before,
    after: null,
    mode: 0o600,
    changes: [{ path: key, value: undefined }],
  }

  test('keeps its bytes, its mode and our keys, and says why', () => {
    const { mode, ...rest } = edit
    expect(mode).toBe(0o600)
    expect(leftAsItIs(auth({ edit, note: 'its own' }), 'why')).toEqual({
      ...auth(),
      edit: { ...rest, after: before, changes: [] },
      kept: [key],
      note: 'why',
    })
  })

  test('that is gone keeps nothing, and says that it is gone', () => {
    const gone = leftAsItIs(auth({ edit, isGone: true, note: 'deleted' }), 'why')
    expect([gone.kept, gone.note]).toEqual([[], 'deleted'])
    expect(leftAsItIs(auth({ edit, isGone: true }), 'why').note).toBe('why')
  })
})

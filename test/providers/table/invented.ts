import { claudeIds, everyRoute, listOf, type Reply, refusal, type Shape } from '../shape.ts'

/** What makes a provider of {@link invented} unusual. */
type Class = 'rejections' | 'catalogs' | 'addresses' | 'models'

/** A provider that does not exist, and what a person enters for it. */
export interface Invented {
  readonly class: Class
  readonly shape: Shape
  /** The address as a person copies it, and one that leads elsewhere. */
  readonly right: string
  readonly wrong: string
  readonly gpt: string
  readonly claude: string
}

interface Traits extends Partial<Pick<Shape, 'wrongKey' | 'wrongModel' | 'wrongRoute' | 'list'>> {
  /** The path before `/models` and the other routes. */
  readonly at?: string
  /** The same for messages, if it differs. */
  readonly messagesAt?: string
  readonly right?: string
  readonly wrong?: string
  readonly ids?: readonly string[]
  readonly isListPublic?: true
}

const usualIds = ['gpt-5.6-sol', 'gpt-5.4-mini', ...claudeIds('')]

function provider(kind: Class, name: string, traits: Traits): Invented {
  const { at = '/v1', messagesAt, ids = usualIds, isListPublic = false } = traits
  const others = everyRoute.filter((route) => route !== 'messages')
  return {
    class: kind,
    right: traits.right ?? at,
    wrong: traits.wrong ?? '/console/keys',
    gpt: ids.find((id) => /gpt/.test(id))!,
    claude: ids.find((id) => /sonnet/.test(id))!,
    shape: {
      name,
      host: 'https://invented.example',
      roots:
        messagesAt === undefined
          ? [{ at, routes: everyRoute }]
          : [
              { at, routes: others },
              { at: messagesAt, routes: ['messages'] },
            ],
      key: ['authorization', 'x-api-key'],
      isListPublic,
      list: traits.list ?? listOf(ids),
      models: ids,
      wrongKey: traits.wrongKey ?? refusal(401, { message: 'Invalid API key' }),
      wrongModel: traits.wrongModel ?? refusal(404, { message: 'Model $MODEL not found' }),
      wrongRoute: traits.wrongRoute ?? refusal(404, { message: 'Not Found' }),
      setups: {},
      sources: [],
      unchecked: [],
    },
  }
}

const reply = (status: number, body: unknown): Reply => ({ status, body })
const listed = (body: unknown) => reply(200, body)

/** Providers that nobody runs: each class of issue 44 has some, with words that no source contains. */
export const invented: readonly Invented[] = [
  provider('rejections', 'a vault that knows no such secret', {
    wrongKey: reply(403, { Code: 'SecretUnknown', Message: 'No such secret in the vault' }),
    wrongModel: reply(400, { error: '$MODEL: there is nothing by that name' }),
    isListPublic: true,
  }),
  provider('rejections', 'errors in a 200, in Chinese', {
    wrongKey: reply(200, { code: 40101, success: false, msg: '密钥校验不通过' }),
    wrongModel: reply(200, { code: 40404, success: false, msg: '模型 $MODEL 尚未上架' }),
    isListPublic: true,
  }),
  provider('rejections', 'plain text', {
    wrongKey: reply(401, 'That credential was rotated'),
    wrongModel: reply(403, 'Group interns has no grant for $MODEL'),
    wrongRoute: reply(404, 'no such page'),
    isListPublic: true,
  }),
  provider('rejections', 'one status for everything', {
    wrongKey: reply(400, { error: { message: 'The key you sent is not one of ours' } }),
    wrongModel: reply(400, { error: { message: 'We do not host $MODEL' } }),
    wrongRoute: reply(400, { error: { message: 'Unknown path $PATH' } }),
  }),
  provider('catalogs', 'an object of models', {
    list: listed({ models: Object.fromEntries(usualIds.map((id) => [id, { owner: 'x' }])) }),
  }),
  provider('catalogs', 'slugs in items', {
    list: listed({ items: usualIds.map((slug) => ({ slug, kind: 'text' })), total: 6 }),
  }),
  provider('catalogs', 'names in result.rows', {
    list: listed({ ok: true, result: { rows: usualIds.map((id) => ({ model_name: id })) } }),
  }),
  provider('catalogs', 'no list', { list: refusal(404, { message: 'Not Found' }) }),
  provider('addresses', 'capitals in the path', {
    at: '/API/V1',
    // Claude Code adds `/v1` itself.
    messagesAt: '/API/v1',
    wrong: '/API/V9',
  }),
  provider('addresses', 'a team in the path', {
    at: '/llm/team-7/v1',
    right: '/llm/team-7',
    wrong: '/llm/team-8',
    wrongRoute: reply(404, '<html><title>404</title></html>'),
  }),
  provider('addresses', 'a whole route was copied', { right: '/v1/chat/completions' }),
  provider('addresses', 'messages below another path', {
    at: '/openai/v1',
    messagesAt: '/anthropic/v1',
    right: '/openai/v1',
    wrong: '/openai/v7',
  }),
  provider('models', 'the vendor before each ID', {
    ids: ['openai/gpt-5.6-sol', 'openai/gpt-5.4-mini', ...claudeIds('anthropic/', '.')],
  }),
  provider('models', 'a region before each ID', {
    ids: ['eu.openai.gpt-5.6-sol', 'eu.openai.gpt-5.4-mini', ...claudeIds('eu.anthropic.')],
    wrongModel: reply(400, { message: 'The provided model identifier is invalid.' }),
  }),
  provider('models', 'names of its own', {
    ids: ['house-gpt-5-6-sol', 'house-gpt-5-4-mini', ...claudeIds('house-')],
    wrongModel: reply(404, { detail: 'No route to $MODEL' }),
  }),
]

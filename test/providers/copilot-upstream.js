/**
 * Loaded before copilot-api, to replace GitHub's services with the local gateway. copilot-api 0.7.0 has no option
 * for their addresses (2026-11-22).
 */
const { STUB_UPSTREAM, STUB_KEY } = process.env
const real = globalThis.fetch

const models = [
  'claude-opus-5.5',
  'claude-sonnet-5.5',
  'claude-haiku-5.5',
  'gpt-5.6-sol',
  'gpt-5.4',
]

const capabilities = { limits: { max_output_tokens: 32_000 }, tokenizer: 'o200k_base' }

globalThis.fetch = async (address, options = {}) => {
  const { hostname, pathname } = new URL(String(address))
  if (hostname === 'api.github.com' && pathname === '/user') return Response.json({ login: 'ada' })
  if (hostname === 'api.github.com')
    return Response.json({ token: 'stub', refresh_in: 3600, expires_at: 4_000_000_000 })
  if (hostname !== 'api.githubcopilot.com') return new Response('', { status: 404 })
  if (pathname === '/models')
    return Response.json({
      object: 'list',
      data: models.map((id) => ({ id, name: id, vendor: id, capabilities })),
    })

  const { model } = JSON.parse(String(options.body))
  if (!models.includes(model))
    return Response.json(
      { error: { message: 'The requested model is not supported.', code: 'model_not_supported' } },
      { status: 400 },
    )
  return real(`${STUB_UPSTREAM}/v1${pathname}`, {
    ...options,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${STUB_KEY}` },
  })
}

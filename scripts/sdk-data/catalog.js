import { textsOf } from './walk.js'

/** Models that shut down before this day are left out. Raise it with the versions of the SDKs. */
const today = '2026-11-28'

const ofGpt = ['openai', 'openai-response', 'anthropic']
const ofClaude = ['anthropic', 'openai']

/** The models of the SDKs, as a gateway lists them. */
export function catalogOf({ gpt, gptOfChat, claude, images, embeddings }) {
  const isGone = goneModels([gpt, gptOfChat])
  const overChat = textsOf(gptOfChat)
  const entry = (ownedBy, endpointTypes, more) => (id) => ({ id, ownedBy, endpointTypes, ...more })

  const openai = entry('openai', ofGpt)
  const responsesOnly = entry('openai', ['openai-response'])
  const models = [
    ...textsOf(gpt).map((id) => (overChat.includes(id) ? openai(id) : responsesOnly(id))),
    ...textsOf(claude).map(entry('anthropic', ofClaude)),
    ...textsOf(images).map(entry('openai', ['image-generation', 'openai'], { isNotForChat: true })),
    ...textsOf(embeddings).map(entry('openai', ['embeddings'], { isNotForChat: true })),
  ].filter(({ id }) => !isGone(id))

  return [...models.map((model) => withSnapshot(model, models)), ...familyNames(models)]
}

/** A name without a date is an alias of the newest one with a date. */
function withSnapshot(model, models) {
  const dates = models
    .map(({ id }) => id)
    .filter(
      (id) =>
        id.startsWith(`${model.id}-`) &&
        /^-(\d{4}-\d\d-\d\d|\d{8})$/.test(id.slice(model.id.length)),
    )
  return dates.length === 0 ? model : { ...model, aliasOf: dates.sort().at(-1) }
}

/** A family without a variant is an alias of its `sol` variant. */
function familyNames(models) {
  const ids = models.map(({ id }) => id)
  return models
    .filter(({ id }) => id.endsWith('-sol') && !ids.includes(id.slice(0, -'-sol'.length)))
    .map(({ id, ...rest }) => ({ id: id.slice(0, -'-sol'.length), ...rest, aliasOf: id }))
}

/** The comments list the deprecated values with the day on which each stops. */
function goneModels(schemas) {
  const gone = new Set()
  for (const { definitions } of schemas)
    for (const { fullDescription = '' } of Object.values(definitions))
      for (const [, names, what] of fullDescription
        .replace(/\s+/g, ' ')
        .matchAll(/- ((?:"[^"]+",? ?)+): (Not a supported|Announced shutdown date: [\d-]+)/g)) {
        const day = /[\d-]+$/.exec(what)?.[0] ?? ''
        if (day <= today) for (const [, id] of names.matchAll(/"([^"]+)"/g)) gone.add(id)
      }
  return (id) => gone.has(id)
}

/**
 * The models for which a rule counts: families, separated by spaces, each with the generations from which and
 * before which it counts. `gpt>=5.4<5.6 o` is GPT 5.4 and 5.5, and every model of the o-series. `claude` is
 * every family of Claude. A rule without an end counts for all later generations, until a source says otherwise.
 */
export function createModelTest(models: string): (id: string) => boolean {
  const terms = models.split(' ').map(readTerm)
  return (id) => {
    const model = readModel(id)
    return model !== undefined && terms.some((includes) => includes(model))
  }
}

interface Model {
  readonly families: readonly string[]
  /** 5.4 is 504. Undefined: the ID has none, such as `claude-mythos-preview`. */
  readonly generation: number | undefined
}

function readTerm(term: string): (model: Model) => boolean {
  const [, family = '', , from, , before] = /^(\w+)(>=([\d.]+))?(<([\d.]+))?$/.exec(term) ?? []
  if (family === '') throw new Error(`"${term}" is not a family of models`)
  const [first, end] = [from, before].map((text) => text && readGeneration(...text.split('.')))

  return ({ families, generation }) => {
    if (!families.includes(family)) return false
    if (first === undefined && end === undefined) return true
    return (
      generation !== undefined &&
      (first === undefined || generation >= Number(first)) &&
      (end === undefined || generation < Number(end))
    )
  }
}

function readGeneration(major?: string, minor = '0'): number {
  return Number(major) * 100 + Number(minor)
}

/** Two digits at most, so that the date of a snapshot is no generation. */
const generationPattern = String.raw`(\d)(?:[.-](\d{1,2}))?(?!\d)`
const claudePattern = new RegExp(`^claude-([a-z]+)(?:-${generationPattern})?`)
/** Until 2024: `claude-3-5-haiku-20241022`. */
const oldClaudePattern = new RegExp(`^claude-${generationPattern}-([a-z]+)`)
const openaiPattern = new RegExp(`^(?:(gpt)-|(o))${generationPattern}`)

/** The rules of one request all ask for the same model. */
let lastRead: { readonly id: string; readonly model: Model | undefined } | undefined

function readModel(id: string): Model | undefined {
  if (lastRead?.id !== id) lastRead = { id, model: parseModel(id) }
  return lastRead.model
}

function parseModel(id: string): Model | undefined {
  const claude = claudePattern.exec(id)
  if (claude !== null) {
    const [, family = '', major, minor] = claude
    const generation = major === undefined ? undefined : readGeneration(major, minor)
    return { families: ['claude', family], generation }
  }

  const old = oldClaudePattern.exec(id)
  if (old !== null) {
    const [, major, minor, family = ''] = old
    return { families: ['claude', family], generation: readGeneration(major, minor) }
  }

  const openai = openaiPattern.exec(id)
  if (openai === null) return undefined
  const [, gpt, o, major, minor] = openai
  return { families: [gpt ?? o!], generation: readGeneration(major, minor) }
}

/** The vendor of a model, by its ID. Undefined: neither of the two. */
export function vendorOf(id: string): 'openai' | 'anthropic' | undefined {
  if (/^claude-/.test(id)) return 'anthropic'
  return /^(gpt-|chatgpt-|o\d|codex-|computer-use-)/.test(id) ? 'openai' : undefined
}

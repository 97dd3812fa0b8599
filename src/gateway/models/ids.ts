/** The IDs of models: their parts, as far as repoint compares them. */

/** The region and the vendor before a known name: `us.openai.` of `us.openai.gpt-5`, but not `my-` of `my-model`. */
const vendorPrefix =
  /^(?:(?:us|eu|apac|global|jp|au|ca|us-gov)\.)?(?:[a-z]+(?:\.ai)?[.-])??(?=(?:gpt|claude|gemini|glm|kimi|deepseek|qwen|llama|grok|mistral|minimax)(?:[-.:\d]|$))/

/** The format of the weights. The model is the same: `-FP8`, `-q4_k_m`, but not `-8b`, which is a size. */
const quantisation =
  /(?:[-_](?:fp\d+|bf16|int\d|awq|gptq|gguf|nvfp4|mxfp4|w\d+a\d+|q\d(?:_\w+)?|[348]bit|mlx))+$/

/** The suffix that routers add after a colon: a price or a speed, not another model. */
const routingSuffix = /:(?:free|floor|nitro|latest|exacto|online|beta|\d)$/

/**
 * The name of a model without the vendor, the quantisation and other spellings of the version that
 * gateways use. `us.openai.gpt-5-6-sol-v1:0` becomes `gpt-5.6-sol`, `glm-5p3-FP8` becomes `glm-5.3`,
 * `gpt-oss:120b` becomes `gpt-oss-120b`. Only for comparisons: a request needs the listed ID.
 */
export function plainModelName(id: string): string {
  const name = plainNames.get(id) ?? readPlainName(id)
  plainNames.set(id, name)
  return name
}

/** The rules ask several times for each of thousands of IDs. */
const plainNames = new Map<string, string>()

function readPlainName(id: string): string {
  return (
    id
      .slice(id.lastIndexOf('/') + 1)
      .toLowerCase()
      .replace(vendorPrefix, '')
      .replace(/^[a-z]\w*\.(?=[a-z])/, '')
      // Bedrock's revision. The version of deepseek-v4 is part of its name.
      .replace(/-v\d+:\d+$|-v1$/, '')
      .replace(routingSuffix, '')
      .replace(/[@:]/g, '-')
      .replace(quantisation, '')
      .replace(/(\d)p(\d)/, '$1.$2')
      .replace(/^(gpt|glm|gemini|grok|qwen|doubao-seed)-(\d)-(\d)(?=-|$)/, '$1-$2.$3')
  )
}

/** A date at the end of a name: `-2026-06-17`, `-20260617`, `-260617`. */
export const dateAtEnd = /-(\d{4})-?(\d{2})-?(\d{2})$|-(2\d)([01]\d)([0-3]\d)$/

/** Removes the vendor from an ID: `openai/gpt-5.6-sol` becomes `gpt-5.6-sol`. */
export function removeVendor(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1)
}

/** Compares versions. Negative if `a` is older: `[3, 7]` is older than `[4]`. */
export function compareVersions(a: readonly number[], b: readonly number[]): number {
  for (let part = 0; part < Math.max(a.length, b.length); part++) {
    const difference = (a[part] ?? 0) - (b[part] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

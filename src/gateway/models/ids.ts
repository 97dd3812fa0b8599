/** Words that gateways write before an ID: a region and a vendor, with a dot or a hyphen. */
const prefix =
  /^(?:(?:us|eu|apac|global|jp|au|ca|us-gov)\.)?(?:[a-z]+(?:\.ai)?[.-])??(?=(?:gpt|claude|gemini|glm|kimi|deepseek|qwen|llama|grok|mistral|minimax)(?:[-.:\d]|$))/

/** How the weights are stored: the model is the same. */
const quantisation = /[-_](?:fp\d+|bf16|int\d|awq|gptq|gguf|nvfp4|mxfp4|w\d+a\d+|q\d(?:_\w+)?)$/

/** What routers add behind a colon: a price or a speed, not another model. */
const routing = /:(?:free|floor|nitro|latest|exacto|online|beta|\d)$/

/**
 * The name of a model without what gateways add: the vendor before it, the quantisation behind it, and
 * other ways to write a version. `us.openai.gpt-5-6-sol-v1:0` is `gpt-5.6-sol`, `glm-5p3-FP8` is
 * `glm-5.3`, `gpt-oss:120b` is `gpt-oss-120b`. Only for comparing: a request needs the ID as it is listed.
 */
export function plainModelName(id: string): string {
  return id
    .slice(id.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(prefix, '')
    .replace(/-v\d(?::\d)?$/, '')
    .replace(routing, '')
    .replace(/[@:]/g, '-')
    .replace(quantisation, '')
    .replace(/(\d)p(\d)/, '$1.$2')
    .replace(/^(gpt|glm|gemini|grok|qwen)-(\d)-(\d)(?=-|$)/, '$1-$2.$3')
}

/** A date at the end of a name: `-2026-06-17`, `-20260617`, `-260617`. */
export const dateAtEnd = /-(\d{4})-?(\d{2})-?(\d{2})$|-(2\d)([01]\d)([0-3]\d)$/

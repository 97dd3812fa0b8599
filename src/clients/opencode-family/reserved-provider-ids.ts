import { wordsIn } from '../files/parse-file.ts'

/** Provider IDs that opencode ships and that a user may choose (of the 225 of 1.18.33, 2026-11-21). */
export const reservedProviderIds = wordsIn(`
  alibaba amazon-bedrock anthropic azure azure-cognitive-services baseten cerebras chutes
  cloudflare-ai-gateway cloudflare-workers-ai cohere databricks deepinfra deepseek digitalocean
  fireworks-ai github-copilot gitlab google google-vertex google-vertex-anthropic groq helicone
  huggingface llama lmstudio meta minimax mistral modelscope moonshotai nebius nvidia ollama-cloud
  openai opencode opencode-go openrouter perplexity requesty scaleway siliconflow snowflake-cortex
  togetherai v0 venice vercel volcengine wandb watsonx xai zai zhipuai`)

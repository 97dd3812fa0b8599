/** What `codex debug models --bundled` prints, with the members of Codex 0.169.0 (2026-11-23). */

function entry(slug: string, members: object): object {
  return {
    slug,
    display_name: slug.replace('gpt', 'GPT').replace('sol', 'Sol'),
    description: 'A model.',
    default_reasoning_level: 'low',
    supported_reasoning_levels: [
      { effort: 'low', description: 'Fast' },
      { effort: 'max', description: 'Deep' },
    ],
    shell_type: 'unified_exec',
    visibility: 'list',
    supported_in_api: true,
    priority: 13,
    availability_nux: null,
    upgrade: { model: 'gpt-6-sol', migration_markdown: 'Meet GPT-6 Sol' },
    model_messages: { instructions_template: 'You are Codex.' },
    default_reasoning_summary: 'none',
    support_verbosity: true,
    default_verbosity: 'low',
    apply_patch_tool_type: 'freeform',
    web_search_tool_type: 'text_and_image',
    truncation_policy: { mode: 'tokens', limit: 10_000 },
    supports_image_detail_original: true,
    context_window: 272_000,
    max_context_window: 272_000,
    effective_context_window_percent: 95,
    experimental_supported_tools: [],
    input_modalities: ['text', 'image'],
    supports_search_tool: true,
    use_responses_lite: false,
    base_instructions: `Instructions of ${slug}.`,
    ...members,
  }
}

export const codexTable = JSON.stringify({
  models: [
    entry('gpt-5.6-sol', {
      use_responses_lite: true,
      tool_mode: 'code_mode_only',
      multi_agent_version: 'v2',
      max_context_window: 872_000,
    }),
    entry('gpt-5.5', {}),
  ],
})

// The modules of all clients, in one bundle: few files start faster than many.

export { claude, claudeGpt } from './claude/claude.ts'
export { cline } from './cline/cline.ts'
export { codex } from './codex/codex.ts'
export { copilot } from './copilot/copilot.ts'
export { droid } from './droid/droid.ts'
export { withUsableAddress } from './files/addresses.ts'
export { withInterpolationGuard } from './interpolation-guard.ts'
export { kilo } from './kilo/kilo.ts'
export { openclaw } from './openclaw/openclaw.ts'
export { opencode } from './opencode/opencode.ts'
export { pi } from './pi/pi.ts'
export { qwen } from './qwen/qwen.ts'

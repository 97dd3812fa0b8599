import { type Obstacle, slots } from '../client.ts'
import { type DefeatingVariable, variableObstacles } from '../shell-variables.ts'
import { inEnv, names, serviceSwitches, slotVariable } from './keys.ts'
import { carriesCredential, type Scene } from './scene.ts'

/** The settings' `env` beats the shell's, and an empty value there takes a variable's effect away. */
export function shell({ settings, machine, context }: Scene): readonly Obstacle[] {
  const filled = context.choice?.models.slotModels ?? {}
  const effects: readonly (readonly [name: string, effect: string])[] = [
    [names.apiKey, 'Claude Code sends it beside the token, and gateways read it first'],
    ...serviceSwitches.map(
      (name) => [name, 'Claude Code uses another service than the gateway'] as const,
    ),
    [names.model, 'it beats "model" in the settings'],
    [names.smallFast, 'it beats the model of the haiku slot for background work'],
    ...slots
      .filter((slot) => !filled[slot])
      .map((slot) => [slotVariable(slot), `it changes what the slot ${slot} asks for`] as const),
    ...(carriesCredential(machine.env[names.headers])
      ? [[names.headers, 'it carries a credential, which goes out beside the token'] as const]
      : []),
  ]
  return variableObstacles(
    machine,
    context,
    effects
      .filter(([name]) => settings.env[name] === undefined)
      .map(
        ([name, effect]): DefeatingVariable => ({
          name,
          code: 'claude-shell-variable',
          effect,
          weight: name === names.smallFast ? 'may-block' : 'blocks',
          repair: {
            role: 'settings',
            change: {
              path: inEnv(name),
              value: '',
              ...(isCredential(name) ? { isSecret: true, isBound: true } : {}),
            },
          },
        }),
      ),
  )
}

/** A proxy is asked for loopback addresses too, unless NO_PROXY says otherwise. */
export function proxy({ settings, machine, context }: Scene): readonly Obstacle[] {
  const url = context.choice?.baseUrl ?? settings.env[names.baseUrl]
  if (!url || !URL.canParse(url)) return []
  const { hostname, protocol } = new URL(url)
  if (!['localhost', '127.0.0.1', '[::1]'].includes(hostname)) return []
  const env = { ...machine.env, ...settings.env }
  const proxyNames = protocol === 'https:' ? ['HTTPS_PROXY'] : ['HTTP_PROXY']
  const set = [...proxyNames, ...proxyNames.map((name) => name.toLowerCase())].find(
    (name) => env[name],
  )
  if (set === undefined) return []
  const exempt = `${env['NO_PROXY'] || env['no_proxy'] || ''}`.split(',').map((host) => host.trim())
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (exempt.some((host) => host === '*' || host === bare || host === hostname)) return []
  const others = exempt.filter((host) => host !== '')
  return [
    {
      code: 'claude-proxy',
      message: `${set} is set: Claude Code asks that proxy for ${hostname} too`,
      place: settings.env[set] === undefined ? 'environment' : settings.path,
      cure: `Add ${bare} to NO_PROXY.`,
      repair: {
        role: 'settings',
        changes: ['NO_PROXY', 'no_proxy'].map((name) => ({
          path: inEnv(name),
          value: [...others, bare].join(','),
        })),
      },
      weight: 'blocks',
    },
  ]
}

function isCredential(name: string): boolean {
  return name === names.apiKey || name === names.headers
}

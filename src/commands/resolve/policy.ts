/** What a setup may change. The command decides it, and every step asks here instead of for the command. */
export interface SetupPolicy {
  /** The options of the earlier setup that stay: those that this gateway can serve, all of them, or none. */
  readonly keeps: 'servable' | 'all' | 'none'
  /** Whether rules may replace models of the earlier setup that the gateway rejects. */
  readonly replacesModels: boolean
  /** Whether the files get the new options and facts from the catalog. False: they get only the key. */
  readonly writesOptions: boolean
  /** Whether one model for each further protocol of a client's list is requested. */
  readonly provesLists: boolean
  /** Whether the installed client is started, before repoint says that it cannot use the gateway. */
  readonly asksClient: boolean
  /** Whether the installed version must be able to use a gateway. */
  readonly checksVersion: boolean
}

export const usualPolicy: SetupPolicy = {
  keeps: 'servable',
  replacesModels: true,
  writesOptions: true,
  provesLists: true,
  asksClient: true,
  checksVersion: true,
}

/**
 * `repoint check`: writes no list of models, so only the one that a client starts with is requested. Starts no client:
 * nobody named one.
 */
export const checkPolicy: SetupPolicy = {
  ...usualPolicy,
  provesLists: false,
  asksClient: false,
}

/** `--defaults`: the rules choose everything again. */
export const defaultsPolicy: SetupPolicy = {
  ...usualPolicy,
  keeps: 'none',
  replacesModels: false,
}

/**
 * `repoint key`: changes only the key, whatever else the gateway offers now, and even for a version that
 * cannot use a gateway: that is not the key's fault.
 */
export const keyPolicy: SetupPolicy = {
  keeps: 'all',
  replacesModels: false,
  writesOptions: false,
  provesLists: false,
  asksClient: true,
  checksVersion: false,
}

export type { Protocol } from '../protocols.ts'
export type { AuthHeaders, LoggedRequest } from './log/request-log.ts'
export type { CatalogEntry } from './model/catalog.ts'
export { builtInCatalog } from './model/catalog.ts'
export type { GatewayOptions, Limits, ScopeOptions, Upstream } from './options.ts'
export type { GatewayScope, RunningGateway as Gateway } from './server.ts'
export { startGateway } from './server.ts'
export type { Fault, FaultName } from './settings/faults.ts'
export { faultNames } from './settings/faults.ts'
export type {
  GatewayQuestion,
  WrittenCondition,
  WrittenReply,
  WrittenRule,
  WrittenScenario,
} from './settings/written.ts'

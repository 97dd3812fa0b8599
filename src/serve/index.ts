export type { Protocol } from '../protocols.ts'
export type { Fault, FaultName } from './faults/faults.ts'
export { faultNames } from './faults/faults.ts'
export type { AuthHeaders, LoggedRequest } from './log/entry.ts'
export type { CatalogEntry } from './model/catalog.ts'
export { builtInCatalog } from './model/catalog.ts'
export type { GatewayOptions, Limits, ScopeOptions, Upstream } from './options.ts'
export type {
  GatewayQuestion,
  WrittenCondition,
  WrittenReply,
  WrittenRule,
  WrittenScenario,
} from './scenarios/written-scenario.ts'
export type { GatewayScope, RunningGateway as Gateway } from './server.ts'
export { startGateway } from './server.ts'

/** What an outcome, or the error of an outcome, means for the next step (outcome-codes.ts). */
import {
  type ModelTraits,
  type NextAttempt,
  outcomeCodes,
  type Traits,
} from '../../outcome-codes.ts'

/** An outcome, an error or a finding. */
interface WithCode {
  readonly code: string
}

/** Undefined: the code is not about a gateway. */
export function traitsOf({ code }: WithCode): Traits | undefined {
  return (outcomeCodes as Readonly<Partial<Record<string, Traits>>>)[code]
}

/** Whether a remedy may help after an error. */
export function mayHelp(remedy: NextAttempt, error: WithCode): boolean {
  return traitsOf(error)?.mayHelp.includes(remedy) === true
}

/** Whether only an API gives such a response, so that the base URL is right. */
export function isFromApi(outcome: WithCode): boolean {
  return traitsOf(outcome)?.isFromApi === true
}

/** Whether the address itself seems to be wrong. */
export function isAboutAddress(outcome: WithCode): boolean {
  return traitsOf(outcome)?.blames === 'address'
}

/** Whether the API may be at another base URL of the same host. */
export function mayBeElsewhere(outcome: WithCode): boolean {
  return traitsOf(outcome)?.mayBeElsewhere === true
}

/** Whether the gateway has no such model, for any key. A list of models can still contain it. */
export function lacksModel(outcome: WithCode): boolean {
  return hasModel(outcome) === 'no'
}

/** Whether the gateway does not serve the model to this key, whatever the request contains. */
export function deniesModel(outcome: WithCode): boolean {
  return ['no', 'not for this key'].includes(hasModel(outcome))
}

/** Whether the API has no such path, of a protocol or of the list of models. */
export function lacksRoute({ code }: WithCode): boolean {
  return code === 'wrong-route'
}

/** Whether the gateway does not serve the model over this protocol. */
export function lacksProtocol({ code }: WithCode): boolean {
  return code === 'protocol-unsupported'
}

/** Whether the model takes no tools over this protocol. */
export function lacksTools({ code }: WithCode): boolean {
  return code === 'tools-unsupported'
}

/** Whether the gateway rejects a part of the client's request. */
export function rejectsParameter({ code }: WithCode): boolean {
  return code === 'parameter-unsupported'
}

/** Whether the gateway accepts only certain clients, and repoint is none of them. */
export function admitsOnlyClients({ code }: WithCode): boolean {
  return code === 'client-refused'
}

function hasModel(outcome: WithCode): ModelTraits['hasModel'] {
  const traits = traitsOf(outcome)
  return traits?.blames === 'model' ? traits.hasModel : 'perhaps'
}

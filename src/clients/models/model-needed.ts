import { UserError } from '../../errors.ts'

/** No rule chooses a model, or the gateway has none. A model from the user would help. */
export class ModelNeeded extends UserError {}

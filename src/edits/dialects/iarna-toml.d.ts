/** Documented in the README of @iarna/toml 3.0.0, without types. It does not load the parser. */
declare module '@iarna/toml/stringify.js' {
  import type { stringify } from '@iarna/toml'

  const stringifyAlone: typeof stringify
  export default stringifyAlone
}

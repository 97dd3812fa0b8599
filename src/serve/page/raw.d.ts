/** A file as text. Vitest understands `?raw`; esbuild has a loader for `.html`. */
declare module '*?raw' {
  const text: string
  export default text
}

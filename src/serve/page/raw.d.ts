/** A file as text: by Vitest, and by the bundler's loaders. */
declare module '*?raw' {
  const text: string
  export default text
}

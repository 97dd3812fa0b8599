/** A file as text: by Vitest, and by the bundler's loaders. */
declare module '*?raw' {
  const text: string
  export default text
}

/** A module for the browser with all that it imports: by scripts/build/page.js. */
declare module '*?bundled' {
  const texts: { readonly script: string; readonly style: string }
  export default texts
}

/** The style goes into the bundle of the script that imports it. */
declare module '*.css'

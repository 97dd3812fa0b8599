/** Draws a terminal's screen as SVG. */
/** Sizes in pixels of the drawing. */
const cell = { width: 8.4, height: 19 }
const margin = { side: 18, top: 48, bottom: 18 }

const colours = {
  30: '#6e7681',
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#8b949e',
}

/** The screen as an SVG, up to its last line that is not empty. */
export function drawScreen(screen, title) {
  const lines = screen.lines.slice(0, screen.lines.findLastIndex((line) => line.length > 0) + 1)
  const longest = Math.max(...lines.map((line) => line.length))
  const width = Math.ceil(Math.max(longest, 60) * cell.width + 2 * margin.side)
  const height = Math.ceil(lines.length * cell.height + margin.top + margin.bottom)
  const rows = lines.map((line, row) => {
    const y = (margin.top + (row + 0.75) * cell.height).toFixed(1)
    return `<text y="${y}">${runsOf(line).map(drawRun).join('')}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title} on a terminal">
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<circle cx="22" cy="22" r="6" fill="#ff5f57"/><circle cx="42" cy="22" r="6" fill="#febc2e"/><circle cx="62" cy="22" r="6" fill="#28c840"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#e6edf3">
${rows.join('\n')}
</g>
</svg>
`
}

/** Neighbouring cells of one style. Each run has its own place, so that no font can shift it. */
function runsOf(line) {
  const runs = []
  for (const [column, { sign = ' ', style = '' } = {}] of Array.from(line).entries()) {
    const last = runs.at(-1)
    if (last?.style === style) last.text += sign
    else runs.push({ column, style, text: sign })
  }
  // Browsers collapse spaces, and would stretch the rest of the run into their place.
  return runs.flatMap(({ column, style, text }) =>
    [...text.matchAll(/\S+(?: \S+)*/g)].map((words) => ({
      column: column + words.index,
      style,
      text: words[0],
    })),
  )
}

function drawRun({ column, style, text }) {
  const codes = style.split(';')
  const colour = codes.map((code) => colours[code]).findLast(Boolean)
  const looks = [
    codes.includes('1') ? ' font-weight="bold"' : '',
    codes.includes('2') ? ' opacity="0.6"' : '',
    colour ? ` fill="${colour}"` : '',
  ].join('')
  const x = (margin.side + column * cell.width).toFixed(1)
  const length = (text.length * cell.width).toFixed(1)
  return `<tspan x="${x}" textLength="${length}"${looks}>${escaped(text)}</tspan>`
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** What a terminal shows: the part of its control language that repoint and its prompts use. */
export class Screen {
  #columns
  #lines
  #row = 0
  #column = 0
  #style = ''

  constructor(columns, rows) {
    this.#columns = columns
    this.#lines = Array.from({ length: rows }, () => [])
  }

  /** Rows of cells `{ sign, style }`; a style is an SGR sequence such as `1;31`. */
  get lines() {
    return this.#lines
  }

  text() {
    return this.#lines
      .map((line) => Array.from(line, (cell) => cell?.sign ?? ' ').join(''))
      .join('\n')
  }

  write(data) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the control language itself
    for (const [part] of data.matchAll(/\x1b\[[\d;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b.|[\s\S]/gu)) {
      if (part.startsWith('\x1b[')) this.#control(part.at(-1), part.slice(2, -1))
      else if (part === '\r') this.#column = 0
      else if (part === '\n') this.#newLine()
      else if (part === '\b') this.#column = Math.max(0, this.#column - 1)
      else if (part >= ' ') this.#put(part)
    }
  }

  #put(sign) {
    if (this.#column >= this.#columns) {
      this.#column = 0
      this.#newLine()
    }
    this.#lines[this.#row][this.#column++] = { sign, style: this.#style }
  }

  #newLine() {
    if (this.#row < this.#lines.length - 1) this.#row++
    else {
      this.#lines.shift()
      this.#lines.push([])
    }
  }

  #control(letter, text) {
    const count = Number.parseInt(text, 10) || 1
    const line = this.#lines[this.#row]
    switch (letter) {
      case 'A':
        this.#row = Math.max(0, this.#row - count)
        break
      case 'B':
        this.#row = Math.min(this.#lines.length - 1, this.#row + count)
        break
      case 'C':
        this.#column += count
        break
      case 'D':
        this.#column = Math.max(0, this.#column - count)
        break
      case 'G':
        this.#column = count - 1
        break
      case 'K':
        if (text === '2') line.length = 0
        else line.length = Math.min(line.length, this.#column)
        break
      case 'J':
        line.length = Math.min(line.length, this.#column)
        for (let row = this.#row + 1; row < this.#lines.length; row++) this.#lines[row] = []
        break
      case 'm':
        this.#style = styleAfter(this.#style, text)
        break
      case 'h':
      case 'l':
        break
      default:
        throw new Error(`The screen does not know ESC [ ${text} ${letter}`)
    }
  }
}

/** Codes that end others: 22 bold, 39 the colour. */
function styleAfter(style, text) {
  let codes = style.split(';').filter(Boolean)
  for (const code of text.split(';')) {
    if (code === '' || code === '0') codes = []
    else if (code === '22') codes = codes.filter((one) => one !== '1' && one !== '2')
    else if (code === '39') codes = codes.filter((one) => !/^[39]\d$/.test(one))
    else codes.push(code)
  }
  return codes.join(';')
}

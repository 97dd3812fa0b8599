/** What pictures and documents must be, by what is in them. */

/** How the bytes of each kind begin; a picture of WebP has its name at the ninth byte. */
const signatures: readonly (readonly [type: string, beginning: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['application/pdf', /^.{0,1000}%PDF-/s],
]

/** Larger pictures are refused on messages, in bytes. */
const maxImageBytes = 5 * 1024 * 1024

/** The kind of a text in base64 by its first bytes; undefined: none of these. */
function mediaType(data: string): string | undefined {
  const start = Buffer.from(data.slice(0, 1400), 'base64').toString('latin1')
  return signatures.find(([, beginning]) => beginning.test(start))?.[0]
}

/** What messages refuses of a picture or a document, behind its place. */
export function anthropicMediaProblem(type: string, data: string): string | undefined {
  const kind = mediaType(data)
  if (type === 'application/pdf')
    return kind === type ? undefined : '.data: The PDF specified was not valid.'

  const bytes = Math.trunc((data.length * 3) / 4)
  if (bytes > maxImageBytes)
    return `: image exceeds 5 MB maximum: ${bytes} bytes > ${maxImageBytes} bytes`
  if (kind === undefined || kind === 'application/pdf') return ': Could not process image'
  return kind === type
    ? undefined
    : `.data: The image was specified using the ${type} media type, but the image appears to be a ${kind} image`
}

/** Whether chat and responses take a picture: an address, or one of the four kinds in base64. */
export function isOpenaiImage(url: string): boolean {
  const data = /^data:[^,]*;base64,/.exec(url)
  if (data === null) return true
  return mediaType(url.slice(data[0].length))?.startsWith('image/') ?? false
}

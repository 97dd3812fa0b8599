/** Checks of images and documents by their contents. */

/** The first bytes of each type. WebP has its name at the ninth byte. */
const signatures: readonly (readonly [type: string, beginning: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['application/pdf', /^.{0,1000}%PDF-/s],
]

/** The largest image that messages accepts, in bytes. */
const maxImageBytes = 5 * 1024 * 1024

/** The type of base64 data by its first bytes. Undefined if it is none of these. */
function mediaType(data: string): string | undefined {
  const start = Buffer.from(data.slice(0, 1400), 'base64').toString('latin1')
  return signatures.find(([, beginning]) => beginning.test(start))?.[0]
}

/** The reason why messages rejects an image or a document. It is appended to the place. */
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

/** Whether chat and responses accept an image: an address, or one of the four types in base64. */
export function isOpenaiImage(url: string): boolean {
  const data = /^data:[^,]*;base64,/.exec(url)
  if (data === null) return true
  return mediaType(url.slice(data[0].length))?.startsWith('image/') ?? false
}

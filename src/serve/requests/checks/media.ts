/** Checks of images and documents by their contents. */

/** The first bytes of each type. WebP has its name at the ninth byte. */
const signatures: readonly (readonly [type: string, pattern: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['application/pdf', /^.{0,1000}%PDF-/s],
]

/** The longest base64 text of an image that messages accepts (https://github.com/kolega-ai/kolega-code/pull/354). */
const maxImageLength = 10 * 1024 * 1024

/**
 * The largest width and height that messages accepts, in pixels: alone, and in a request with more images
 * (https://github.com/anthropics/claude-code/issues/4778 and 9375).
 */
const maxPixels = 8000
const manyImages = { count: 20, maxPixels: 2000 }

/** The type of base64 data by its first bytes. Undefined if it is none of these. */
function mediaType(data: string): string | undefined {
  const start = Buffer.from(data.slice(0, 1400), 'base64').toString('latin1')
  return signatures.find(([, pattern]) => pattern.test(start))?.[0]
}

/** The larger of width and height, in pixels. 0 if it is unknown, as for WebP. */
function imagePixels(type: string, data: string): number {
  if (type === 'image/jpeg') return jpegPixels(Buffer.from(data.slice(0, 400_000), 'base64'))
  const start = Buffer.from(data.slice(0, 32), 'base64')
  if (type === 'image/png' && start.length === 24)
    return Math.max(start.readUInt32BE(16), start.readUInt32BE(20))
  if (type === 'image/gif' && start.length >= 10)
    return Math.max(start.readUInt16LE(6), start.readUInt16LE(8))
  return 0
}

/** The size in the header of a frame (markers C0 to C3), which follows segments with other data. */
function jpegPixels(bytes: Buffer): number {
  let offset = 2
  while (offset + 9 <= bytes.length) {
    const marker = bytes[offset + 1]!
    if (marker >= 0xc0 && marker <= 0xc3)
      return Math.max(bytes.readUInt16BE(offset + 5), bytes.readUInt16BE(offset + 7))
    const segmentLength = bytes.readUInt16BE(offset + 2)
    offset += 2 + segmentLength
  }
  return 0
}

/**
 * The reason why messages rejects an image or a document. It is appended to the place.
 *
 * @param imageCount the number of images in the request
 */
export function anthropicMediaProblem(
  { type, data }: { readonly type: string; readonly data: string },
  imageCount: number,
): string | undefined {
  if (!/^[A-Za-z0-9+/\s]*={0,2}$/.test(data)) return '.data: Invalid base64 data'
  const actualType = mediaType(data)
  if (type === 'application/pdf')
    return actualType === type ? undefined : '.data: The PDF specified was not valid.'

  if (data.length > maxImageLength)
    return `: image exceeds 10 MB maximum: ${data.length} bytes > ${maxImageLength} bytes`
  if (actualType === undefined || actualType === 'application/pdf')
    return ': Could not process image'
  if (actualType !== type)
    return `.data: The image was specified using the ${type} media type, but the image appears to be a ${actualType} image`

  const pixels = imagePixels(type, data)
  const tooLarge = '.data: At least one of the image dimensions exceed max allowed size'
  if (pixels > maxPixels) return `${tooLarge}: ${maxPixels} pixels`
  return imageCount > manyImages.count && pixels > manyImages.maxPixels
    ? `${tooLarge} for many-image requests: ${manyImages.maxPixels} pixels`
    : undefined
}

/** The type of data in a data URL by its contents. Undefined: it is a different kind of URL, or none. */
export function dataUrlType(url: string): string | undefined {
  const start = /^data:[^,]*;base64,/.exec(url)
  return start === null ? undefined : (mediaType(url.slice(start[0].length)) ?? 'unknown')
}

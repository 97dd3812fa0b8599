/** Size of one piece of memory, and so of the longest body that is kept whole. */
export const slabBytes = 256 * 1024

interface Slab {
  readonly memory: Buffer
  /** Where the next body goes. */
  end: number
  /** Bodies in it that are still wanted. */
  bodies: number
}

/** Where a body lies. Used again for the next body once that one was dropped. */
export interface Place {
  /** Undefined: nothing is kept. */
  slab: Slab | undefined
  start: number
  end: number
}

export function newPlace(): Place {
  return { slab: undefined, start: 0, end: 0 }
}

/**
 * Keeps bodies outside of the heap, one after the other in slabs that are used again.
 *
 * The garbage collector copies a string that stays for the next thousand requests, and has to be told
 * of each buffer.
 */
export class KeptBytes {
  #slab = newSlab()
  readonly #free: Slab[] = []

  /**
   * Copies a body, a text as UTF-8, and notes down where. What is longer than a slab is cut.
   *
   * @param place must hold nothing
   * @param bytes the length of the body
   */
  keep(place: Place, body: string | Uint8Array, bytes: number): void {
    const length = Math.min(bytes, slabBytes)
    const slab = this.#slabFor(length)
    const start = slab.end
    slab.end += length
    if (typeof body !== 'string') {
      const kept = length === bytes ? body : body.subarray(0, wholeCharacters(body, length))
      slab.memory.set(kept, start)
      slab.end = start + kept.length
    } else {
      // Only ASCII has as many bytes as characters, and needs no encoding.
      const encoding = bytes === body.length ? 'latin1' : 'utf8'
      // Less than `length` if a character would be cut.
      slab.end = start + slab.memory.write(body, start, length, encoding)
    }
    slab.bodies++
    place.slab = slab
    place.start = start
    place.end = slab.end
  }

  /** Gives the memory of a body free. */
  drop(place: Place): void {
    const { slab } = place
    if (slab === undefined) return
    place.slab = undefined
    slab.bodies--
    this.#reuse(slab)
  }

  #slabFor(length: number): Slab {
    const last = this.#slab
    if (last.end + length <= slabBytes) return last
    this.#slab = this.#free.pop() ?? newSlab()
    this.#reuse(last)
    return this.#slab
  }

  #reuse(slab: Slab): void {
    if (slab.bodies > 0 || slab === this.#slab) return
    slab.end = 0
    this.#free.push(slab)
  }
}

/** Nothing was kept: nothing comes back. Good until the body is dropped. */
export function bytesAt({ slab, start, end }: Place): Buffer {
  return slab === undefined ? nothing : slab.memory.subarray(start, end)
}

export function textAt(place: Place | undefined): string {
  return place === undefined ? '' : bytesAt(place).toString()
}

/** In bytes. */
export function lengthAt({ slab, start, end }: Place): number {
  return slab === undefined ? 0 : end - start
}

/** At most so many bytes of UTF-8, cut between two characters. */
function wholeCharacters(body: Uint8Array, length: number): number {
  let end = length
  while (end > length - 4 && (body[end]! & 0xc0) === 0x80) end--
  return end
}

const nothing = Buffer.alloc(0)

function newSlab(): Slab {
  return { memory: Buffer.allocUnsafeSlow(slabBytes), end: 0, bodies: 0 }
}

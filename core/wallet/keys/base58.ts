import { decodeBase58 as numberOf, encodeBase58, toBeArray } from 'ethers/utils'

export { encodeBase58 }

/** Longer than any text that is read here: the time that decoding takes grows with the square of the length. */
const longestText = 128

/** So many bytes of base58, in its one spelling; undefined where the text is none, or of another length. */
export function decodeBase58(text: string, lengthBytes: number): Uint8Array | undefined {
  if (text.length > longestText || !/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) return undefined
  const digits = toBeArray(numberOf(text))
  if (digits.length > lengthBytes) return undefined
  const bytes = new Uint8Array(lengthBytes)
  bytes.set(digits, lengthBytes - digits.length)
  return encodeBase58(bytes) === text ? bytes : undefined
}

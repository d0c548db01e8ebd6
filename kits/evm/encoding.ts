// What logs and answers are made of, read without an interface: a decoder makes objects of each, of which blocks have thousands.

const prefix = '0x'.length
const digits = 64
const addressDigits = 40
const bytesPerWord = 32n

/** How many whole words there are. */
export const wordCount = (data: string): number => Math.floor((data.length - prefix) / digits)

/** The n-th of 32 bytes, unsigned. @throws SyntaxError where there is none */
export const wordAt = (data: string, index: number): bigint =>
  BigInt(`0x${data.slice(prefix + index * digits, prefix + (index + 1) * digits)}`)

/** A word as `int256`. */
export const signed = (word: bigint): bigint => BigInt.asIntN(256, word)

/** The list whose place is said by the n-th word. @throws where it is not all there */
export function listAt(data: string, index: number): readonly bigint[] {
  const first = Number(wordAt(data, index) / bytesPerWord)
  const length = Number(wordAt(data, first))
  if (first + 1 + length > wordCount(data)) throw new RangeError(`There is no list of ${length} in ${data.length} digits.`)
  return Array.from({ length }, (_, at) => wordAt(data, first + 1 + at))
}

/** The address in an indexed word, in lower case. */
export const addressInTopic = (topic = ''): string => `0x${topic.slice(-addressDigits).toLowerCase()}`

/** The address in a word, in lower case. */
export const addressOf = (word: bigint): string => `0x${word.toString(16).padStart(addressDigits, '0')}`

// What logs and answers are made of, read without an interface: a decoder makes objects of each, of which blocks have thousands.
import { getAddress } from 'ethers'

const prefix = '0x'.length
const digits = 64
const addressDigits = 40
const bytesPerWord = 32n

/** How many whole words there are. */
export const wordCount = (data: string): number => Math.floor((data.length - prefix) / digits)

/** The n-th of 32 bytes, unsigned. @throws SyntaxError where there is none */
export const wordAt = (data: string, index: number): bigint =>
  BigInt(`0x${data.slice(prefix + index * digits, prefix + (index + 1) * digits)}`)

/** All whole words, unsigned. */
export const wordsIn = (data: string): readonly bigint[] => Array.from({ length: wordCount(data) }, (_, index) => wordAt(data, index))

/** A word as `int256`. */
export const toInt256 = (word: bigint): bigint => BigInt.asIntN(256, word)

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

/** Whether an indexed word holds this address. */
export const isAddressTopic = (topic: string | undefined, address: string): boolean =>
  topic !== undefined && addressInTopic(topic) === address.toLowerCase()

/** Whether both spell the same address. */
export const isSameAddress = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** JSON-RPC's hexadecimal number, or undefined where the value is none. */
export function quantityOf(value: unknown): bigint | undefined {
  return isQuantity(value) ? BigInt(value) : undefined
}

/** The same as a number: of a block, or of a log in it. */
export function numberOf(value: unknown): number | undefined {
  return isQuantity(value) ? Number(value) : undefined
}

const isQuantity = (value: unknown): value is string => typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)

/** Bytes as JSON-RPC writes them: any even number of digits. */
export function isBytes(value: unknown): value is string {
  return typeof value === 'string' && value.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(value)
}

/** The checksummed spelling (EIP-55); undefined where the text is no address or its checksum is wrong. */
export function canonicalAddress(text: string): string | undefined {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined
  try {
    return getAddress(text)
  } catch {
    return undefined
  }
}

export function isTransactionHash(text: string): boolean {
  return /^0x[0-9a-fA-F]{64}$/.test(text)
}

/** What stands for the native coin in answers. */
export const nativeAddress = '0x0000000000000000000000000000000000000000'

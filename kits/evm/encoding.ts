// Addresses, JSON-RPC quantities and ABI words, read and written by hand: a decoder makes objects of each log, and blocks have thousands.
import { getAddress, id, Interface } from 'ethers'
import { keepShortHashes } from './keccak.ts'
import type { EvmLog } from './types.ts'

keepShortHashes()

const prefix = '0x'.length
export const wordDigits = 64
const addressDigits = 40
const addressBits = 160
const bytesPerWord = 32n

/** The number of whole words. */
export const wordCount = (data: string): number => Math.floor((data.length - prefix) / wordDigits)

/** The n-th word, unsigned. @throws SyntaxError if there are fewer words */
export const wordAt = (data: string, index: number): bigint =>
  BigInt(`0x${data.slice(prefix + index * wordDigits, prefix + (index + 1) * wordDigits)}`)

/** The digits of words, to compare them with others. */
export const hexOfWords = (data: string, from: number, to: number): string =>
  data.slice(prefix + from * wordDigits, prefix + to * wordDigits)

/** All whole words, unsigned. */
export const wordsIn = (data: string): readonly bigint[] => Array.from({ length: wordCount(data) }, (_, index) => wordAt(data, index))

/** A word as `int256`. */
export const toInt256 = (word: bigint): bigint => BigInt.asIntN(256, word)

/** The list whose offset is the n-th word. @throws RangeError if the list is cut off */
export function listAt(data: string, index: number): readonly bigint[] {
  const first = Number(wordAt(data, index) / bytesPerWord)
  const length = Number(wordAt(data, first))
  if (first + 1 + length > wordCount(data)) throw new RangeError(`A list of ${length} words does not fit into ${data.length} digits.`)
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

/** Of ERC-20 and ERC-721. */
export const transferTopic = id('Transfer(address,address,uint256)')
export const approvalTopic = id('Approval(address,address,uint256)')
/** A coin's wrapper logs these, and no transfer, when it mints or burns tokens: WETH9. */
export const depositTopic = id('Deposit(address,uint256)')
export const withdrawalTopic = id('Withdrawal(address,uint256)')

/** Whether a log is a transfer of this token between these two. */
export const isTransfer = (
  { address, topics: [topic, from, to] }: Pick<EvmLog, 'address' | 'topics'>,
  token: string,
  payer: string,
  payee: string,
): boolean => topic === transferTopic && isSameAddress(address, token) && isAddressTopic(from, payer) && isAddressTopic(to, payee)

/** Whether a value is this address or hash, in any case. */
export const isSameHex = (value: unknown, hex: string): boolean => typeof value === 'string' && isSameAddress(value, hex)

/** A number as a word, without `0x`. @throws RangeError if it does not fit: a node refuses calls of odd length, and is set aside for it */
export function word(value: number | bigint): string {
  const digits = value.toString(16)
  if (digits.length > wordDigits || value < 0) throw new RangeError(`${value} is no number of 256 bits.`)
  return digits.padStart(wordDigits, '0')
}

/** An address as a word, without `0x`. */
export function addressWord(address: string): string {
  return address.slice(2).toLowerCase().padStart(wordDigits, '0')
}

/** Bytes with their length, filled up to whole words, without `0x`. */
export function packBytes(data: string): string {
  const digits = data.slice(2)
  return word(digits.length / 2) + digits.padEnd(Math.ceil(digits.length / wordDigits) * wordDigits, '0')
}

/** A hexadecimal number of JSON-RPC. Undefined if the value is not one. */
export function quantityOf(value: unknown): bigint | undefined {
  return isQuantity(value) ? BigInt(value) : undefined
}

/** The same as a `number`, for blocks, indexes and nonces: of one that is none of a chain nothing is counted. */
export function numberOf(value: unknown): number | undefined {
  const number = isQuantity(value) ? Number(value) : Number.NaN
  return Number.isSafeInteger(number) ? number : undefined
}

const isQuantity = (value: unknown): value is string => typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)

/** Bytes as JSON-RPC writes them: any even number of digits. */
export function isBytes(value: unknown): value is string {
  return typeof value === 'string' && value.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(value)
}

/** An address as nodes take it, whatever its checksum. */
export const isAddress = (value: unknown): value is string => typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)

/** By their spelling: a checksum is a hash, and a start alone asks for each address two or three times. */
const canonicalBefore = new Map<string, string>()
const maxCanonical = 2_000

/** The spelling with checksum (EIP-55). Undefined if the text is not an address or its checksum is wrong. */
export function canonicalAddress(text: string): string | undefined {
  const before = canonicalBefore.get(text)
  if (before !== undefined) return before
  if (!isAddress(text)) return undefined
  try {
    const address = getAddress(text)
    if (canonicalBefore.size >= maxCanonical) canonicalBefore.clear()
    canonicalBefore.set(text, address)
    return address
  } catch {
    return undefined
  }
}

/** The address in a word of any height, in its spelling with checksum. */
export function checksummedIn(word: bigint): string {
  const spelled = addressOf(BigInt.asUintN(addressBits, word))
  return canonicalAddress(spelled) ?? spelled
}

/** Functions and events of a contract, which are parsed when one of them is first needed: a start needs few, and all took a twentieth of it. */
export function abiOf(lines: readonly string[]): Interface {
  let made: Interface | undefined
  return new Proxy<Interface>(Object.create(Interface.prototype), {
    get(_, name) {
      made ??= new Interface(lines)
      const value: unknown = Reflect.get(made, name)
      return typeof value === 'function' ? value.bind(made) : value
    },
  })
}

export function isTransactionHash(text: string): boolean {
  return /^0x[0-9a-fA-F]{64}$/.test(text)
}

/** The zero address stands for the native coin in plans and answers. */
export const nativeAddress = '0x0000000000000000000000000000000000000000'

/** Stands for the native coin at exchanges and in token lists: https://eips.ethereum.org/EIPS/eip-7528 */
export const coinPlaceholder = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'

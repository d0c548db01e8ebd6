// How nodes say that a call failed by its contract, and why: as data, as text in place of data, or in the message.
import { AbiCoder } from 'ethers/abi'
import { id } from 'ethers/hash'
import { isObject } from '../../core/base/json.ts'
import { revertedSilently } from '../../core/contracts/rail.ts'
import type { NodeError } from '../nodes/dialect.ts'
import { beginningOf, quoteNode } from '../nodes/faults.ts'
import { isBytes } from './encoding.ts'

/**
 * A revert, in the words of geth and its kin, besu, reth, erigon, zkSync and Arbitrum ("execution reverted"), nethermind and OpenEthereum ("VM execution
 * error."), ganache, hardhat and Moonbeam ("VM Exception while processing transaction: revert"), and with less around it.
 */
const reverted =
  /\bexecution (was )?reverted\b|\bvm execution error\b|\bvm exception while processing transaction\b|\btransaction reverted\b|^\W*(error: )?revert(ed)?\b|\breverted (with|by|without|0x)|\bevm[: _]+revert(ed)?\b|\bvalidation revert\b|\bcontract_revert_executed\b|\brevert reason\b|\bvm error=\[|\bfunction_selector = 0x/

/** Code that ended by itself, in the words of geth (`core/vm/errors.go`), nethermind, reth, anvil and OpenEthereum. */
const halted =
  /\binvalid ?(fe)?opcode\b|\bopcode\w* not ?(found|defined)\b|\bbad ?(instruction|jump ?destination)\b|\binvalid ?jump\b|\bstack ?(underflow|overflow|limit reached)\b|\bwrite ?protection\b|\bgas uint64 overflow\b|\breturn data out of bounds\b|\bmax call depth exceeded\b|\bcontract address collision\b|\binvalid code: must not begin with 0xef\b|\bstatic ?(state change|call violation)\b/

const maxDepth = 3
const maxTexts = 32
/** Of the error; what was asked may stand beside it. The key may also be the hash of a transaction. */
const ofError = /^(data|error|originalError|cause|result|return|returnData|output|reason|message|msg|description|0x[0-9a-f]{64})$/i

/** All texts of an error, the message first. Some nodes put another error into the data, and ganache the reason behind the hash of a transaction. */
function textsOf({ message, data }: Pick<NodeError, 'message' | 'data'>): readonly string[] {
  const texts = [message]
  const add = (value: unknown, depth: number): void => {
    if (texts.length >= maxTexts) return
    if (typeof value === 'string') texts.push(value)
    else if (isObject(value) && depth < maxDepth)
      for (const [key, each] of Object.entries(value)) if (ofError.test(key)) add(each, depth + 1)
  }
  add(data, 0)
  return texts
}

const inMessage = /(?:\breverted\W*|\bdata\W+)(0x[0-9a-f]{8,})/i
const selectorDigits = 8
const wordDigits = 64

/** A selector and whole words, as Solidity encodes errors. A hash or an address is none. */
const isEncoded = (text: string): boolean => isBytes(text) && text.length > 2 && (text.length - 2 - selectorDigits) % wordDigits === 0

/** The bytes of a revert among the texts of an error. Nethermind writes "Reverted 0x…". */
function bytesIn([message = '', ...ofData]: readonly string[]): string | undefined {
  const whole = ofData.map((text) => text.replace(/^reverted /i, '')).find((text) => isBytes(text) && text !== '0x')
  return whole ?? [message, ...ofData].map((text) => inMessage.exec(text)?.[1]).find((found) => found !== undefined && isEncoded(found))
}

/** Whether a contract, or code that ran, made the call fail. By data and text: every node has codes of its own. */
export function saysReverted(error: Pick<NodeError, 'message' | 'data'>): boolean {
  const texts = textsOf(error)
  const lower = texts.map((text) => text.toLowerCase())
  return lower.some((text) => reverted.test(text) || halted.test(text)) || texts.slice(1).some(isEncoded)
}

/** The data of the revert that the error is. Where the node gave the reason as text only, it is encoded as Solidity does. `0x` if there is none. */
export function revertData(error: Pick<NodeError, 'message' | 'data'>): string {
  const texts = textsOf(error)
  const bytes = bytesIn(texts)
  if (bytes !== undefined) return bytes
  const reason = texts.map(reasonInText).find((text) => text !== '')
  return reason === undefined ? '0x' : `${errorSelector}${AbiCoder.defaultAbiCoder().encode(['string'], [reason]).slice(2)}`
}

/** What stands before the reason, from outside inwards. */
const before: readonly RegExp[] = [
  /^.*?\b(?:execution (?:was )?reverted|validation revert|vm exception while processing transaction)\b/i,
  /^\W*(?:err(?:or)?: )?/i,
  /^(?:transaction )?revert(?:ed)?\b/i,
  /^\W*(?:with |by |because )?(?:reason(?: string)?|message)?\b/i,
  /^[\s:,('"]+/,
]
/** Erigon and bor add the gas that was given. */
const after = /(?:\(supplied gas \d+\)|[\s'")]+)$/i

/** Empty where the text gives none. */
function reasonInText(whole: string): string {
  const text = beginningOf(whole)
  const lower = text.toLowerCase()
  if (halted.test(lower) && !reverted.test(lower)) return quoteNode(text)
  if (!reverted.test(lower) || /\bvm execution error\b/i.test(text)) return ''
  const reason = before
    .reduce((rest, prefix) => rest.replace(prefix, ''), text)
    .replace(after, '')
    .replace(after, '')
  return /^without (?:a )?reason|^0x/i.test(reason) ? '' : quoteNode(reason)
}

/** Selectors of Solidity's two built-in errors: `Error(string)` and `Panic(uint256)`. */
const errorSelector = '0x08c379a0'
const panicSelector = '0x4e487b71'

/** https://docs.soliditylang.org/en/latest/control-structures.html#panic-via-assert-and-error-via-require */
const panics: ReadonlyMap<bigint, string> = new Map([
  [0x01n, 'an assertion failed'],
  [0x11n, 'arithmetic overflow or underflow'],
  [0x12n, 'division by zero'],
  [0x21n, 'a value outside of an enumeration'],
  [0x22n, 'broken storage of bytes'],
  [0x31n, 'pop of an empty array'],
  [0x32n, 'an index outside of an array'],
  [0x41n, 'too much memory'],
  [0x51n, 'a call of an uninitialized function'],
])

/** As `revertReason` has an error of a contract. @param signature "TooLittle(uint256)" */
export const customError = (signature: string): string => `custom error ${id(signature).slice(0, 10)}`

/** The reason in a revert's data, as text. */
export function revertReason(data: unknown): string {
  if (typeof data !== 'string' || data === '0x') return revertedSilently
  const selector = data.slice(0, 10).toLowerCase()
  const body = `0x${data.slice(10)}`
  try {
    if (selector === errorSelector) return quoteNode(String(AbiCoder.defaultAbiCoder().decode(['string'], body)[0])) || revertedSilently
    if (selector === panicSelector) {
      const code = BigInt(AbiCoder.defaultAbiCoder().decode(['uint256'], body)[0])
      return `panic 0x${code.toString(16).padStart(2, '0')}: ${panics.get(code) ?? 'of an unknown kind'}`
    }
  } catch {
    // A contract may revert with other bytes that begin like one of these.
  }
  return `custom error ${selector}`
}

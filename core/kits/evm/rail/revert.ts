import { AbiCoder } from 'ethers/abi'
import { quoteNode } from '../../nodes/quote-node.ts'

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

/** What a revert's data says, for people. */
export function revertReason(data: unknown): string {
  if (typeof data !== 'string' || data === '0x') return 'reverted without a reason'
  const selector = data.slice(0, 10).toLowerCase()
  const body = `0x${data.slice(10)}`
  try {
    if (selector === errorSelector) return quoteNode(String(AbiCoder.defaultAbiCoder().decode(['string'], body)[0]))
    if (selector === panicSelector) {
      const code = BigInt(AbiCoder.defaultAbiCoder().decode(['uint256'], body)[0])
      return `panic 0x${code.toString(16).padStart(2, '0')}: ${panics.get(code) ?? 'of an unknown kind'}`
    }
  } catch {
    // A contract may revert with bytes of its own that begin like one of these.
  }
  return `custom error ${selector}`
}

// What the signature that a request asks for may give away: from the bytes that are signed, not from what the request says of them.
import { Transaction } from 'ethers/transaction'
import { hexlify } from 'ethers/utils'
import { addressKey } from '../../base/addresses.ts'
import type { EvmRules, SolanaRules } from '../policy.ts'
import { addressArgument, approveSelector, transferSelector, twoArgumentsLength } from '../token-rights.ts'
import type { SignRequest } from '../signer-messages.ts'
import type { Charge } from './counts.ts'

export interface Spending extends Charge {
  /** What the signer cannot read of it, for people. Then more may leave the wallet than the amounts say. */
  readonly unreadable?: string
}

/** @param request one that the policy allows */
export function spendingOf({ draft, address }: SignRequest, rules: EvmRules | SolanaRules): Spending {
  const base = { wallet: addressKey(address), chain: chainOf(rules) }
  if (draft.scheme === 'secp256k1' && rules.keys === 'secp256k1') return { ...base, ...ofTransaction(draft.bytes, base.wallet, rules) }
  return { ...base, amounts: once(), unreadable: `what is signed as ${draft.scheme}` }
}

/** Networks with one chain id are one. */
const chainOf = (rules: EvmRules | SolanaRules): string => (rules.keys === 'secp256k1' ? rules.chainId.toString() : rules.name)

const once = (): Map<string, bigint> => new Map([['transactions', 1n]])

function ofTransaction(bytes: Uint8Array, wallet: string, rules: EvmRules): Omit<Spending, 'wallet' | 'chain'> {
  const { nonce, value, gasLimit, maxFeePerGas, gasPrice, data, to } = Transaction.from(hexlify(bytes))
  const target = (to ?? '').toLowerCase()
  const amounts = once()
    .set('native', value)
    .set('gasCost', gasLimit * (maxFeePerGas ?? gasPrice ?? 0n))
  const taken = tokensTaken({ target, data, wallet }, rules)
  if (taken === undefined) return { nonce: String(nonce), amounts, unreadable: `the call ${data.slice(0, 10)} of ${to}` }
  if (taken > 0n) amounts.set(`token ${target}`, taken)
  return { nonce: String(nonce), amounts }
}

/**
 * How much of the token that is called a call lets others take, beside the coin that goes with it: an approval counts as what it lets its spender
 * take. Undefined where that cannot be told from the call.
 */
function tokensTaken({ target, data, wallet }: { target: string; data: string; wallet: string }, rules: EvmRules): bigint | undefined {
  // What a contract does with a payment is its own affair; what the wallet approved it for it may take then.
  if (data === '0x') return rules.contracts.has(target) ? undefined : 0n
  if (target === wallet) return 0n
  if (target === rules.wrapped && (data === '0xd0e30db0' || /^0x2e1a7d4d[0-9a-f]{64}$/.test(data))) return 0n
  if (data.length !== twoArgumentsLength || addressArgument(data, 0) === undefined) return undefined
  const amountRaw = BigInt(`0x${data.slice(-64)}`)
  if (data.startsWith(transferSelector)) return amountRaw
  // An ERC-721 contract reads the same bytes as a right to its token 0.
  if (data.startsWith(approveSelector)) return amountRaw > 0n || rules.tokens.has(target) ? amountRaw : undefined
  return undefined
}

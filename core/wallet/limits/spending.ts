// What the signature that a request asks for may give away: from the bytes that are signed, not from what the request says of them.
import { addressKey } from '../../base/addresses.ts'
import { isBoundByCalls, readCall } from '../calls/index.ts'
import { readSignedAction } from '../calls/signed-actions.ts'
import { decodeTransaction } from '../policy-evm.ts'
import type { EvmRules, SolanaRules } from '../policy.ts'
import { addressArgument, approveSelector, mayBeForRemoval, takesRightBack, transferSelector, twoArgumentsLength } from '../token-rights.ts'
import type { SignRequest } from '../signer-messages.ts'
import { allGas, gasOfTrades, type Charge } from './counts.ts'

export interface Spending extends Charge {
  /** What the signer cannot read of it, for people. Then more may leave the wallet than the amounts say. */
  readonly unreadable?: string
}

interface SpendingOptions {
  /** Calls that cannot be read are signed: then approvals of contracts that have readers count, too. */
  readonly allowsUnreadable: boolean
}

/**
 * @param request one that the policy allows
 * @throws Refusal where somebody else than the wallet gets what a call gives
 */
export async function spendingOf(
  { draft, address }: SignRequest,
  rules: EvmRules | SolanaRules,
  options: SpendingOptions,
): Promise<Spending> {
  const base = { wallet: addressKey(address), chain: chainOf(rules) }
  if (draft.scheme === 'secp256k1' && rules.keys === 'secp256k1')
    return { ...base, ...ofTransaction(draft.bytes, base.wallet, rules, options) }
  if (draft.scheme === 'ed25519' && rules.keys === 'ed25519') {
    const { solanaSpending } = await import('./solana-spending.ts')
    const { unreadable, amounts } = solanaSpending(draft.bytes, rules)
    return { ...base, amounts: new Map([...once(), ...amounts]), ...(unreadable !== undefined && { unreadable }) }
  }
  if (draft.scheme === 'permit2' && rules.keys === 'secp256k1') {
    const { token, spender, amountRaw } = draft.permit
    const right = { token: token.toLowerCase(), spender: spender.toLowerCase() }
    const amounts = once()
    if (options.allowsUnreadable || !isBoundByCalls(right, rules)) amounts.set(`token ${right.token}`, BigInt(amountRaw))
    return { ...base, amounts }
  }
  if (draft.scheme === 'eip712' && rules.keys === 'secp256k1') {
    const withdrawnRaw = readSignedAction(draft.typedData, rules)
    if (withdrawnRaw !== undefined) return { ...base, amounts: once().set('withdrawals', withdrawnRaw) }
    return { ...base, amounts: once(), unreadable: `typed data ${draft.typedData.primaryType}` }
  }
  return { ...base, amounts: once(), unreadable: `what is signed as ${draft.scheme}` }
}

/** Networks with one chain id are one. */
const chainOf = (rules: EvmRules | SolanaRules): string => (rules.keys === 'secp256k1' ? rules.chainId.toString() : rules.name)

const once = (): Map<string, bigint> => new Map([['transactions', 1n]])

function ofTransaction(bytes: Uint8Array, wallet: string, rules: EvmRules, options: SpendingOptions): Omit<Spending, 'wallet' | 'chain'> {
  const { nonce, value: valueRaw, gasLimit, maxFeePerGas, gasPrice, data, to } = decodeTransaction(bytes)
  const contract = (to ?? '').toLowerCase()
  const gasRaw = gasLimit * (maxFeePerGas ?? gasPrice ?? 0n)
  const amounts = once().set('native', valueRaw).set(allGas, gasRaw)
  const call = { wallet, contract, data, valueRaw }
  if (!frees(call, rules)) amounts.set(gasOfTrades, gasRaw)
  const taken = tokensTaken(call, rules, options)
  if ('unreadable' in taken)
    return { nonce: String(nonce), amounts, unreadable: `the call ${data.slice(0, 10)} of ${to} (${taken.unreadable})` }
  for (const [token, amountRaw] of taken) if (amountRaw > 0n) amounts.set(`token ${token}`, amountRaw)
  return { nonce: String(nonce), amounts }
}

interface Call {
  readonly wallet: string
  readonly contract: string
  readonly data: string
  readonly valueRaw: bigint
}

const noTokens: ReadonlyMap<string, bigint> = new Map()
/** `approve(address token, address spender, uint160 amount, uint48 expiration)` of Permit2. */
const permit2Approve = '0x87517c45'

/** A cancel, a right that is taken back, or an allowance that is taken to 0. */
function frees({ wallet, contract, data, valueRaw }: Call, { contracts, readers }: EvmRules): boolean {
  if (valueRaw !== 0n) return false
  if (contract === wallet) return !contracts.has(contract)
  if (takesRightBack({ target: contract, value: valueRaw, data }, readers)) return true
  if (data.startsWith(approveSelector)) return data.length === twoArgumentsLength && /0{64}$/.test(data)
  return data.startsWith(permit2Approve) && /^.{138}0{64}[0-9a-f]{64}$/.test(data)
}

/**
 * By token, how much a call lets others take, beside the coin that goes with it: an approval counts as what it lets its spender take. `unreadable`
 * where that cannot be told from the call.
 */
function tokensTaken(
  call: Call,
  rules: EvmRules,
  { allowsUnreadable }: SpendingOptions,
): ReadonlyMap<string, bigint> | { readonly unreadable: string } {
  const { wallet, contract, data, valueRaw } = call
  // What a contract does with a payment is its own affair; what the wallet approved it for it may take then.
  if (data === '0x') return rules.contracts.has(contract) ? { unreadable: 'a payment to a contract of an exchange' } : noTokens
  // Of a contract without a reader nobody knows what else it does.
  if (contract === wallet || takesRightBack({ target: contract, value: valueRaw, data }, rules.readers)) return noTokens
  if (contract === rules.wrapped && (data === '0xd0e30db0' || /^0x2e1a7d4d[0-9a-f]{64}$/.test(data))) return noTokens
  const holder = data.length === twoArgumentsLength ? addressArgument(data, 0) : undefined
  if (holder !== undefined && valueRaw === 0n) {
    const amountRaw = BigInt(`0x${data.slice(-64)}`)
    if (data.startsWith(transferSelector)) return new Map([[contract, amountRaw]])
    if (data.startsWith(approveSelector)) {
      const right = { token: contract, spender: holder, amountRaw }
      if (!allowsUnreadable && (isBoundByCalls(right, rules) || mayBeForRemoval(right, rules))) return noTokens
      // An ERC-721 contract reads the same bytes as a right to its token 0.
      return amountRaw > 0n || rules.tokens.has(contract)
        ? new Map([[contract, amountRaw]])
        : { unreadable: 'a contract that is in no token list' }
    }
  }
  return readCall(call, rules, { countsApprovals: allowsUnreadable })
}

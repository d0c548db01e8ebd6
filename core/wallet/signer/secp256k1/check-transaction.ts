import { keccak256 } from 'ethers/crypto'
import { Transaction } from 'ethers/transaction'
import { hexlify } from 'ethers/utils'
import { Refusal } from '../refusal.ts'
import type { EvmRules } from '../../policy.ts'
import { isDeposit } from './is-deposit.ts'
import { addressArgument, approveSelector, tokenRights } from './token-rights.ts'

/** Legacy and EIP-1559. The others carry blobs or, worse, hand over the account itself (EIP-7702). */
const signedTypes: readonly (number | null)[] = [0, 2]

export interface TransactionRequest {
  readonly bytes: Uint8Array
  readonly from: string
  readonly admin: boolean
  readonly rules: EvmRules
}

/**
 * Decides whether the bytes of an unsigned transaction may be signed, from the bytes alone.
 * @returns the digest to sign
 * @throws Refusal
 */
export function checkTransaction({ bytes, from, admin, rules }: TransactionRequest): string {
  const tx = decode(bytes)
  if (!signedTypes.includes(tx.type)) throw new Refusal(`transactions of type ${tx.type} are not signed, only legacy (0) and EIP-1559 (2)`)
  if (tx.chainId !== rules.chainId) {
    throw new Refusal(`the transaction is for chain id ${tx.chainId}, and ${rules.name} has ${rules.chainId}`)
  }
  checkFees(tx, rules)
  checkCanonical(tx, bytes)
  checkTarget(tx, from.toLowerCase(), admin, rules)
  return keccak256(bytes)
}

function decode(bytes: Uint8Array): Transaction {
  let tx: Transaction
  try {
    tx = Transaction.from(hexlify(bytes))
  } catch {
    throw new Refusal('the bytes are not a transaction')
  }
  if (tx.isSigned()) throw new Refusal('the transaction already has a signature; send the unsigned bytes')
  return tx
}

/** One meaning per byte string: what is signed must be exactly what was looked at. */
function checkCanonical(tx: Transaction, bytes: Uint8Array): void {
  let canonical: string
  try {
    canonical = tx.unsignedSerialized
  } catch {
    throw new Refusal('the transaction contradicts itself')
  }
  if (canonical !== hexlify(bytes)) throw new Refusal('the bytes are not in the canonical encoding')
}

function checkFees(tx: Transaction, { feeCapRaw, name }: EvmRules): void {
  const feeRaw = tx.type === 2 ? tx.maxFeePerGas : tx.gasPrice
  if (feeRaw === null) throw new Refusal('the transaction names no fee')
  if (feeRaw > feeCapRaw) {
    throw new Refusal(`the transaction may pay ${feeRaw} wei per gas, and the fee cap of ${name} is ${feeCapRaw} wei`)
  }
  if (tx.maxPriorityFeePerGas !== null && tx.maxPriorityFeePerGas > feeRaw) {
    throw new Refusal(`the tip (${tx.maxPriorityFeePerGas} wei) is above the most it may pay (${feeRaw} wei)`)
  }
}

function checkTarget({ to, value, data }: Transaction, from: string, admin: boolean, rules: EvmRules): void {
  if (to === null) throw new Refusal('creating a contract is never signed')
  const target = to.toLowerCase()
  const declared = rules.contracts.has(target)
  if (target === from && !declared) {
    if (value !== 0n || data !== '0x') throw new Refusal('a transfer to oneself (cancel) must have no value and no data')
    return
  }
  if (isDeposit({ target, value, data }, rules)) return
  const rights = tokenRights.get(data.slice(0, 10))
  if (rights) checkTokenRights(rights, { data, declared, admin, rules })
  else if (!declared) throw new Refusal(`${to} is no contract that a connector declares on ${rules.name}`)
  if (value !== 0n && !declared) throw new Refusal(`an allowance must have no value; this one sends ${value} wei to ${to}`)
}

function checkTokenRights(
  { call, holderArgument }: { call: string; holderArgument: number },
  { data, declared, admin, rules }: { data: string; declared: boolean; admin: boolean; rules: EvmRules },
): void {
  const isApprove = data.startsWith(approveSelector)
  if (!declared && !isApprove) throw new Refusal(`${call} is not signed: only approve is, on tokens that no connector declares`)
  if (isApprove && data.length !== 2 + 2 * (4 + 32 + 32)) throw new Refusal('the data of approve has the wrong length')
  const holder = addressArgument(data, holderArgument)
  if (holder === undefined) throw new Refusal(`${call} is malformed: argument ${holderArgument + 1} is no address`)
  if (rules.spenders.has(holder) || (isApprove && admin)) return
  const cure = isApprove
    ? 'add it to wallet.allowedSpenders or use a certificate with the permission admin'
    : 'it is not signed for anybody else'
  throw new Refusal(`${call} goes to ${holder}, which is no registered connector's spender on ${rules.name}; ${cure}`)
}

import { ZeroAddress } from 'ethers/constants'
import { keccak256 } from 'ethers/crypto'
import { Transaction } from 'ethers/transaction'
import { decodeRlp, getBytes, hexlify, type RlpStructuredDataish } from 'ethers/utils'
import { canonicalPermit2, isUnlimited, maxPermitSeconds, permitTypedData } from '../contracts/permit2.ts'
import { isWellKnown } from '../keys/curves.ts'
import { Refusal, type EvmRules, type TypedDataRules } from './policy.ts'
import type { PermitRequest, SignRequest, TypedData } from './signer-messages.ts'
import {
  addressArgument,
  approveSelector,
  callsIn,
  isDeclaredDeposit,
  takesRightBack,
  tokenRights,
  transferSelector,
  twoArgumentsLength,
} from './token-rights.ts'
import { digestOf } from './typed-data.ts'

/** Checks a request for a network of the EVM family. @returns the digest to sign, 32 bytes. @throws Refusal */
export function checkEvmRequest({ draft, address, plugin }: SignRequest, rules: EvmRules): Uint8Array {
  if (!rules.local && isWellKnown(address))
    throw new Refusal(
      `everybody has the key of ${address} (it is a test account of anvil and hardhat), so it signs on a devnet only, not on ${rules.name}`,
    )
  if (draft.scheme === 'eip712') return getBytes(checkTypedData(draft.typedData, address, rules))
  if (draft.scheme === 'permit2') return getBytes(checkPermit(draft.permit, rules, Date.now()))
  if (draft.scheme === 'secp256k1')
    return getBytes(checkTransaction({ bytes: draft.bytes, replaces: draft.replaces, from: address, rules, plugin }))
  throw new Refusal(`${rules.name} expects an EVM transaction or EIP-712 data`)
}

/** Legacy and EIP-1559. The other types carry blobs or, worse, hand over the account itself (EIP-7702). */
const signedTypes: readonly (number | null)[] = [0, 2]

interface TransactionRequest {
  readonly bytes: Uint8Array
  /** The signed transaction that it replaces. */
  readonly replaces?: Uint8Array | undefined
  readonly from: string
  readonly rules: EvmRules
  /** The version of the plugin that planned it; absent for those of the release. */
  readonly plugin?: string | undefined
}

/**
 * Decides whether the bytes of an unsigned transaction may be signed, from the bytes alone. A transaction that this key signed before may be signed
 * again at other fees, whatever is in force by now: the same nonce is used once, and anybody may send the first one.
 * @returns the digest to sign
 * @throws Refusal
 */
export function checkTransaction({ bytes, replaces, from, rules, plugin }: TransactionRequest): string {
  const tx = decodeTransaction(bytes)
  if (!signedTypes.includes(tx.type)) throw new Refusal(`transactions of type ${tx.type} are not signed, only legacy (0) and EIP-1559 (2)`)
  if (tx.chainId !== rules.chainId)
    throw new Refusal(`the transaction is for chain id ${tx.chainId}, and the chain id of ${rules.name} is ${rules.chainId}`)
  checkFees(tx, rules)
  checkCanonical(tx, bytes)
  if (replaces !== undefined && isSignedAtOtherFees(tx, replaces, from)) return keccak256(bytes)
  // What a caller asks for where nothing is worth anything. What plugins plan is bound there as anywhere.
  if (rules.anySpender && plugin === undefined && isPlainApprove(tx, rules)) return keccak256(bytes)
  checkTarget(tx, from.toLowerCase(), { ...rules, deposits: rules.deposits.filter((each) => isOwn(each, plugin)) })
  return keccak256(bytes)
}

/** A deposit is signed for the connector alone whose it is. @param plugin the beginning of a hash; absent for connectors of the release */
const isOwn = ({ plugin: owner }: EvmRules['deposits'][number], plugin: string | undefined): boolean =>
  plugin === undefined ? owner === undefined : owner?.startsWith(plugin) === true

/** Whether the key of `from` signed this transaction already, with other fees. The signature says so, not who asks. */
function isSignedAtOtherFees(tx: Transaction, replaces: Uint8Array, from: string): boolean {
  let signed: Transaction
  try {
    signed = parseTransaction(replaces)
    if (signed.from?.toLowerCase() !== from.toLowerCase()) return false
  } catch {
    return false
  }
  return tx.to !== null && contentOf(signed) === contentOf(tx)
}

/** All of a transaction but its fees and its signature. */
function contentOf({ type, chainId, nonce, gasLimit, to, value, data, accessList }: Transaction): string {
  return JSON.stringify([type, `${chainId}`, nonce, `${gasLimit}`, to, `${value}`, data, accessList])
}

const decoded = new WeakMap<Uint8Array, Transaction>()

/** The same bytes are decoded once: nobody changes them, nor what they are decoded to. @throws Refusal */
export function decodeTransaction(bytes: Uint8Array): Transaction {
  const known = decoded.get(bytes)
  if (known) return known
  let tx: Transaction
  try {
    tx = parseTransaction(bytes)
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal('the bytes are not a transaction')
  }
  if (tx.isSigned()) throw new Refusal('the transaction already has a signature; send the unsigned bytes')
  decoded.set(bytes, tx)
  return tx
}

/** ethers takes a third of a millisecond for each entry of an access list, and there is room for thousands. */
const maxListed = 500
/** Of a transaction that has room for no more. */
const shortBytes = 4_096

/** @throws Error for bytes that are no transaction. @throws Refusal for lists that are too long */
function parseTransaction(bytes: Uint8Array): Transaction {
  const isTyped = (bytes[0] ?? 0) < 0x80
  if (bytes.length > shortBytes && countListed(decodeRlp(isTyped ? bytes.subarray(1) : bytes)) > maxListed)
    throw new Refusal(`the transaction lists more than ${maxListed} addresses and storage keys`)
  return Transaction.from(hexlify(bytes))
}

const countListed = (value: RlpStructuredDataish): number =>
  Array.isArray(value) ? value.reduce<number>((sum, each) => sum + countListed(each), 0) : 1

/** A second encoding of the same transaction is refused: the signer signs exactly the bytes that it has checked. */
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
  if (feeRaw > feeCapRaw) throw new Refusal(`the transaction may pay ${feeRaw} wei per gas, and the fee cap of ${name} is ${feeCapRaw} wei`)
  if (tx.maxPriorityFeePerGas !== null && tx.maxPriorityFeePerGas > feeRaw)
    throw new Refusal(`the priority fee (${tx.maxPriorityFeePerGas} wei) is above the maximum fee (${feeRaw} wei)`)
}

/** A cancel, and one that private relays do not take for the wish to withdraw: `cancelAgain` of the rail. */
const emptyData: readonly string[] = ['0x', '0x00000000']

/**
 * Of a transfer, an approval, a wrap or a cancel, which run the code of a token, or of whom a wallet may send to. The server's own limit is lower
 * but where gas pays for layer 1, too.
 */
const maxUndeclaredGas = 5_000_000n

function checkTarget({ to, value, data, gasLimit }: Transaction, from: string, rules: EvmRules): void {
  if (to === null) throw new Refusal('creating a contract is never signed')
  const target = to.toLowerCase()
  const isDeclared = rules.contracts.has(target)
  if (!isDeclared && gasLimit > maxUndeclaredGas)
    throw new Refusal(
      `no connector declares the contract ${to} on ${rules.name}: its code may use ${maxUndeclaredGas} gas at most, and this transaction allows ${gasLimit}`,
    )
  if (target === from && !isDeclared) {
    if (value !== 0n || !emptyData.includes(data))
      throw new Refusal('a transfer to oneself (cancel) must have no value, and no data but four zero bytes')
    return
  }
  if (isDeclaredDeposit({ target, value, data }, rules.deposits) || isRevocation({ target, value, data }, rules)) return
  if (takesRightBack({ target, value, data }, rules.contracts)) return
  if (isWrapping({ target, value, data }, rules) || isSending({ target, value, data }, rules.recipients.get(from))) return
  if (data === '0x' && !isDeclared)
    throw new Refusal(
      `no connector declares the contract ${to} on ${rules.name}, and ${from} may not send to it: an operator lists it in sendTo of conf/clients.yml and restarts the server`,
    )
  const calls = callsIn(data)
  if (!calls) throw new Refusal(`the calls inside of ${data.slice(0, 10)} cannot be read`)
  for (const each of calls) {
    const rights = tokenRights.get(each.slice(0, 10))
    if (rights) checkTokenRights(rights, { data: each, isDeclared, rules })
    else if (!isDeclared) throw new Refusal(`no connector declares the contract ${to} on ${rules.name}`)
  }
  if (value !== 0n && !isDeclared) throw new Refusal(`an allowance must have no value; this one sends ${value} wei to ${to}`)
}

/**
 * Whether a call takes an allowance of an ERC-20 token to 0, which gives nobody anything, whoever the spender is. An ERC-721 contract reads the
 * same bytes as a right to its token 0, so the target has to be in a token list. Nobody but the operator writes into those that count here.
 */
const isRevocation = ({ target, value, data }: { target: string; value: bigint; data: string }, { tokens }: EvmRules): boolean =>
  value === 0n && isApproveOfZero(data) && addressArgument(data, 0) !== undefined && tokens.has(target)

/** `approve` and nothing else, for somebody who is not the spender of a contained plugin: those get exact amounts everywhere. */
function isPlainApprove({ to, value, data, gasLimit }: Transaction, { exactSpenders }: EvmRules): boolean {
  if (to === null || value !== 0n || gasLimit > maxUndeclaredGas || data.length !== twoArgumentsLength || !data.startsWith(approveSelector))
    return false
  const spender = addressArgument(data, 0)
  return spender !== undefined && !exactSpenders.has(spender)
}

/** A deposit of the native coin, or a withdrawal, by the token that wraps it: both stay with the wallet. */
const isWrapping = ({ target, value, data }: { target: string; value: bigint; data: string }, { wrapped }: EvmRules): boolean =>
  target === wrapped && (data === '0xd0e30db0' || (value === 0n && /^0x2e1a7d4d[0-9a-f]{64}$/.test(data)))

/** The native coin, or the transfer of a token, to an address of the wallet's list. */
function isSending(
  { target, value, data }: { target: string; value: bigint; data: string },
  recipients: ReadonlySet<string> = new Set(),
): boolean {
  if (data === '0x') return recipients.has(target)
  if (value !== 0n || data.length !== twoArgumentsLength || !data.startsWith(transferSelector)) return false
  const recipient = addressArgument(data, 0)
  return recipient !== undefined && recipients.has(recipient)
}

const isApproveOfZero = (data: string): boolean =>
  data.length === twoArgumentsLength && data.startsWith(approveSelector) && /^0{64}$/.test(data.slice(-64))

function checkTokenRights(
  { call, holderArgument }: { call: string; holderArgument: number },
  { data, isDeclared, rules }: { data: string; isDeclared: boolean; rules: EvmRules },
): void {
  const isApprove = data.startsWith(approveSelector)
  if (!isDeclared && !isApprove) throw new Refusal(`${call} is not signed: on tokens that no connector declares, only approve is`)
  if (isApprove && data.length !== twoArgumentsLength) throw new Refusal('the data of approve has the wrong length')
  const holder = addressArgument(data, holderArgument)
  if (holder === undefined) throw new Refusal(`${call} is malformed: argument ${holderArgument + 1} is not an address`)
  if (rules.exactSpenders.has(holder)) return checkExact({ call, data, isApprove, name: rules.name })
  if (rules.spenders.has(holder)) return
  const remedy = isApprove
    ? `an operator adds "${holder}" to the list allowedSpenders below wallet: in conf/server.yml${isApproveOfZero(data) ? ', or the token to conf/tokens: of tokens listed there every allowance may be taken to 0,' : ''} and restarts the server`
    : 'it is not signed for anybody else'
  throw new Refusal(`${call} goes to ${holder}, which is not a spender of a registered connector on ${rules.name}; ${remedy}`)
}

/** A spender of a contained plugin gets the allowance that a trade needs, and nothing that lasts. */
function checkExact({ call, data, isApprove, name }: { call: string; data: string; isApprove: boolean; name: string }): void {
  if (!isApprove) throw new Refusal(`${call} is not signed for the spender of a contained plugin on ${name}: approve it in exact amounts`)
  if (isUnlimited(BigInt(`0x${data.slice(-64)}`)))
    throw new Refusal(`an unlimited allowance is not signed for the spender of a contained plugin on ${name}: approve the exact amount`)
}

/**
 * What to sign with a key that everybody has, for plugins that no file describes: where a server only tries. Nobody is kept from signing with
 * it, so nothing is lost; only a network that is known and not local is refused, because what is sent to these addresses there is taken.
 * @returns the digest @throws Refusal
 */
export function sandboxDigest(draft: SignRequest['draft'], publicChainIds: ReadonlySet<bigint>): Uint8Array {
  const refuse = (chainId: bigint) => {
    if (chainId === 0n || publicChainIds.has(chainId))
      throw new Refusal(`a key that everybody has signs on a devnet only, not for chain id ${chainId}`)
  }
  if (draft.scheme === 'eip712') {
    const { domain, primaryType } = draft.typedData
    refuse(BigInt(domain.chainId ?? 0))
    return getBytes(digestOf(draft.typedData, `${primaryType} of the domain "${domain.name ?? ''}"`))
  }
  if (draft.scheme !== 'secp256k1') throw new Refusal('expected an EVM transaction or EIP-712 data')
  const tx = decodeTransaction(draft.bytes)
  refuse(tx.chainId)
  if (!signedTypes.includes(tx.type)) throw new Refusal(`transactions of type ${tx.type} are not signed, only legacy (0) and EIP-1559 (2)`)
  checkCanonical(tx, draft.bytes)
  return getBytes(keccak256(draft.bytes))
}

/**
 * Decides whether typed data (EIP-712) may be signed. A connector of that network must declare its domain and primary type. It must be
 * for the chain id that goes with them, and for no contract but declared ones. Fields that say where money goes must hold the signer's
 * own address.
 * @returns the digest to sign
 * @throws Refusal
 */
export function checkTypedData({ domain, types, primaryType, message }: TypedData, from: string, rules: EvmRules): string {
  const kind = `${primaryType} of the domain "${domain.name ?? ''}"`
  if (grantsRights(primaryType)) throw new Refusal(`typed data ${kind} gives rights away by a signature alone, and is never signed`)
  const declared = rules.typedData.filter((each) => each.domain === domain.name && each.primaryType === primaryType)
  if (declared.length === 0) throw new Refusal(`no connector declares typed data ${kind} on ${rules.name}`)
  const { chainId } = domain
  if (chainId === undefined) throw new Refusal(`typed data ${kind} names no chain id: it would be valid on every chain`)
  const ofChain = declared.filter((each) => BigInt(chainId) === requiredChainId(each, rules))
  if (ofChain.length === 0) throw new Refusal(`typed data ${kind} is for chain id ${chainId}, which is not that of ${rules.name}`)
  checkContract(domain, kind, rules)
  // Where several connectors declare the same kind, the conditions of all of them hold.
  for (const field of ofChain.flatMap(({ own = [] }) => own)) {
    const value = message[field]
    if (typeof value !== 'string' || value.toLowerCase() !== from.toLowerCase())
      throw new Refusal(`${field} of typed data ${kind} is not the wallet's own address`)
  }
  return digestOf({ domain, types, primaryType, message }, kind)
}

/**
 * Decides whether a single permit of Permit2 may be signed: for the contract at its one address, on the network, for a spender of a built-in
 * connector whose settings say so, for an amount that does not last, until a time that is near. Nothing else of Permit2 is signed.
 * @param nowMs milliseconds since the Unix epoch
 * @returns the digest to sign
 * @throws Refusal
 */
export function checkPermit(permit: PermitRequest, rules: EvmRules, nowMs: number): string {
  const { permit2, token, spender, amountRaw: amount, expires, nonce, chainId } = permit
  const amountRaw = BigInt(amount)
  if (BigInt(chainId) !== rules.chainId)
    throw new Refusal(`the permit is for chain id ${chainId}, and the chain id of ${rules.name} is ${rules.chainId}`)
  if (permit2.toLowerCase() !== canonicalPermit2.toLowerCase())
    throw new Refusal(`the permit is for the contract ${permit2}: permits are signed for Permit2 at ${canonicalPermit2} only`)
  if (!rules.permitSpenders.has(spender.toLowerCase()))
    throw new Refusal(
      `no permit is signed for the spender ${spender} on ${rules.name}: a built-in connector has to have it, and signedPermits: true in its file in conf/connectors`,
    )
  if (amountRaw === 0n || isUnlimited(amountRaw))
    throw new Refusal(
      `the permit is for the amount ${amountRaw}: permits are signed for what a trade needs, not for more and not for nothing`,
    )
  const seconds = expires - Math.floor(nowMs / 1000)
  if (seconds < 0 || seconds > maxPermitSeconds)
    throw new Refusal(`the permit ends ${seconds} s from now: permits are signed that end within ${maxPermitSeconds} s`)
  const { domain, types, message } = permitTypedData({ permit2: canonicalPermit2, token, spender, amountRaw, expires, nonce }, chainId)
  return digestOf({ domain, types, primaryType: 'PermitSingle', message }, 'PermitSingle of the domain "Permit2"')
}

const requiredChainId = ({ chainId }: TypedDataRules, rules: EvmRules): bigint => (chainId === undefined ? rules.chainId : BigInt(chainId))

/** A contract that no connector declares may be a token, or worse. Contracts of another chain are unknown. */
function checkContract({ verifyingContract, chainId }: TypedData['domain'], kind: string, rules: EvmRules): void {
  if (verifyingContract === undefined || verifyingContract === ZeroAddress) return
  const isHere = chainId !== undefined && BigInt(chainId) === rules.chainId
  if (isHere && rules.contracts.has(verifyingContract.toLowerCase())) return
  throw new Refusal(`typed data ${kind} is for the contract ${verifyingContract}, which no connector declares on ${rules.name}`)
}

/**
 * Primary types with which a signature alone hands over tokens, rights to them, or control of the wallet. A contract accepts them only
 * under these names, so no other name can stand for them.
 */
const rightsTypes: readonly RegExp[] = [
  // ERC-2612, DAI and ERC-4494 (Permit); Permit2 (PermitSingle, PermitBatch, PermitTransferFrom, PermitWitnessTransferFrom, …)
  /permit/i,
  // ERC-3009: TransferWithAuthorization, ReceiveWithAuthorization, CancelAuthorization
  /authorization/i,
  // Any call in the wallet's name: tokens of Polygon (NativeMetaTransaction), ERC-2771 forwarders, Safe, ERC-4337
  /^(MetaTransaction|ForwardRequest\w*|SafeTx|SafeMessage|PackedUserOperation|UserOperation)$/i,
  // ERC-5805 (votes) and ERC-7710
  /^(Delegation|Delegate)$/i,
]

const grantsRights = (primaryType: string): boolean => rightsTypes.some((each) => each.test(primaryType))

import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
  MAX_COMPUTE_UNIT_LIMIT,
} from '@solana-program/compute-budget'
import { getAdvanceNonceAccountInstruction } from '@solana-program/system'
import {
  address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransactionMessage,
  createNoopSigner,
  createTransactionMessage,
  getBase58Decoder,
  getCompiledTransactionMessageEncoder,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  type Instruction,
} from '@solana/kit'
import {
  type Prepared,
  type Sealed,
  type Sent,
  type Signable,
  SluiceError,
  type Json,
  type At,
  type BroadcastResult,
} from '../../core/contracts/index.ts'
import { type RpcAnswer, type RpcCall } from '../nodes/dialect.ts'
import { quoteNode } from '../nodes/faults.ts'
import { invalidAnswer, resultOf, sendToAll, type Rpc } from '../nodes/rpc.ts'
import { withTables } from './lookup-tables.ts'
import { budgetOf, type ComputeBudget, type SolanaFees } from './fees.ts'
import { confirmed, jsonOfNode, numberOf, speaksOfTables, valueOf } from './rpc.ts'
import { isDurableNonce, type SolanaSequence } from './sequence.ts'
import { tipInstruction, type SolanaTip } from './tips.ts'
import { isUnfunded, failureReason } from './transactions.ts'
import { toKit, type SolanaIntent, nativeAddress } from './types.ts'
import { isObject } from '../../core/base/json.ts'

const signatureLength = 64

/** Drafts a message of version 0. A blockhash and the value of a durable nonce have the same place in it. */
export function draft({ step, fees }: Pick<Prepared<SolanaIntent, SolanaFees>, 'step' | 'fees'>, slot: SolanaSequence): Signable {
  const terms = { budget: budgetOf(fees, slot.number), tip: fees.tip }
  const { bytes, signers } = isDurableNonce(slot)
    ? messageOf(step, { ...terms, lifetime: slot.nonce, nonceAccount: slot.nonceAccount })
    : messageOf(step, { ...terms, lifetime: slot.blockhash })
  return { scheme: 'solana-message', bytes, ...(signers.length > 0 && { signers }) }
}

interface Message {
  readonly bytes: Uint8Array
  readonly signers: readonly string[]
}

/** With its lookup tables only where it is too long without them. */
function messageOf(step: SolanaIntent, frame: Frame): Message {
  return compile(step, usesTables(step, frame.tip) ? withTables(step) : step.instructions.map(toKit), frame)
}

/** Whether the step is signed with its tables: by its own length alone, so that it is the same message in every sequence. */
export function usesTables(step: SolanaIntent, tip?: SolanaTip): boolean {
  if (!step.tables?.length) return false
  const frame = { budget: { units: 0, price: 0n }, lifetime: nativeAddress, tip }
  return wireLength(compile(step, step.instructions.map(toKit), frame)) + durableBytes > maxBytes
}

interface Frame {
  readonly budget: ComputeBudget
  readonly lifetime: string
  /** Is advanced first: https://solana.com/docs/core/transactions/durable-nonces */
  readonly nonceAccount?: string
  readonly tip?: SolanaTip | undefined
}

function compile(
  { payer }: SolanaIntent,
  instructions: readonly Instruction[],
  { budget: { units, price }, lifetime, nonceAccount, tip }: Frame,
): Message {
  const wallet = address(payer)
  const advance =
    nonceAccount === undefined
      ? []
      : [getAdvanceNonceAccountInstruction({ nonceAccount: address(nonceAccount), nonceAuthority: createNoopSigner(wallet) })]
  const all = [
    ...advance,
    getSetComputeUnitLimitInstruction({ units }),
    getSetComputeUnitPriceInstruction({ microLamports: price }),
    ...instructions,
    ...(tip ? [tipInstruction(wallet, tip)] : []),
  ]
  // The height is not part of the message.
  const constraint = { blockhash: blockhash(lifetime), lastValidBlockHeight: 0n }
  const empty = setTransactionMessageFeePayer(wallet, createTransactionMessage({ version: 0 }))
  const message = appendTransactionMessageInstructions(all, setTransactionMessageLifetimeUsingBlockhash(constraint, empty))
  const compiled = compileTransactionMessage(message)
  return {
    bytes: Uint8Array.from(getCompiledTransactionMessageEncoder().encode(compiled)),
    signers: compiled.staticAccounts.slice(1, compiled.header.numSignerAccounts),
  }
}

/** @param signature 64 bytes. The first signature of a transaction is its id. */
export function seal({ bytes, signers = [] }: Signable, signature: Uint8Array, further: readonly Uint8Array[] = []): Sealed {
  const signatures = [signature, ...further]
  if (signatures.length !== signers.length + 1)
    throw new Error(`The transaction needs ${signers.length + 1} signatures, and there are ${signatures.length}.`)
  for (const { length } of signatures)
    if (length !== signatureLength) throw new Error(`A signature has ${signatureLength} bytes, and this one ${length}.`)
  return { id: getBase58Decoder().decode(signature), raw: withSignatures(bytes, signatures) }
}

/** https://solana.com/docs/core/transactions: how many signatures there are, each of them, the message. */
const withSignatures = (message: Uint8Array, signatures: readonly Uint8Array[]): Uint8Array =>
  Uint8Array.from([signatures.length, ...signatures.flatMap((each) => [...each]), ...message])

/** The wallet signs, and the new accounts that the step names. @throws SluiceError UNKNOWN_ERROR where an instruction has another signer */
function requireKnownSigners({ payer, instructions, signers = [] }: SolanaIntent): void {
  const own = instructions.flatMap(({ accounts }) =>
    accounts.flatMap((each) => (each.signer && each.address !== payer ? each.address : [])),
  )
  const strange = own.find((each) => !signers.includes(each))
  if (strange !== undefined)
    throw new SluiceError(
      'UNKNOWN_ERROR',
      `The plan has the signer ${strange}, which is neither the wallet nor among its signers: nothing was signed. This is a defect of the plugin.`,
    )
}

/** The size of a packet: agave `packet`, PACKET_DATA_SIZE. */
const maxBytes = 1_232
/** The instruction that advances a durable nonce, and its two accounts, come on top. */
const durableBytes = 110

const wireLength = ({ bytes, signers }: Message): number => 1 + (1 + signers.length) * signatureLength + bytes.length

/** Simulates the step with the maximum of units, without a signature, on any blockhash of the node. */
export function simulationCall(step: SolanaIntent, tip?: SolanaTip): RpcCall {
  requireKnownSigners(step)
  const { bytes, signers } = messageOf(step, { budget: { units: MAX_COMPUTE_UNIT_LIMIT, price: 0n }, lifetime: nativeAddress, tip })
  const wire = withSignatures(
    bytes,
    ['', ...signers].map(() => new Uint8Array(signatureLength)),
  )
  if (wire.length + durableBytes > maxBytes)
    throw wouldFail(
      `it has ${wire.length} bytes, and a transaction has at most ${maxBytes - durableBytes} without the instruction of a durable nonce`,
    )
  const options = { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true, ...confirmed }
  return { method: 'simulateTransaction', params: [Buffer.from(wire).toString('base64'), options] }
}

/** @returns the compute units that it used. @throws SluiceError with the reason where it would fail */
export function readSimulation(rpc: Rpc, answer: RpcAnswer | undefined): number {
  // The node's tables are those of a moment before or after, which is no fault of it.
  if (answer?.error && speaksOfTables(answer.error.message)) throw wouldFail(quoteNode(answer.error.message))
  const value = valueOf(resultOf(rpc, 'simulateTransaction', answer))
  if (!isObject(value)) throw invalidAnswer(rpc, 'did not answer simulateTransaction with a simulation')
  const err: Json = jsonOfNode(value['err'])
  if (err !== null) throw refusal(err, Array.isArray(value['logs']) ? value['logs'].filter((line) => typeof line === 'string') : [])
  const units = numberOf(value['unitsConsumed'])
  if (units === undefined) throw invalidAnswer(rpc, 'did not tell the compute units of a simulation')
  return units
}

function refusal(err: Json, logs: readonly string[]): SluiceError {
  const reason = failureReason(err, logs)
  if (!isUnfunded(err)) return wouldFail(reason)
  return new SluiceError('OUT_OF_GAS', `The wallet cannot pay for the transaction (${reason}), so it was not signed: fund it.`)
}

export function wouldFail(reason: string): SluiceError {
  return new SluiceError('TRADE_FAILED', `The transaction would fail, so it was not signed: ${reason}.`, { details: { reason } })
}

/** Bytes that no node takes, in agave's words: `rpc-client-api/src/custom_error.rs`. */
const saysInvalid = /\b(?:signature|precompile) verification failure\b/i
/** Bytes that cannot be read as a transaction. Gateways give the same code for limits, which is the node's trouble then. */
const invalidParams = -32602

/** Sends the same bytes to every node, or to every relay where they are to be private. One that accepts them is enough. Nodes do not keep what no leader takes. */
export function send(rpc: Rpc, { id, raw, privateOnly }: Sent, at: At): Promise<BroadcastResult> {
  const signed = { id, raw: Buffer.from(raw).toString('base64'), privateOnly }
  return sendToAll(rpc, signed, { isAccepted: (result) => result === id, error: receptionOf }, at)
}

function receptionOf({ code, message, fault }: NonNullable<RpcAnswer['error']>): BroadcastResult {
  const reason = quoteNode(message)
  // A node that is behind does not know the table yet, and another one does.
  if (speaksOfTables(message)) return { is: 'unclear', reason }
  // With any other error, the node may have passed them on.
  const isInvalid = saysInvalid.test(message) || (code === invalidParams && fault?.is === 'unsupported' && fault.lacks === undefined)
  return isInvalid ? { is: 'refused', reason, meaning: 'invalid' } : { is: 'unclear', reason }
}

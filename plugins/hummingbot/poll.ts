// What became of a transaction. A bot books an order by this answer: 1 fills it, -1 fails it for good, and its next order may be the same again.
import { fromRaw } from 'sluice/decimal'
import { interfacePath, SluiceError, Type, type InterfaceCall, type InterfacePath } from 'sluice/interface'
import { networkFields, type NamedNetwork, type Networks } from './networks.ts'
import { numberBelow } from './numbers.ts'

/** It succeeded, may still, never will, or nobody here knows it. */
type Outcome = 1 | 0 | -1 | -2

/** Trouble of a node or of this server says nothing of the transaction. */
const trouble: ReadonlySet<string> = new Set(['NETWORK', 'TIMEOUT', 'OVERLOADED', 'SERVICE_UNINITIALIZED', 'RATE_LIMIT', 'UNKNOWN_ERROR'])

/** After so many blocks a transaction of others that the chain reverted is not expected back. */
const deepBlocks = 64

export const pollPath = (networks: Networks): InterfacePath =>
  interfacePath({
    method: 'POST',
    path: '/chains/:chain/poll',
    summary: 'What became of a transaction: 1 it succeeded, 0 it may still, -1 it never will, -2 unknown.',
    permission: 'read',
    request: Type.Object({
      ...networkFields,
      chain: Type.String({ maxLength: 64 }),
      signature: Type.String({ minLength: 1, maxLength: 256 }),
    }),
    response: Type.Object({
      signature: Type.String(),
      txStatus: Type.Enum([1, 0, -1, -2]),
      fee: Type.Union([Type.Number(), Type.Null()]),
      error: Type.Union([Type.String(), Type.Null()]),
      currentBlock: Type.Optional(Type.Number()),
      txBlock: Type.Optional(Type.Number()),
    }),
    async answer({ signature, ...request }, call) {
      const on = networks.of(request)
      const found = await pollOrTrouble(signature, on, call)
      if (typeof found === 'number') return { signature, txStatus: found, fee: null, error: null }
      const { currentBlock, txBlock } = found
      const txStatus = outcomeOf(found)
      return {
        signature,
        txStatus,
        fee: numberOf(feeOf(found.txReceipt)),
        // Any text here fails an order, whatever the status is.
        error: txStatus === -1 ? (found.reason ?? 'The transaction can never succeed.') : null,
        ...(currentBlock >= 0 && { currentBlock }),
        ...(txBlock >= 0 && { txBlock }),
      }
    },
  })

const pollOf = (txHash: string, { own }: NamedNetwork, { call }: InterfaceCall, signal?: AbortSignal) =>
  call('NetworkPoll', { ...own, txHash }, signal && { signal })
export type PollAnswer = Awaited<ReturnType<typeof pollOf>>

/** @param signal ends it before the request's time is over */
export async function pollOrTrouble(
  signature: string,
  on: NamedNetwork,
  call: InterfaceCall,
  signal?: AbortSignal,
): Promise<PollAnswer | Outcome> {
  try {
    return await pollOf(signature, on, call, signal)
  } catch (thrown) {
    if (!(thrown instanceof SluiceError)) throw thrown
    if (trouble.has(thrown.name)) return 0
    // One answer without a status stops the round of all orders: what is no hash is nobody's transaction.
    if (thrown.name === 'INCOMPLETE_PARAMS') return -2
    throw thrown
  }
}

/** -1 only for what never comes back, and -2 never for what the journal knows. */
export function outcomeOf({ txState, final, txStatus, txBlock, txReceipt, confirmations }: PollAnswer): Outcome {
  if (txState === 'CONFIRMED') return 1
  // One that the chain reverted is MINED, too, until that is final.
  if (txState === 'MINED') return statusOf(txReceipt) === 1n ? 1 : 0
  if (txState !== undefined) return final === true ? -1 : 0
  if (txBlock < 0) return txStatus === -1 ? -2 : 0
  const status = statusOf(txReceipt)
  if (status === 1n) return 1
  return status === 0n && confirmations >= deepBlocks ? -1 : 0
}

const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined

/** 1 of what succeeded, 0 of what the chain reverted, undefined without a receipt. */
const statusOf = (receipt: unknown): bigint | undefined => wholeNumber(fieldOf(receipt, 'status'))

const numberOf = (amount: string | undefined): number | null => (amount === undefined ? null : numberBelow(amount))

/** In the native coin; undefined where the receipt does not tell all of it. */
export function feeOf(receipt: unknown): string | undefined {
  const part = (name: string) => {
    const value = fieldOf(receipt, name)
    return value === undefined || value === null ? 0n : wholeNumber(value)
  }
  // Solana's receipt has it whole, in lamports.
  const lamports = part('fee')
  if (fieldOf(receipt, 'gasUsed') === undefined) return lamports ? fromRaw(lamports, 9) : undefined
  const [gasUsed, price, layer1] = [part('gasUsed'), part('effectiveGasPrice'), part('l1Fee')]
  const [scalar, constant] = [part('operatorFeeScalar'), part('operatorFeeConstant')]
  // A receipt of a node that does not say the price has 0.
  if (!gasUsed || !price || layer1 === undefined || scalar === undefined || constant === undefined) return undefined
  // A rollup's operator charges by a million gas: https://specs.optimism.io/protocol/isthmus/exec-engine.html#operator-fee
  return fromRaw(gasUsed * price + layer1 + (gasUsed * scalar) / 1_000_000n + constant, 18)
}

function wholeNumber(value: unknown): bigint | undefined {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  return /^(0x[0-9a-f]{1,64}|\d{1,78})$/i.test(text) ? BigInt(text) : undefined
}

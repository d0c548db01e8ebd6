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
        fee: feeOf(found.txReceipt),
        // Any text here fails an order, whatever the status is.
        error: txStatus === -1 ? (found.reason ?? 'The transaction can never succeed.') : null,
        ...(currentBlock >= 0 && { currentBlock }),
        ...(txBlock >= 0 && { txBlock }),
      }
    },
  })

const pollOf = (txHash: string, { own }: NamedNetwork, { call }: InterfaceCall) => call('NetworkPoll', { ...own, txHash })
type PollAnswer = Awaited<ReturnType<typeof pollOf>>

async function pollOrTrouble(signature: string, on: NamedNetwork, call: InterfaceCall): Promise<PollAnswer | Outcome> {
  try {
    return await pollOf(signature, on, call)
  } catch (thrown) {
    if (!(thrown instanceof SluiceError)) throw thrown
    if (trouble.has(thrown.name)) return 0
    // One answer without a status stops the round of all orders: what is no hash is nobody's transaction.
    if (thrown.name === 'INCOMPLETE_PARAMS') return -2
    throw thrown
  }
}

/** -1 only for what never comes back, and -2 never for what the journal knows. */
function outcomeOf({ txState, final, txStatus, txBlock, txReceipt, confirmations }: PollAnswer): Outcome {
  if (txState !== undefined) {
    if (txState === 'MINED' || txState === 'CONFIRMED') return 1
    return final === true ? -1 : 0
  }
  if (txBlock < 0) return txStatus === -1 ? -2 : 0
  if (!isReverted(txReceipt)) return 1
  return confirmations >= deepBlocks ? -1 : 0
}

const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined

function isReverted(receipt: unknown): boolean {
  const status = fieldOf(receipt, 'status')
  const failure = fieldOf(fieldOf(receipt, 'meta'), 'err')
  return status === 0 || status === '0x0' || (failure !== undefined && failure !== null)
}

/** In the native coin; null where the receipt does not tell. */
function feeOf(receipt: unknown): number | null {
  const [used, price] = [fieldOf(receipt, 'gasUsed'), fieldOf(receipt, 'effectiveGasPrice')]
  const isWhole = (value: unknown): value is string | number => /^(0x[0-9a-f]+|\d+)$/.test(String(value))
  if (!isWhole(used) || !isWhole(price)) return null
  return numberBelow(fromRaw(BigInt(used) * BigInt(price), 18))
}

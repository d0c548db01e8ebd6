// The receipts of attempts that are in a block.
import { isDeepStrictEqual } from 'node:util'
import type { At, AttemptStatus, Json, OpenAttempt } from '../../core/contracts/index.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { createBoundedCache } from '../nodes/rails.ts'
import type { Rpc, Witnesses } from '../nodes/rpc.ts'
import { surelyOverMs } from './expiry.ts'
import { finalDepth } from './network.ts'
import { createRounds } from './rounds.ts'
import type { TipAccounts } from './tips.ts'
import { readTransaction, receiptOfStatus, transactionOptions, failureReason } from './transactions.ts'
import type { SolanaReceipt } from './types.ts'

interface LandedAttempt {
  id: string
  slot: number
  depth: number
  /** By its status. */
  err: Json
  /** How long ago it was signed. */
  agoMs: number
  /** As the journal has it. */
  before: OpenAttempt['landed']
}

/** In one poll. The others follow in the next ones. */
const maxReceipts = 64
/** After so many attempts that every node answered, a finalized transaction is reported without its receipt. */
const maxTries = 10

/**
 * Reports landed transactions with their receipts, each of which is read once. If no node has the receipt yet, a later poll reports the
 * transaction: one that is reported as final is not polled again, and its receipt says what it gave and cost.
 */
export function createReceipts(rpc: Rpc, tipAccounts: TipAccounts) {
  const known = createBoundedCache<SolanaReceipt>()
  const failedTries = createBoundedCache<number>()
  const keyOf = ({ id, slot }: Pick<LandedAttempt, 'id' | 'slot'>) => `${id}/${slot}`
  const triesOf = (each: LandedAttempt) => failedTries.get(keyOf(each)) ?? 0
  const isUnknown = (each: LandedAttempt) => !known.get(keyOf(each))
  const rounds = createRounds<LandedAttempt, readonly RpcAnswer[]>({ rpc, keyOf, talk: (late, ask) => ask(callsFor(late)), take })

  return async function withReceipts(found: readonly LandedAttempt[], at: At): Promise<readonly AttemptStatus[]> {
    for (const each of found) recall(each)
    const unknown = found
      .filter((each) => isUnknown(each) && triesOf(each) < maxTries)
      .toSorted((a, b) => triesOf(a) - triesOf(b))
      .slice(0, maxReceipts)
    remember(unknown, await rpc.batch(callsFor(unknown), at))
    // The node in use may keep no history, so every node is asked.
    const late = unknown.filter((each) => each.depth >= finalDepth && isUnknown(each))
    await rounds.start(late)
    return found.map((each) =>
      landedStatus(each, known.get(keyOf(each)) ?? (triesOf(each) < maxTries ? undefined : receiptOfStatus(each.id, each.slot, each.err))),
    )
  }

  /** One that does not answer may be the only one that has it. */
  function take(late: readonly LandedAttempt[], { told, silent }: Witnesses<readonly RpcAnswer[]>): void {
    for (const answers of told) remember(late, answers)
    for (const each of late)
      if (told.length > 0 && (silent === 0 || each.agoMs > surelyOverMs)) failedTries.set(keyOf(each), triesOf(each) + 1)
  }

  /** A node that had it before may be away now. */
  function recall(each: LandedAttempt): void {
    const receipt = each.before?.blockNumber === each.slot ? (each.before.receipt as SolanaReceipt | null) : null
    if (receipt && receipt.fee !== null && isUnknown(each)) keep(each, receipt)
  }

  function remember(asked: readonly LandedAttempt[], answers: readonly RpcAnswer[]): void {
    for (const [index, each] of asked.entries()) {
      const { receipt } = readTransaction(each.id, answers[index]?.result, tipAccounts.of(each.id)) ?? {}
      if (receipt) keep(each, receipt)
    }
  }

  /** One of another slot belongs to a block before or after a reorganisation; one that ended otherwise than its status says is a mistake. */
  function keep(each: LandedAttempt, receipt: SolanaReceipt): void {
    if (receipt.slot === each.slot && isDeepStrictEqual(receipt.err, each.err)) known.set(keyOf(each), receipt)
  }
}

const callsFor = (found: readonly LandedAttempt[]) =>
  found.map(({ id }) => ({ method: 'getTransaction', params: [id, transactionOptions] }))

function landedStatus({ id, slot, depth }: LandedAttempt, receipt: SolanaReceipt | undefined): AttemptStatus {
  if (!receipt) return { id, is: 'pending', underpriced: false }
  const ok = receipt.status === 1
  return { id, is: 'landed', ok, blockNumber: slot, depth, receipt, ...(!ok && { reason: failureReason(receipt.err, receipt.logs) }) }
}

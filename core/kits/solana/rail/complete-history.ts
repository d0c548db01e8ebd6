import { isObject } from '../../nodes/is-object.ts'
import type { Ask, RpcCall } from '../../nodes/types.ts'
import { finalized } from '../rpc/commitment.ts'
import { numberOf } from '../rpc/json.ts'
import { isDurable } from '../../../../kits/solana/sequence.ts'
import type { SolanaSlot } from '../../../../kits/solana/sequence.ts'
import { blockhashBlocks } from './sync.ts'

/** The last few minutes of statuses are in the snapshot that a node starts from: agave `runtime/src/status_cache.rs`, MAX_CACHE_ENTRIES, 300 blocks. */
const surelyInSnapshot = 250
/** One more than a blockhash serves for, and the one that it is of. */
const blocksOfBlockhash = blockhashBlocks + 2
/** https://solana.com/docs/rpc/http/getblockswithlimit: as far as one question reaches, some two days. */
const mostBlocks = 500_000

/** Whether a node has all statuses since that was signed by what it started from. */
export function isInSnapshot(slot: SolanaSlot, final: { slot: number; height: number }): boolean {
  const blocks = isDurable(slot) ? final.slot - slot.since : final.height - (slot.lastValidBlockHeight - blockhashBlocks)
  return blocks <= surelyInSnapshot
}

/**
 * Of each, whether a node has every block that it may be in. One that was away and came back upon a newer snapshot has older blocks and
 * newer ones and none in between, which it does not say: heights tell how many there are. Two questions.
 */
export async function hasEveryBlock(ask: Ask, slots: readonly SolanaSlot[]): Promise<readonly boolean[]> {
  const lists = await ask(
    slots.map((slot) => ({
      method: 'getBlocksWithLimit',
      params: [slot.since, isDurable(slot) ? mostBlocks : blocksOfBlockhash, finalized],
    })),
  )
  const listed = lists.map(({ result }) => (Array.isArray(result) ? result.map(numberOf) : []))
  const ends = listed.map((list) => [list[0] ?? 0, list.at(-1) ?? 0])
  const heights = (await ask(ends.flat().map(blockCall))).map(({ result }) =>
    isObject(result) ? numberOf(result['blockHeight']) : undefined,
  )
  return slots.map((slot, index) => {
    const [low, high] = heights.slice(index * 2)
    const count = listed[index]?.length ?? 0
    if (low === undefined || high === undefined || count === 0 || high - low !== count - 1) return false
    if (isDurable(slot)) return ends[index]?.[0] === slot.since
    return low <= slot.lastValidBlockHeight - blockhashBlocks + 1 && high > slot.lastValidBlockHeight
  })
}

const blockCall = (slot: number): RpcCall => ({
  method: 'getBlock',
  params: [slot, { transactionDetails: 'none', rewards: false, maxSupportedTransactionVersion: 0, ...finalized }],
})

// The newest blocks that nodes gave for whatever reason, linked by their hashes, and which of our transactions are in them.
import { toQuantity } from 'ethers/utils'
import { abortable } from '../../core/base/async.ts'
import type { At, Head } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import type { ReadRpc } from '../nodes/rpc.ts'
import { blockCall, readBlock, type Block } from './rpc.ts'
import { dropOldest } from '../../core/base/oldest.ts'

/** A block, and those of the transactions that are watched for that it contains. */
export interface RecentBlock extends Pick<Block, 'number' | 'hash' | 'parentHash' | 'nextBaseFeeRaw'> {
  readonly ids: ReadonlySet<string>
}

/** A head and the blocks below it, each the parent of the next. */
export interface Branch {
  readonly head: RecentBlock
  /** The number of the lowest block that is known. */
  readonly lowest: bigint
  /** The block with this hash, if it is one of them. */
  withHash(hash: string): RecentBlock | undefined
  withNumber(number: bigint): RecentBlock | undefined
  /** The block that contains this transaction. It has been watched for since before the block was recorded. */
  containing(id: string): RecentBlock | undefined
}

export interface RecentBlocks {
  /** A node's newest block, also as the node gave it. */
  recordHead(block: Block, raw: unknown): void
  /** Asks for blocks by their numbers, and records them. What is being asked for already is not asked for again. */
  read(numbers: readonly bigint[], at: At): Promise<readonly RpcAnswer[]>
  /** The number of the head that a node gave last. */
  readonly newest: bigint | undefined
  /** Notices the transaction in blocks that are recorded from now on. */
  watch(id: string): void
  unwatch(id: string): void
  /**
   * The branch of a head. Reads the blocks that are missing down to `low`, but not more than a few in one call. Undefined if the head's own
   * transactions are unknown.
   */
  branchOf(head: Head, low: bigint, at: At): Promise<Branch | undefined>
}

/** How many blocks one call reads: after a restart the rest is read with the next heads. */
const maxReads = 64
/** How many more blocks are kept than a transaction needs to be final. */
const spareBlocks = 64

/** @param confirmations how many blocks, the transaction's own included, make it final */
export function createRecentBlocks(rpc: ReadRpc, confirmations: number): RecentBlocks {
  const maxLength = confirmations + spareBlocks
  const watched = new Set<string>()
  /** By hash. Forks have more blocks than one branch. */
  const blocks = new Map<string, RecentBlock>()
  const reading = new Map<bigint, Promise<RpcAnswer>>()
  let newest: bigint | undefined
  let lastHead = 0n

  function keep({ number, hash, parentHash, nextBaseFeeRaw }: Block, raw: unknown): void {
    const key = hash.toLowerCase()
    if (blocks.has(key)) return
    const ids = transactionIds(raw)
    // A block that does not list its transactions says nothing about any.
    if (!ids) return
    blocks.set(key, { number, hash, parentHash, nextBaseFeeRaw, ids: new Set(ids.filter((id) => watched.has(id))) })
    dropOldest(blocks, 2 * maxLength)
  }

  async function read(numbers: readonly bigint[], { signal }: At): Promise<readonly RpcAnswer[]> {
    signal.throwIfAborted()
    const missing = numbers.filter((number) => !reading.has(number))
    // Not the signal of one caller, since others may wait for the same blocks: the nodes' timeout bounds it.
    const batch = rpc.batch(
      missing.map((number) => blockCall(toQuantity(number))),
      { signal: new AbortController().signal },
    )
    for (const [index, number] of missing.entries())
      reading.set(
        number,
        batch.then((answers) => answers[index] ?? {}).finally(() => reading.delete(number)),
      )
    const answers = await abortable(Promise.all(numbers.flatMap((number) => reading.get(number) ?? [])), signal)
    // A node that is behind does not have them all.
    for (const { result } of answers) if (isObject(result)) keep(readBlock(rpc, result), result)
    return answers
  }

  function walk(hash: string): Branch | undefined {
    const head = blocks.get(hash.toLowerCase())
    if (!head) return undefined
    const path = [head]
    for (let child = head; child.parentHash !== undefined && path.length < maxLength;) {
      const parent = blocks.get(child.parentHash.toLowerCase())
      if (!parent || parent.number !== child.number - 1n) break
      path.push(parent)
      child = parent
    }
    const byHash = new Map(path.map((block) => [block.hash.toLowerCase(), block]))
    const byId = new Map(path.flatMap((block) => [...block.ids].map((id) => [id, block] as const)))
    return {
      head,
      lowest: head.number - BigInt(path.length - 1),
      withHash: (wanted) => byHash.get(wanted.toLowerCase()),
      withNumber: (number) => path[Number(head.number - number)],
      containing: (id) => byId.get(id.toLowerCase()),
    }
  }

  return {
    recordHead(block, raw) {
      newest = block.number
      keep(block, raw)
    },
    read,
    get newest() {
      return newest
    },
    watch: (id) => void watched.add(id.toLowerCase()),
    unwatch: (id) => void watched.delete(id.toLowerCase()),
    async branchOf({ number, hash }, wanted, at) {
      if (hash === undefined) return undefined
      const lowest = number - BigInt(maxLength - 1)
      const low = wanted > lowest ? wanted : lowest
      if (!blocks.has(hash.toLowerCase())) await read([number], at)
      let branch = walk(hash)
      const before = lastHead
      lastHead = number
      let left = maxReads
      // The blocks since the head before; on another fork first a few, because most forks are short.
      for (let size = 1; branch && branch.lowest > low && left > 0; size *= 4) {
        const last = branch.lowest - 1n
        const missing = last > before ? last - before : BigInt(size)
        const count = [missing, last - low + 1n, BigInt(left)].reduce((a, b) => (a < b ? a : b))
        await read(
          Array.from({ length: Number(count) }, (_, index) => last - BigInt(index)),
          at,
        )
        left -= Number(count)
        const longer = walk(hash)
        // The node is on another fork, or behind.
        if (longer?.lowest === branch.lowest) break
        branch = longer
      }
      return branch
    },
  }
}

/** In lower case; undefined if the block does not list them. Some nodes give whole transactions in place of their hashes. */
function transactionIds(raw: unknown): readonly string[] | undefined {
  const list = isObject(raw) ? raw['transactions'] : undefined
  if (!Array.isArray(list)) return undefined
  const ids = list.flatMap((each: unknown) => {
    const id = isObject(each) ? each['hash'] : each
    return typeof id === 'string' ? [id.toLowerCase()] : []
  })
  return ids.length === list.length ? ids : undefined
}

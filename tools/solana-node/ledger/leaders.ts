import { createHash } from 'node:crypto'
import type { Address, EncodedAccount } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import { accountOf, type Block, type LandedTransaction } from './block.ts'
import { lifetimeOf, type Lifetime } from './durable-nonce.ts'
import { execute } from './execute.ts'
import { loadTables } from './lookup-tables.ts'
import { writableAccounts, type Wire } from './read-wire.ts'

/** What was sent and is in no block yet. */
export interface PendingTransaction {
  wire: Wire
  /** How often the node sends it again by itself when a leader did not take it. */
  retries: number
  /** Blocks in which it could have been and was not. */
  missed: number
}

/** What a leader does with a transaction that it could take: nobody is told of those it drops. */
export type Leader = (waiting: PendingTransaction) => 'takes' | 'drops' | 'holds'

export const takesAll: Leader = () => 'takes'
export const dropsAll: Leader = () => 'drops'
export const holdsAll: Leader = () => 'holds'
/** Takes each some blocks after it could. */
export const takesAfter =
  (blocks: number): Leader =>
  ({ missed }) =>
    missed < blocks ? 'holds' : 'takes'

interface Chain {
  svm: LiteSVM
  leader: Leader
  /** Of the block before. */
  blockhash: string
  isRecent(blockhash: string): boolean
  isLanded(wire: Wire): boolean
  /** Of the newest blocks, oldest first. */
  slots(): readonly bigint[]
}

/** What a leader makes of those that wait, one after the other in the order in which they came. */
export function fillBlock(
  chain: Chain,
  queue: readonly PendingTransaction[],
): Pick<Block, 'landed' | 'before'> & { waiting: PendingTransaction[] } {
  const landed: LandedTransaction[] = []
  const waiting: PendingTransaction[] = []
  const before = new Map<Address, EncodedAccount | undefined>()
  for (const each of queue) {
    if (chain.isLanded(each.wire)) continue
    const lifetime = lifetimeOf(chain.svm, each.wire.message, chain.isRecent(each.wire.message.lifetimeToken), chain.blockhash)
    if (!lifetime) continue
    const verdict = chain.leader(each)
    if (verdict === 'takes' && isTaken(each.wire, lifetime)) continue
    const retries = verdict === 'holds' ? each.retries : each.retries - 1
    if (retries >= 0) waiting.push({ ...each, retries, missed: each.missed + 1 })
  }
  return { landed, before, waiting }

  function isTaken(wire: Wire, lifetime: Lifetime): boolean {
    const loaded = loadTables(chain.svm, wire.message, chain.slots)
    if (typeof loaded === 'string') return false
    for (const address of writableAccounts(wire.message, loaded))
      if (!before.has(address)) before.set(address, accountOf(chain.svm, address))
    const execution = execute(chain.svm, wire, loaded, lifetime, chain.blockhash)
    if (execution.is === 'landed') landed.push(execution.landed)
    return execution.is === 'landed'
  }
}

/** Which slots pass without a block: the same ones for the same seed. `share`: how many of them, 0 to 1. */
export function skipsBySeed(seed: string, share: number): (slot: bigint) => boolean {
  // A leader has four slots in a row, and one who is away misses them all; others come late for one.
  return (slot) => chance(seed, `leader ${slot / 4n}`) < share / 2 || chance(seed, `slot ${slot}`) < share / 2
}

function chance(seed: string, what: string): number {
  return createHash('sha256').update(`${seed} ${what}`).digest().readUInt32BE() / 2 ** 32
}

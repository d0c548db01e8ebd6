import type { Address, EncodedAccount } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import type { Block, LandedTransaction } from './block.ts'
import { lifetimeOf, type Lifetime } from './durable-nonce.ts'
import { execute } from './execute.ts'
import type { Leader, PendingTransaction } from './leaders.ts'
import { accountOf } from './past-accounts.ts'
import { writableAccounts, type Wire } from './read-wire.ts'

export interface Chain {
  svm: LiteSVM
  leader: Leader
  /** Of the block before. */
  blockhash: string
  isRecent(blockhash: string): boolean
  isLanded(wire: Wire): boolean
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
    for (const address of writableAccounts(wire.message)) if (!before.has(address)) before.set(address, accountOf(chain.svm, address))
    const execution = execute(chain.svm, wire, lifetime, chain.blockhash)
    if (execution.is === 'landed') landed.push(execution.landed)
    return execution.is === 'landed'
  }
}

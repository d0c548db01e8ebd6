// Whether the nodes agree that a transaction is final, and how it ended. One node alone may be on a fork, broken or a liar: were its word enough, a bot
// would trade again while the first transaction lands.
import { isDeepStrictEqual } from 'node:util'
import type { Json, Log } from '../../core/contracts/index.ts'
import { createBoundedCache } from '../nodes/rails.ts'
import type { Ask, Rpc, Witnesses } from '../nodes/rpc.ts'
import { blockCall, snapshotBlocks, statusCalls, surelyOverMs } from './expiry.ts'
import { createRounds } from './rounds.ts'
import { contextSlotOf, finalized, saysNoHistory, valueOf } from './rpc.ts'
import { readFinal } from './sequence.ts'
import { readSignatureStatus } from './transactions.ts'
import { isObject } from '../../core/base/json.ts'

/** A transaction that is final by the node in use. */
export interface Outcome {
  readonly id: string
  readonly slot: number
  readonly err: Json
  readonly agoMs: number
}

/**
 * What a node says of it: the same, or something else; `waits`: it has not finalized that slot yet; `unable`: it keeps no history of then.
 */
type Word = 'same' | 'other' | 'waits' | 'unable'

/** So often a node that does not answer is waited for: one that is away holds nothing up for longer. */
const maxTries = 10
/** So long a node is waited for that has not come to the slot: one that has stalled, and does not know it, holds nothing up for longer. */
const maxLagMs = 60_000
/** In one poll. The others follow in the next ones. */
const maxAsked = 64

/** How far the nodes have come with an outcome. */
interface Progress {
  /** How long ago it was signed when they were asked first. */
  readonly sinceMs: number
  readonly tries: number
  /** How often one of them said something else. */
  readonly others: number
  readonly isAgreed: boolean
}

/** @returns what tells of outcomes whether they are final: of each all nodes are asked, until they agree, and then no more. */
export function createAgreement({ rpc, network, log }: { rpc: Rpc; network: string; log: Log }) {
  const known = createBoundedCache<Progress>()
  const rounds = createRounds<Outcome, readonly Word[]>({ rpc, keyOf, talk: wordsOf, take })
  const triesOf = (outcome: Outcome) => known.get(keyOf(outcome))?.tries ?? 0
  const isAgreed = (outcome: Outcome) => known.get(keyOf(outcome))?.isAgreed === true

  return async function areFinal(outcomes: readonly Outcome[]): Promise<ReadonlySet<string>> {
    // Whoever said so is the only one.
    if (rpc.nodes().filter(({ reads }) => reads).length <= 1) return new Set(outcomes.map(({ id }) => id))
    const open = outcomes.filter((each) => !isAgreed(each) && !rounds.isOpen(each))
    await rounds.start(open.toSorted((a, b) => triesOf(a) - triesOf(b)).slice(0, maxAsked))
    return new Set(outcomes.flatMap((each) => (isAgreed(each) ? each.id : [])))
  }

  function take(asked: readonly Outcome[], { told, silent }: Witnesses<readonly Word[]>): void {
    for (const [index, outcome] of asked.entries()) {
      const words = told.flatMap((of) => of[index] ?? [])
      const { sinceMs = outcome.agoMs, tries: triesBefore = 0, others: othersBefore = 0 } = known.get(keyOf(outcome)) ?? {}
      const [tries, waitedMs] = [triesBefore + 1, outcome.agoMs - sinceMs]
      const isOther = words.includes('other')
      const others = othersBefore + (isOther ? 1 : 0)
      known.set(keyOf(outcome), { sinceMs, tries, others, isAgreed: !isOther && isEnough(words, silent, tries, waitedMs) })
      // Said once, it may be of a moment.
      if (isOther && others === 2) warn(outcome)
    }
  }

  function isEnough(words: readonly Word[], silent: number, tries: number, waitedMs: number): boolean {
    if (words.includes('waits') && waitedMs <= (words.includes('same') ? maxLagMs : surelyOverMs)) return false
    return (silent === 0 && words.length > 0) || tries >= maxTries
  }

  function warn({ id }: Outcome): void {
    log.warn(
      { network, txHash: id },
      'nodes differ about whether a transaction is final and how it ended, so it stays open until they agree: compare them, and take the wrong one out of rpcUrls',
    )
  }
}

const keyOf = ({ id, slot, err }: Outcome) => `${id}/${slot}/${JSON.stringify(err)}`

/** Of one node, in one batch; more where it keeps no history, or has forgotten the statuses of then. */
async function wordsOf(outcomes: readonly Outcome[], ask: Ask): Promise<readonly Word[]> {
  const ids = outcomes.map(({ id }) => id)
  const [, epoch, found] = await ask([
    { method: 'getHealth', params: [] },
    { method: 'getEpochInfo', params: [finalized] },
    ...statusCalls(ids),
  ])
  const isShort = saysNoHistory('getSignatureStatuses', found)
  const [recent] = isShort ? await ask(statusCalls(ids, false)) : []
  const final = readFinal(epoch?.result)
  const result = (isShort ? recent : found)?.result
  const [searched, statuses] = [contextSlotOf(result), valueOf(result)]
  if (!final || searched === undefined || !Array.isArray(statuses)) return outcomes.map(() => 'unable')
  const words = outcomes.map((outcome, index): Word | 'asks' => {
    const status = readSignatureStatus(statuses[index])
    if (status?.is === 'finalized') return status.slot === outcome.slot && isDeepStrictEqual(status.err, outcome.err) ? 'same' : 'other'
    // Answers behind one URL may be of several nodes, and this one of one that is behind.
    if (final.slot < outcome.slot || searched < outcome.slot) return 'waits'
    // It has the same block, and was not asked for both at once.
    if (status) return status.slot === outcome.slot ? 'waits' : 'other'
    if (statuses[index] !== null) return 'unable'
    if (final.slot - outcome.slot <= snapshotBlocks) return 'other'
    return isShort ? 'unable' : 'asks'
  })
  return withOldBlocks(outcomes, words, ask)
}

/** A node that was away when a block came does not find what is in it, and does not say so. One that has the block would. */
async function withOldBlocks(outcomes: readonly Outcome[], words: readonly (Word | 'asks')[], ask: Ask): Promise<readonly Word[]> {
  const asking = outcomes.filter((_, index) => words[index] === 'asks')
  if (asking.length === 0) return words.map((word) => (word === 'asks' ? 'unable' : word))
  const blocks = await ask(asking.map(({ slot }) => blockCall(slot)))
  const hasBlock = new Map(asking.map(({ id }, index) => [id, isObject(blocks[index]?.result)]))
  return outcomes.map(({ id }, index) => {
    const word = words[index] ?? 'unable'
    return word === 'asks' ? (hasBlock.get(id) ? 'other' : 'unable') : word
  })
}

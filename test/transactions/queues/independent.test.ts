import { expect } from 'chai'
import { createAssociatedAddresses } from '../../../kits/solana/tokens.ts'
import { solanaRail } from '../../../kits/solana/rail.ts'
import { createTipAccounts } from '../../../kits/solana/tips.ts'
import type { SolanaSequence, SolanaSyncState } from '../../../kits/solana/sequence.ts'
import { createNonceQueue, type ClaimedNonces, type NonceQueue } from '../../../core/transactions/nonce-queue.ts'
import { native, never } from '../never.ts'
import { silent } from '../site.ts'

const rail = solanaRail({
  rpc: never,
  network: 'n',
  nativeCurrency: native,
  associated: createAssociatedAddresses(),
  durableNonces: {},
  policy: { percentile: 75, minPrice: 1 },
  feeCapRaw: 10n,
  minSlotMs: 0,
  log: silent,
  token: async () => undefined,
  tipAccounts: createTipAccounts(),
  nextTip: () => undefined,
  refused() {},
})
const fees = { computeUnits: 1_000, price: '1' }
const at = (nowMs: number, more: Partial<SolanaSyncState> = {}): SolanaSyncState => ({
  nowMs,
  slot: nowMs,
  blockhash: `at ${nowMs}`,
  lastValidBlockHeight: nowMs + 150,
  durable: [{ account: 'a', nonce: 'v', slot: 100 }],
  ...more,
})

function laneAt(synced: SolanaSyncState): NonceQueue {
  const queue = createNonceQueue({ rail, address: 'w', limit: 8, name: 'w' })
  queue.startSync()(synced)
  return queue
}

const claim = (queue: NonceQueue, nonce?: number) =>
  queue.claim({
    requestId: 'r',
    count: 1,
    chosenByCaller: nonce !== undefined,
    fees: [fees],
    costsRaw: [5n],
    mayReplace: false,
    ...(nonce !== undefined && { nonce }),
  })
const taken = (queue: NonceQueue, nonce?: number): SolanaSequence => {
  const claimed: ClaimedNonces | { conflict: { is: string } } = claim(queue, nonce)
  if ('conflict' in claimed) throw new Error(claimed.conflict.is)
  return claimed.sequences[0] as SolanaSequence
}
const occupy = (queue: NonceQueue, sequence: SolanaSequence) =>
  queue.setPending(sequence, { key: String(sequence.number), txHash: `tx ${sequence.number}`, kind: 'trade', rank: 0, fees, costRaw: 5n })
const refused = (queue: NonceQueue, nonce: number) => {
  const claimed = claim(queue, nonce)
  return 'conflict' in claimed ? claimed.conflict.is : undefined
}

describe('a nonce queue with independent nonces', () => {
  it('assigns each transaction its own number, whatever happens to the others', () => {
    const queue = laneAt(at(100))
    const first = [taken(queue), taken(queue), taken(queue)]
    expect(first.map(({ number }) => number)).to.deep.equal([100, 101, 102])
    for (const sequence of first) occupy(queue, sequence)
    // The last is final before the others: nothing follows from it for them.
    queue.markFinal(first[2] ?? 0)
    expect(queue.statusOf({ sequence: first[0] ?? 0 })).to.equal('free')
    expect(queue.pendingOn(100)?.txHash).to.equal('tx 100')
    expect(taken(queue).number).to.equal(102)
    queue.startSync()(at(500))
    expect(taken(queue).number).to.equal(500)
  })

  it('has no gaps: a released number delays nobody', () => {
    const queue = laneAt(at(100))
    const [first, second] = [taken(queue), taken(queue)]
    occupy(queue, second)
    expect(queue.release([first])).to.deep.equal([])
    expect([queue.gaps(at(101)), queue.gaps(at(102))]).to.deep.equal([[], []])
  })

  it('assigns a durable nonce to one transaction at a time, and its next value once that is final', () => {
    const queue = laneAt(at(100))
    const sequence = taken(queue, 0)
    expect(sequence).to.include({ number: 0, nonceAccount: 'a', nonce: 'v' })
    expect(refused(queue, 0)).to.equal('claimed')
    occupy(queue, sequence)
    expect(refused(queue, 0)).to.equal('not-replaceable')
    queue.startSync()(at(200, { durable: [{ account: 'a', nonce: 'w', slot: 200 }] }))
    expect(refused(queue, 0)).to.equal('not-replaceable')
    queue.markFinal(sequence)
    expect(taken(queue, 0)).to.include({ nonce: 'w' })
  })

  it('counts what pending transactions may cost, without those in a block', () => {
    const queue = laneAt(at(100))
    const sequences = [taken(queue), taken(queue)]
    for (const sequence of sequences) occupy(queue, sequence)
    expect(queue.committedRaw(at(100), [])).to.equal(10n)
    queue.startSync()(at(101, { landed: [100] }))
    // A check that did not look at blocks does not know it, and the queue does.
    expect(queue.committedRaw(at(102), [])).to.equal(5n)
  })
})

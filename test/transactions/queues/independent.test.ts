import { expect } from 'chai'
import { createAssociatedAddresses } from '../../../kits/solana/tokens.ts'
import { solanaRail } from '../../../kits/solana/rail.ts'
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
  const lane = createNonceQueue({ rail, address: 'w', limit: 8, name: 'w' })
  lane.startSync()(synced)
  return lane
}

const claim = (lane: NonceQueue, nonce?: number) =>
  lane.claim({
    requestId: 'r',
    count: 1,
    chosenByCaller: nonce !== undefined,
    fees: [fees],
    costsRaw: [5n],
    mayReplace: false,
    ...(nonce !== undefined && { nonce }),
  })
const taken = (lane: NonceQueue, nonce?: number): SolanaSequence => {
  const claimed: ClaimedNonces | { conflict: { is: string } } = claim(lane, nonce)
  if ('conflict' in claimed) throw new Error(claimed.conflict.is)
  return claimed.sequences[0] as SolanaSequence
}
const occupy = (lane: NonceQueue, slot: SolanaSequence) =>
  lane.setPending(slot, { key: String(slot.number), txHash: `tx ${slot.number}`, kind: 'trade', rank: 0, fees, costRaw: 5n })
const refused = (lane: NonceQueue, nonce: number) => {
  const claimed = claim(lane, nonce)
  return 'conflict' in claimed ? claimed.conflict.is : undefined
}

describe('a nonce queue with independent nonces', () => {
  it('assigns each transaction its own number, whatever happens to the others', () => {
    const lane = laneAt(at(100))
    const first = [taken(lane), taken(lane), taken(lane)]
    expect(first.map(({ number }) => number)).to.deep.equal([100, 101, 102])
    for (const slot of first) occupy(lane, slot)
    // The last is final before the others: nothing follows from it for them.
    lane.markFinal(first[2] ?? 0)
    expect(lane.statusOf({ sequence: first[0] ?? 0 })).to.equal('free')
    expect(lane.pendingOn(100)?.txHash).to.equal('tx 100')
    expect(taken(lane).number).to.equal(102)
    lane.startSync()(at(500))
    expect(taken(lane).number).to.equal(500)
  })

  it('has no gaps: a released number delays nobody', () => {
    const lane = laneAt(at(100))
    const [first, second] = [taken(lane), taken(lane)]
    occupy(lane, second)
    expect(lane.release([first])).to.deep.equal([])
    expect([lane.gaps(at(101)), lane.gaps(at(102))]).to.deep.equal([[], []])
  })

  it('assigns a durable nonce to one transaction at a time, and its next value once that is final', () => {
    const lane = laneAt(at(100))
    const slot = taken(lane, 0)
    expect(slot).to.include({ number: 0, nonceAccount: 'a', nonce: 'v' })
    expect(refused(lane, 0)).to.equal('claimed')
    occupy(lane, slot)
    expect(refused(lane, 0)).to.equal('not-meant')
    lane.startSync()(at(200, { durable: [{ account: 'a', nonce: 'w', slot: 200 }] }))
    expect(refused(lane, 0)).to.equal('not-meant')
    lane.markFinal(slot)
    expect(taken(lane, 0)).to.include({ nonce: 'w' })
  })

  it('counts what pending transactions may cost, without those in a block', () => {
    const lane = laneAt(at(100))
    const slots = [taken(lane), taken(lane)]
    for (const slot of slots) occupy(lane, slot)
    expect(lane.committedRaw(at(100), [])).to.equal(10n)
    lane.startSync()(at(101, { landed: [100] }))
    // A check that did not look at blocks does not know it, and the lane does.
    expect(lane.committedRaw(at(102), [])).to.equal(5n)
  })
})

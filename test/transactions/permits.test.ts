import { expect } from 'chai'
import type { Need, Permit } from '../../core/contracts/index.ts'
import type { Entry, JournaledPermit } from '../../core/transactions/entry.ts'
import { createOutstandingPermits, journaledPermit, settlePermits } from '../../core/transactions/permits.ts'
import { newEntry } from './journal/entries.ts'

const permit: Permit = { permit2: '0xPermit2', token: '0xToken', spender: '0xRouter', amountRaw: 5n, expires: 1_000, nonce: 3 }
const given = (over: Partial<JournaledPermit> = {}): JournaledPermit => ({ ...journaledPermit(permit, 6), ...over })
const entryWith = (over: Partial<Entry> = {}, ...permits: JournaledPermit[]): Entry =>
  newEntry({ permits: permits.length > 0 ? permits : [given()], ...over })
const need: Need = { is: 'allowance', token: '0xToken', spender: '0xRouter', amountRaw: 5n, permit2: '0xPermit2', until: 1_000 }
const head = (number: number, timestamp = 900) => ({ number: BigInt(number), timestamp })
const states = ({ permits = [] }: Entry) => permits.map(({ state, since }) => [state, since])

describe('an outstanding permit', () => {
  it('counts as used once the nonce of the contract has been past it for the confirmations', () => {
    const dropped = entryWith({ state: 'DROPPED' })
    expect(settlePermits(dropped, [3], head(100), 3)).to.equal(dropped)
    const first = settlePermits(dropped, [4], head(100), 3)
    expect(states(first)).to.deep.equal([['outstanding', 100]])
    expect(settlePermits(first, [4], head(101), 3)).to.equal(first)
    expect(states(settlePermits(first, [4], head(102), 3))).to.deep.equal([['used', 100]])
  })

  it('counts the confirmations of its own transaction', () => {
    const landed = { id: '0x1', ok: true, blockNumber: 98, receipt: null }
    expect(states(settlePermits(entryWith({ state: 'CONFIRMED', landed }), [4], head(100), 3))).to.deep.equal([['used', 98]])
    // Mined, and the contract has not taken it: then it is not used.
    expect(states(settlePermits(entryWith({ state: 'CONFIRMED', landed }), [3], head(100), 3))).to.deep.equal([['outstanding', undefined]])
  })

  it('becomes outstanding again where a reorganisation takes its use back', () => {
    const first = settlePermits(entryWith({ state: 'DROPPED' }), [4], head(100), 3)
    expect(states(settlePermits(first, [3], head(101), 3))).to.deep.equal([['outstanding', undefined]])
  })

  it('expires by the time of blocks, after the second that it names', () => {
    const dropped = entryWith({ state: 'DROPPED' })
    expect(settlePermits(dropped, [3], head(100, 1_000), 1)).to.equal(dropped)
    expect(states(settlePermits(dropped, [3], head(100, 1_001), 1))).to.deep.equal([['expired', 100]])
    const first = settlePermits(dropped, [3], head(100, 1_001), 2)
    expect(states(first)).to.deep.equal([['outstanding', 100]])
    // A block in the place of that one is earlier.
    expect(states(settlePermits(first, [3], head(101, 1_000), 2))).to.deep.equal([['outstanding', undefined]])
  })

  it('never changes once it has ended', () => {
    const ended = entryWith({ state: 'CONFIRMED' }, given({ state: 'expired', since: 5 }))
    expect(settlePermits(ended, [9], head(100, 2_000), 1)).to.equal(ended)
  })
})

describe('the permits of a wallet', () => {
  const past = { sequenceStatus: () => 'past' as const }
  const free = { sequenceStatus: () => 'free' as const }
  const wanting = (nonce: number) => ({ permits: [{ ...permit, nonce }], synced: null })

  it('stand in the way of one with their nonce, and not of the next one', () => {
    const permits = createOutstandingPermits()
    permits.set(entryWith())
    expect(permits.conflict([need], wanting(3), past)?.name).to.equal('INSUFFICIENT_ALLOWANCE')
    expect(permits.conflict([need], wanting(2), past)?.name).to.equal('INSUFFICIENT_ALLOWANCE')
    expect(permits.conflict([need], wanting(4), past)).to.equal(undefined)
    for (const other of [{ token: '0xOther' }, { spender: '0xOther' }, { permit2: '0xOther' }])
      expect(permits.conflict([{ ...need, ...other }], { permits: [{ ...permit, ...other }], synced: null }, past)).to.equal(undefined)
  })

  it('stand in the way of an allowance only while their own transaction may be mined', () => {
    const permits = createOutstandingPermits()
    const entry = entryWith({ state: 'BROADCAST' })
    permits.set(entry)
    expect(permits.conflict([need], { synced: null }, free)?.name).to.equal('INSUFFICIENT_ALLOWANCE')
    expect(permits.conflict([need], { synced: null }, past)).to.equal(undefined)
    const { permit2: _, ...plain } = need
    expect(permits.conflict([plain], { synced: null }, free)).to.equal(undefined)
    permits.set({ ...entry, state: 'CANCELLED' })
    expect(permits.conflict([need], { synced: null }, free)).to.equal(undefined)
    expect(permits.conflict([need], wanting(3), free)?.name).to.equal('INSUFFICIENT_ALLOWANCE')
  })

  it('leave the list once all of them have ended', () => {
    const permits = createOutstandingPermits()
    const entry = entryWith({}, given(), given({ nonce: 4 }))
    permits.set(entry)
    expect(permits.keys()).to.deep.equal([entry.key])
    permits.set({ ...entry, permits: [given({ state: 'used' }), given({ nonce: 4 })] })
    expect(permits.conflict([need], wanting(3), past)?.name).to.equal('INSUFFICIENT_ALLOWANCE')
    permits.set({ ...entry, permits: [given({ state: 'used' }), given({ nonce: 4, state: 'expired' })] })
    expect(permits.keys()).to.deep.equal([])
  })
})

import { expect } from 'chai'
import { tokenLimitsOf } from '../../core/limits/limit-checks.ts'
import { createPerpetualTurns } from '../../core/limits/perpetual-limits.ts'
import { readUsage } from '../../core/limits/usage.ts'
import type { Store } from '../../core/store/store.ts'

const mainnet = { chain: 'ethereum', network: 'mainnet' }

describe('limits of one token under two names', () => {
  it('are the stricter of each, whichever is first', () => {
    const usdc = { address: '0xA0', symbol: 'USDC', decimals: 6 }
    const bySymbol = { USDC: { perHour: '100', perDay: '200' } }
    const byAddress = { '0xA0': { perTransaction: '10', perDay: '1000' } }
    for (const named of [
      { ...bySymbol, ...byAddress },
      { ...byAddress, ...bySymbol },
    ]) {
      const limits = tokenLimitsOf({ tokens: { 'ethereum/mainnet': named } }, mainnet, () => usdc)
      expect([...limits.values()].map((each) => each.limits)).to.deep.equal([{ perTransaction: '10', perHour: '100', perDay: '200' }])
    }
  })
})

describe('an account of limits that cannot be read in the store', () => {
  const damaged = (rows: unknown) => ({ read: async () => rows }) as unknown as Store
  const outcome = (work: Promise<unknown>) =>
    work.then(
      () => 'read',
      ({ name }: Error) => name,
    )

  it('is said to be so, where it is shown and where orders of perpetuals ask for it', async () => {
    const row = { body: '{"open":{' }
    const source = { own: { transactionsPerHour: 3 }, limitsOn: () => undefined, networks: [], token: () => undefined }
    expect(await outcome(readUsage(damaged([row, { now: 0 }]), 'bot', source))).to.equal('SERVICE_UNINITIALIZED')
    const turns = createPerpetualTurns(damaged(row))
    expect(await outcome(turns.take({ client: 'bot', account: 'a' }, async () => {}))).to.equal('SERVICE_UNINITIALIZED')
  })
})

import { expect } from 'chai'
import { createMarketAges, dayMs, withReadings, type NetworkAges } from '../../core/market/market-ages.ts'
import type { Store } from '../../core/store/store.ts'
import { onBothStores } from '../store/stores.ts'

const hourMs = 3_600_000
const stepMs = 5 * 60_000
const had = { all: 30, valued: 30 }
const lacked = { all: 30, valued: 0 }

/** Readings of a token every five minutes of the store's time. */
function during(before: NetworkAges | undefined, fromMs: number, hours: number, readings = had): NetworkAges | undefined {
  let ages = before
  for (let at = fromMs; at <= fromMs + hours * hourMs; at += stepMs) ages = withReadings(ages, new Map([['token', readings]]), at)
  return ages
}
/** As a network that has another token from the first hour on. */
const known = withReadings(undefined, new Map([['weth', had]]), 0)
const counts = (ages: NetworkAges | undefined, token = 'token') => ages?.tokens.get(token)?.counts

describe('the age of markets', () => {
  it('counts what has a market in the first hour, and what comes later once it had one for a day', () => {
    expect(counts(known, 'weth')).to.equal(true)
    expect(counts(withReadings(known, new Map([['token', had]]), hourMs))).to.equal(true)
    expect(counts(during(known, 2 * hourMs, 23))).to.equal(false)
    expect(counts(during(known, 2 * hourMs, 24))).to.equal(true)
  })

  it('begins with the first market, however long the network was read without one', () => {
    const none = withReadings(undefined, new Map([['token', lacked]]), 0)
    expect(none).to.equal(undefined)
    expect(counts(withReadings(none, new Map([['token', had]]), 9 * hourMs))).to.equal(true)
  })

  it('takes a market at most of the time: not two of them a day apart, nor one in some readings', () => {
    const twice = withReadings(withReadings(known, new Map([['token', had]]), 2 * hourMs), new Map([['token', had]]), 30 * hourMs)
    expect(counts(twice)).to.equal(false)
    expect(counts(during(known, 2 * hourMs, 100, { all: 30, valued: 22 }))).to.equal(undefined)
    const half = during(during(known, 2 * hourMs, 20), 22 * hourMs, 20, lacked)
    expect(counts(during(half, 42 * hourMs, 20))).to.equal(false)
  })

  it('counts on through a gap, until a day of it is lost', () => {
    const day = during(known, 2 * hourMs, 24)
    expect(counts(during(day, 26 * hourMs, 20, lacked))).to.equal(true)
    const lost = during(day, 26 * hourMs, 25, lacked)
    expect(counts(lost)).to.equal(false)
    expect(counts(during(lost, 52 * hourMs, 12))).to.equal(false)
    // Nobody asked for it meanwhile.
    expect(counts(withReadings(day, new Map([['token', had]]), 20 * dayMs))).to.equal(true)
    const kept = withReadings(day, new Map([['weth', had]]), 20 * dayMs)
    expect(counts(withReadings(kept, new Map([['token', had]]), 40 * dayMs))).to.equal(false)
  })

  it('has one first hour, however long nothing was read after it', () => {
    const late = withReadings(known, new Map([['token', had]]), 31 * dayMs)
    expect(counts(late)).to.equal(false)
    const none = withReadings(known, new Map(), 31 * dayMs)
    expect(counts(withReadings(none, new Map([['token', had]]), 32 * dayMs))).to.equal(false)
  })

  onBothStores((stores) => {
    const place = { chain: 'ethereum', network: 'mainnet' }
    const log = { info() {} }
    let store: Store
    beforeEach(async () => {
      store = await stores().open()
    })
    const pass = (ms: number) =>
      store.write((tx) =>
        tx
          .updateTable('store_time')
          .set((eb) => ({ elapsed: eb('elapsed', '+', ms) }))
          .execute(),
      )

    it('stays over a restart, and counts no moment twice where two servers read', async () => {
      let nowMs = 0
      const open = () => createMarketAges({ store, log, steadyMs: () => nowMs })
      const [first, second] = [open(), open()]
      const note = (ages = first, tokens = ['weth', 'token']) => ages.note(place, tokens, () => true)
      expect(first.leftMs(place, 'weth')).to.equal(dayMs)
      await note(first, ['weth'])
      expect(first.leftMs(place, 'weth')).to.equal(0)
      await pass(2 * hourMs)
      await note()
      expect(first.leftMs(place, 'token')).to.equal(dayMs)
      for (let step = 0; step < 6; step += 1) {
        await pass(stepMs)
        nowMs += stepMs
        for (const ages of [first, second]) await note(ages)
      }
      expect([first, second].map((ages) => ages.leftMs(place, 'token'))).to.deep.equal([dayMs - hourMs / 2, dayMs - hourMs / 2])
      const restarted = open()
      await note(restarted)
      expect([restarted.leftMs(place, 'token'), restarted.leftMs(place, 'weth')]).to.deep.equal([dayMs - hourMs / 2, 0])
      expect(restarted.leftMs({ ...place, network: 'other' }, 'weth')).to.equal(dayMs)
    })

    it('begins anew where the store has something else', async () => {
      const ages = createMarketAges({ store, log, steadyMs: () => 0 })
      await store.write((tx) => tx.insertInto('budgets').values({ owner: 'market ethereum/mainnet', body: '{' }).execute())
      await ages.note(place, ['weth'], () => true)
      expect(ages.leftMs(place, 'weth')).to.equal(0)
    })
  })
})

import { expect } from 'chai'
import { createHoldings, heldAtStart, readHoldings, withReading, writeHoldings, type Holdings } from '../../core/limits/holdings.ts'
import type { Store } from '../../core/store/store.ts'
import { onBothStores } from '../store/stores.ts'

const none: Holdings = new Map()
const read = (...readings: readonly (readonly [hour: number, micros: bigint, network?: string])[]) =>
  readings.reduce((before, [hour, micros, network = 'a/b']) => withReading(before, network, hour, micros), none)

describe('what wallets held when the rolling day began', () => {
  it('is what was read first until a day has passed, then what was read a day before', () => {
    const holdings = read([10, 500n], [11, 900n], [20, 700n])
    for (const hour of [10, 20, 33]) expect(heldAtStart(holdings, hour)).to.equal(500n)
    expect(heldAtStart(holdings, 35)).to.equal(900n)
    expect(heldAtStart(holdings, 100)).to.equal(700n)
  })

  it('is not raised by a deposit before a day has passed, nor lowered by what was lost', () => {
    expect(heldAtStart(read([10, 500n], [12, 9_000n], [13, 1n]), 13)).to.equal(500n)
  })

  it('is the least of an hour: a price that is pushed for a moment raises nothing', () => {
    expect(heldAtStart(read([10, 500n], [10, 90_000n], [10, 400n]), 10)).to.equal(400n)
  })

  it('is summed over networks, each by its own readings', () => {
    expect(heldAtStart(read([10, 500n], [40, 20n, 'c/d']), 41)).to.equal(520n)
  })

  it('is the least of what was read since, where nothing was read a day before', () => {
    const old = read([10, 1_000_000n])
    expect(heldAtStart(old, 700)).to.equal(1_000_000n)
    const again = read([10, 1_000_000n], [700, 10_000n])
    for (const hour of [700, 710, 723, 724, 730]) expect(heldAtStart(again, hour)).to.equal(10_000n)
    expect(heldAtStart(read([10, 500n], [700, 90_000n]), 700)).to.equal(500n)
    expect(heldAtStart(read([10, 500n], [700, 90_000n]), 724)).to.equal(90_000n)
    // An hour may begin without a reading.
    expect(heldAtStart(read([10, 500n], [12, 1n]), 35)).to.equal(500n)
  })

  it('keeps no more than a day, and is read again as it was written', () => {
    let holdings = none
    for (let hour = 0; hour < 200; hour += 1) holdings = withReading(holdings, 'a/b', hour, BigInt(hour))
    expect(holdings.get('a/b')?.size).to.equal(25)
    expect(readHoldings(writeHoldings(holdings))).to.deep.equal(holdings)
    for (const damaged of ['', '{', '{"a/b":{"1":"x"}}']) expect(readHoldings(damaged).size).to.equal(0)
  })
})

describe('the reader of holdings', () => {
  const place = { chain: 'ethereum', network: 'mainnet' }
  const log = { info() {}, warn() {}, error() {}, debug() {} } as never

  onBothStores((stores) => {
    let store: Store
    beforeEach(async () => {
      store = await stores().open()
    })
    const open = (valueOf: () => Promise<bigint | undefined>, steadyMs = () => 0, isServed = () => true) =>
      createHoldings({ store, clients: () => ['bot', 'other'], valueOf, isServed, log, steadyMs })

    it('reads nothing before the client trades, then at once, and keeps it over a restart and for another server', async () => {
      let reads = 0
      const valueOf = async () => ((reads += 1), 500n)
      const first = open(valueOf)
      await first.read()
      expect(reads).to.equal(0)
      first.follow('bot', place)
      first.follow('nobody', place)
      await first.read()
      expect([first.heldMicros('bot'), first.heldMicros('other'), reads]).to.deep.equal([500n, 0n, 1])
      await first.stop()
      const second = open(async () => undefined)
      await second.read()
      expect(second.heldMicros('bot')).to.equal(500n)
      await second.stop()
    })

    it('does not count what was held on a network that the server has no longer', async () => {
      let isServed = true
      const holdings = open(
        async () => 500n,
        () => 0,
        () => isServed,
      )
      holdings.follow('bot', place)
      await holdings.read()
      expect(holdings.heldMicros('bot')).to.equal(500n)
      isServed = false
      expect(holdings.heldMicros('bot')).to.equal(0n)
      await holdings.stop()
    })

    it('reads again after five minutes, and where it could not be told', async () => {
      let [nowMs, reads] = [0, 0]
      const answers = [undefined, 500n, 400n]
      const holdings = open(
        async () => answers[(reads += 1) - 1],
        () => nowMs,
      )
      holdings.follow('bot', place)
      await holdings.read()
      await holdings.read()
      expect(holdings.heldMicros('bot')).to.equal(500n)
      await holdings.read()
      expect(reads).to.equal(2)
      nowMs = 5 * 60_000
      await holdings.read()
      expect(holdings.heldMicros('bot')).to.equal(400n)
      await holdings.stop()
    })

    it('goes on where wallets cannot be read', async () => {
      const holdings = open(() => Promise.reject(new Error('The node is away.')))
      holdings.follow('bot', place)
      await holdings.read()
      expect(holdings.heldMicros('bot')).to.equal(0n)
      await holdings.stop()
    })
  })
})

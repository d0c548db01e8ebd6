import { expect } from 'chai'
import { createOutcomeReadings, type ReadOutcome } from '../../../core/transactions/outcome-readings.ts'
import type { Entry } from '../../../core/transactions/entry.ts'

const landed = { id: '0x1', ok: true, blockNumber: 7, blockHash: '0xa', receipt: {} }
const entryOf = (state: Entry['state'], more: Partial<Entry> = {}): Entry =>
  ({ key: 'one', state, landed, attempts: [], connector: 'riverswap', ...more }) as unknown as Entry

describe('what a transaction brought, where only its plugin can tell', () => {
  let nowMs: number
  let warned: string[]
  beforeEach(() => {
    ;[nowMs, warned] = [0, []]
  })
  const readings = (readOutcome: ReadOutcome) =>
    createOutcomeReadings(readOutcome, { log: { info: () => {}, warn: (_, text) => void warned.push(text ?? '') }, steadyMs: () => nowMs })
  const [mined, confirmed] = [entryOf('MINED'), entryOf('CONFIRMED')]

  it('enters the journal with the final state, and is asked for once', async () => {
    let asked = 0
    const outcomes = readings(() => async () => ({ liquidity: `${(asked += 1)}` }))
    await outcomes.begin([confirmed, entryOf('REVERTED', { key: 'two' })])
    expect(outcomes.settle(mined, confirmed)).to.deep.equal({ ...confirmed, outcome: { liquidity: '1' } })
    expect(asked).to.equal(1)
  })

  it('changes nothing where nothing is to be journaled, or there was nothing', async () => {
    for (const read of [() => undefined, () => async () => undefined] satisfies ReadOutcome[]) {
      const outcomes = readings(read)
      await outcomes.begin([confirmed])
      expect(outcomes.settle(mined, confirmed)).to.equal(confirmed)
    }
  })

  it('keeps the transaction MINED while it cannot be read, and is asked for again', async () => {
    let isBack = false
    const outcomes = readings(() => async () => {
      if (!isBack) throw new Error('its host is being started')
      return { liquidity: '1' }
    })
    await outcomes.begin([confirmed])
    expect(outcomes.settle(entryOf('BROADCAST', { landed: undefined }), confirmed)).to.deep.equal(mined)
    expect(outcomes.settle(mined, confirmed), 'nothing is written').to.equal(mined)
    isBack = true
    await outcomes.begin([confirmed])
    expect(outcomes.settle(mined, confirmed).outcome).to.deep.equal({ liquidity: '1' })
  })

  it('leaves what another server has ended as it is: that never changes', async () => {
    for (const read of [async () => ({ liquidity: '1' }), () => new Promise<never>(() => {})]) {
      const outcomes = readings(() => read)
      await outcomes.begin([confirmed])
      expect(outcomes.settle(confirmed, confirmed)).to.equal(confirmed)
    }
  })

  it('is there again where the write is made again, until the entry is final in the journal', async () => {
    const outcomes = readings(() => async () => ({ liquidity: '1' }))
    await outcomes.begin([confirmed])
    for (let writes = 0; writes < 2; writes += 1) expect(outcomes.settle(mined, confirmed).outcome).to.deep.equal({ liquidity: '1' })
    outcomes.forget(confirmed)
    expect(outcomes.settle(mined, confirmed)).to.equal(confirmed)
  })

  it('does not keep it for ever, which is said', async () => {
    const outcomes = readings(() => () => Promise.reject(new Error('broken')))
    await outcomes.begin([confirmed])
    nowMs = 29_999
    await outcomes.begin([confirmed])
    expect(outcomes.settle(mined, confirmed)).to.equal(mined)
    nowMs = 30_000
    expect(outcomes.settle(mined, confirmed)).to.equal(confirmed)
    expect(warned).to.deep.equal(['transaction is final, and its plugin did not tell what it brought'])
  })

  it('delays others by a moment only where its plugin hangs', async () => {
    const outcomes = readings(
      ({ key }) =>
        () =>
          key === 'one' ? new Promise(() => {}) : Promise.resolve({ liquidity: '2' }),
    )
    const other = entryOf('CONFIRMED', { key: 'two' })
    await outcomes.begin([confirmed, other])
    expect(outcomes.settle(mined, confirmed)).to.equal(mined)
    expect(outcomes.settle(mined, other).outcome).to.deep.equal({ liquidity: '2' })
  })

  describe('of a plugin that is slow', () => {
    const keys = ['1', '2', '3', '4', '5']
    const entries = (state: Entry['state'], more: Partial<Entry> = {}) => keys.map((key) => entryOf(state, { key, ...more }))
    let answers: Map<string, (outcome: { liquidity: string }) => void>
    const slow = () =>
      readings(
        ({ key }) =>
          () =>
            new Promise((done) => void answers.set(key, done)),
      )
    const turn = () => new Promise((done) => setImmediate(done))
    beforeEach(() => {
      answers = new Map()
    })

    it('waits for its turn, and for the plugin from then on', async () => {
      const outcomes = slow()
      const [mines, finals] = [entries('MINED'), entries('CONFIRMED')]
      await outcomes.begin(finals)
      expect([...answers.keys()]).to.deep.equal(['1', '2', '3', '4'])
      nowMs = 29_999
      for (const answer of answers.values()) answer({ liquidity: '1' })
      await turn()
      expect([...answers.keys()]).to.deep.equal(keys)
      nowMs = 59_998
      expect(outcomes.settle(mines[4] as Entry, finals[4] as Entry)).to.equal(mines[4])
      answers.get('5')?.({ liquidity: '5' })
      await turn()
      expect(outcomes.settle(mines[4] as Entry, finals[4] as Entry).outcome).to.deep.equal({ liquidity: '5' })
      expect(warned).to.deep.equal([])
    })

    it('does not wait for its turn behind others that hang for ever', async () => {
      const outcomes = slow()
      const [mines, finals] = [entries('MINED'), entries('CONFIRMED')]
      await outcomes.begin(finals)
      nowMs = 30_000
      for (const [index, each] of finals.entries()) expect(outcomes.settle(mines[index] as Entry, each)).to.equal(each)
      expect(warned).to.have.length(keys.length)
    })

    it('keeps no poll waiting again, and no transaction of another plugin', async () => {
      const outcomes = slow()
      await outcomes.begin(entries('CONFIRMED'))
      const isBegun = outcomes.begin([entryOf('CONFIRMED', { key: '6' })]).then(() => 'begun')
      expect(await Promise.race([isBegun, turn()])).to.equal('begun')
      const other = entryOf('CONFIRMED', { key: '7', connector: 'lakeswap' })
      const begun = outcomes.begin([other])
      answers.get('7')?.({ liquidity: '7' })
      await begun
      expect(outcomes.settle(entryOf('MINED', { key: '7' }), other).outcome).to.deep.equal({ liquidity: '7' })
    })
  })

  it('needs another reading where a reorganisation put the transaction into another block', async () => {
    let asked = 0
    const outcomes = readings(() => async () => ({ liquidity: `${(asked += 1)}` }))
    await outcomes.begin([confirmed])
    const moved = entryOf('CONFIRMED', { landed: { ...landed, blockHash: '0xb' } })
    await outcomes.begin([moved])
    expect(outcomes.settle(mined, moved).outcome).to.deep.equal({ liquidity: '2' })
  })
})

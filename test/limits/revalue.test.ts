// What waits to be mined is held, and counts, by the worse of the market when it was signed and of later.
import { expect } from 'chai'
import { sql } from 'kysely'
import { compareDeposit } from '../../core/handlers/market-check.ts'
import { readAccount, type Amounts } from '../../core/limits/account.ts'
import { createSpendingLimits, type LimitReader, type SpendingLimits } from '../../core/limits/spending-limits.ts'
import type { LossNow } from '../../core/limits/revalue.ts'
import type { Store } from '../../core/store/store.ts'
import type { Commitment, Spending } from '../../core/transactions/budgets.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { newEntry } from '../transactions/journal/entries.ts'
import { freshStore } from '../transactions/site.ts'

const [weth, usdc] = ['0xaa', '0xbb']
const coin = { symbol: 'ETH', decimals: 0 }
/** A unit of each is worth a millionth of the reference token. */
const one = 1n << 128n
const commitment: Commitment = {
  gives: { [weth]: 1_000n },
  gets: { [usdc]: 900n },
  market: { lossMicros: 100n, prices: { [weth]: one, [usdc]: one }, medianPrices: { [weth]: one, [usdc]: one } },
}
const entryOf = (key: string, more: Partial<Entry> = {}) => newEntry({ key, client: 'bot', kind: 'trade', ...more })
const mined = (entry: Entry, seenAt?: number): Entry => ({
  ...entry,
  state: 'CONFIRMED',
  landed: { id: '0x1', ok: true, blockNumber: 9, receipt: null, ...(seenAt !== undefined && { seenAt }) },
})

describe('what waits to be mined', () => {
  let store: Store
  let limits: SpendingLimits
  let now: LossNow | undefined
  let minedLoss: bigint | undefined
  /** What is to be valued anew. */
  let asked: object
  beforeEach(async () => {
    asked = { gives: commitment.gives, gets: commitment.gets }
    store = await freshStore()
    now = undefined
    minedLoss = undefined
    limits = createSpendingLimits(() => ({ maxDailyLoss: '0.0005', maxPriceImpact: 5 }))
    const reader: LimitReader = {
      gains: () =>
        new Map([
          [weth, -1_000n],
          [usdc, 950n],
        ]),
      tells: () => 'all',
      gasCost: () => 0n,
      heldChanges: () => [],
      token: () => undefined,
      value: () => ({ is: 'no market' }),
      reference: () => 'USDC',
      lossNow: (_on, { lossMicros, ...exchanged }) => {
        expect([exchanged, lossMicros]).to.deep.equal([asked, 100n])
        return now
      },
      lossWhenMined: () => minedLoss,
    }
    limits.readBy(reader)
  })
  afterEach(() => store.close())

  const losses = async () => {
    const { body } = await store.read((db) =>
      db.selectFrom('budgets').select('body').where('owner', '=', 'client bot').executeTakeFirstOrThrow(),
    )
    const { open, spent } = readAccount(body)
    return { held: open['loss'] ?? 0n, counted: [...spent.day.values()].reduce((all, each) => all + (each['loss']?.net ?? 0n), 0n) }
  }
  async function reserve(key: string, more: Partial<Spending['steps'][number]> = {}, of: Partial<Commitment> = {}): Promise<Entry> {
    const entry = entryOf(key)
    const step = { entry, maxCostRaw: 1n, valueRaw: 0n, ...more }
    const spending: Spending = { client: 'bot', is: 'new', coin, commitment: { ...commitment, ...of }, steps: [step] }
    await store.write((tx) => limits.reserve(spending, tx))
    return entry
  }
  const revalue = async (...waiting: Entry[]) => store.write(async (tx) => [...((await limits.revalue?.(waiting, tx)) ?? [])])
  const settle = async (...ended: Entry[]) => store.write(async (tx) => limits.settle?.(ended, tx))

  it('is held by the greatest loss that a market said, and never by less than it was signed for', async () => {
    const entry = await reserve('a')
    for (const [lossMicros, held] of [
      [50n, 100n],
      [300n, 300n],
      [200n, 300n],
    ] as const) {
      now = { lossMicros, isTooFar: false }
      expect(await revalue(entry)).to.deep.equal([])
      expect((await losses()).held).to.equal(held)
    }
    now = undefined
    expect(await revalue(entry, entryOf('of nobody', { client: 'other' }))).to.deep.equal([])
    expect((await losses()).held).to.equal(300n)
  })

  it('has to end where it passes what is left of the limit, or is too far from the market, and is held until its end', async () => {
    const [first, second] = [await reserve('a'), await reserve('b')]
    now = { lossMicros: 240n, isTooFar: false }
    expect(await revalue(first, second)).to.deep.equal([])
    now = { lossMicros: 260n, isTooFar: false }
    const passing = await revalue(first, second)
    expect(passing.map(([key]) => key)).to.deep.equal(['b'])
    expect(passing[0]?.[1]).to.contain('maxDailyLoss')
    expect(await losses()).to.deep.equal({ held: 520n, counted: 0n })
    await settle({ ...second, state: 'CANCELLED' })
    expect(await losses()).to.deep.equal({ held: 260n, counted: 0n })
    now = { lossMicros: 261n, isTooFar: true }
    expect((await revalue(first))[0]?.[1]).to.contain('maxPriceImpact')
  })

  it('is valued by the price of its pool where it is a deposit, and by its sides where it is a perpetual, as it was stored', async () => {
    const prices = { [weth]: { numerator: 3n, denominator: 2n ** 192n }, [usdc]: { numerator: 1n, denominator: 1n } }
    const ofOne = { gives: commitment.gives, gets: { [usdc]: 900n } }
    const at = { connector: 'perp', market: '0xcc' }
    const sides = { gives: { 'perpetual:quote': 10n }, gets: { 'perpetual:base': 9n } }
    for (const [key, of, value] of [
      ['a', { gets: {}, pool: { prices } }, { ...ofOne, gets: {}, prices }],
      ['b', { gets: {}, pool: { prices, leastGot: ofOne.gets } }, { ...ofOne, prices }],
      ['c', { gives: {}, gets: {}, position: { at, ...sides } }, { at, ...sides }],
    ] as const) {
      const entry = await reserve(key, {}, of)
      const { held } = await losses()
      asked = value
      now = { lossMicros: 140n, isTooFar: false }
      // Another text than this process wrote: it is read.
      await store.write((tx) => sql`update reservations set body = body || ' '`.execute(tx))
      await revalue(entry)
      expect((await losses()).held, key).to.equal(held + 40n)
      await settle({ ...entry, state: 'CANCELLED' })
    }
  })

  it('is held once with what is to replace it', async () => {
    const entry = await reserve('a')
    await reserve('b', { replaces: 'a' })
    now = { lossMicros: 300n, isTooFar: false }
    await revalue(entry)
    expect((await losses()).held).to.equal(300n)
  })

  it('counts by the worse of the two once it is mined late, and as it was held where nobody can tell', async () => {
    await settle(mined(await reserve('soon')))
    expect(Number((await losses()).counted), 'as it was signed').to.be.within(50, 51)
    minedLoss = 20n
    await settle(mined(await reserve('better'), 5))
    expect(Number((await losses()).counted)).to.be.within(100, 102)
    minedLoss = 80n
    await settle(mined(await reserve('worse'), 5))
    expect(Number((await losses()).counted)).to.be.within(180, 182)
    minedLoss = undefined
    const entry = await reserve('unknown')
    now = { lossMicros: 200n, isTooFar: false }
    await revalue(entry)
    await settle(mined(entry, 5))
    expect(Number((await losses()).counted)).to.be.within(380, 382)
    expect((await losses()).held).to.equal(0n)
  })
})

describe('a deposit that waits, by the market of now', () => {
  /** @param worth of one unit of weth, where one of usdc is 1 */
  const by = (worth: bigint) =>
    compareDeposit(
      commitment.gives,
      { prices: { [weth]: { numerator: 1n, denominator: 1n }, [usdc]: { numerator: 1n, denominator: 1n } } },
      (exchanged) => {
        const micros = (amounts: Amounts) =>
          Object.entries(amounts).reduce((sum, [token, raw]) => sum + raw * (token === weth ? worth : 1n), 0n)
        const [givenMicros, lostMicros] = [micros(exchanged.gives), micros(exchanged.gives) - micros(exchanged.gets)]
        return { is: 'priced', givenMicros, lostMicros, mostGivenMicros: givenMicros, mostLostMicros: lostMicros }
      },
    )

  it('loses what an exchange of all of it at the price of its pool would lose, and nothing at that price', () => {
    expect(by(1n)).to.include({ givenMicros: 1_000n, lostMicros: 0n, mostLostMicros: 0n })
    expect(by(2n), 'half of what it is worth now').to.include({ givenMicros: 2_000n, lostMicros: 1_000n, mostLostMicros: 1_000n })
  })
})

import { expect } from 'chai'
import type { Head } from '../../../../../core/contracts/index.ts'
import type { FoundLog } from '../../../../../kits/evm/index.ts'
import type { Pool, PoolMemory } from '../../../../../kits/amm/index.ts'
import { completeReading } from '../../../../../kits/amm/protocol.ts'
import type { V3PoolState } from '../../../../../kits/amm/v3/swap.ts'
import { at } from '../../../evm/test-chain.ts'
import { randomBits } from '../../../../../testkit/random-bits.ts'
import { fees, v3QuoteChecker, spacings, type V3QuoteChecker } from './quote-checker.ts'
import { rangeLife } from './range-life.ts'
import { openV3Exchange, type SwapQuery, type V3Exchange } from './v3-exchange.ts'

const blocks = Number(process.env['SLUICE_V3_BLOCKS'] ?? 100)
const seed = 11
const ether = 10n ** 18n
/** The pool's state does not depend on it. */
const anyHead: Head = { number: 0n, timestamp: 0 }

describe('pools of concentrated liquidity in memory', () => {
  let exchange: V3Exchange
  let checker: V3QuoteChecker
  let memory: PoolMemory<V3PoolState>
  before(async () => {
    exchange = await openV3Exchange()
    checker = v3QuoteChecker(exchange)
    if (!checker.protocol.memory) throw new Error('The protocol has no memory.')
    memory = checker.protocol.memory
  })
  after(() => exchange.stop())

  const load = async (keys: readonly string[], missing: readonly unknown[] = []) => {
    const places = memory.places([exchange.tokens])
    const reading = memory.read(
      keys.map((key) => {
        const place = places.find(({ address }) => address.toLowerCase() === key)
        if (!place) throw new Error(`There is no place ${key}.`)
        return place
      }),
      missing,
    )
    return completeReading(reading, await exchange.reader.read(reading.calls, at), exchange.reader, at)
  }

  it('follow their logs to the chain’s own state and are quoted to the unit, over random changes', async function () {
    this.timeout(60_000 + blocks * 2_000)
    const random = randomBits(seed)
    const { below, bits } = random
    const places = memory.places([exchange.tokens])
    const pools = places.map(({ address }, index) => ({ address, fee: fees[index] ?? 500, tickSpacing: spacings[fees[index] ?? 500] }))
    for (const { fee, tickSpacing } of pools) {
      await exchange.open(fee, below(200) - 100)
      // All but one always have liquidity.
      if (fee !== 500) await exchange.provide(fee, -600 * tickSpacing, 600 * tickSpacing, 1000n * ether)
    }
    const life = await rangeLife(exchange, pools, random)
    const keys = places.map(({ address }) => address.toLowerCase())
    const held = new Map<string, Pool<V3PoolState> | null>()
    const more = new Map<string, unknown[]>(keys.map((key) => [key, []]))
    const counted = { applied: 0, reloads: 0, readOn: 0, quotes: 0, refusals: 0 }

    const reload = async (key: string) => held.set(key, (await load([key], more.get(key)))[0] ?? null)
    const move = async (log: FoundLog) => {
      for (const key of memory.poolsOf(log)) {
        const pool = held.get(key)
        if (pool === undefined) continue
        const next = memory.apply(pool, log, anyHead)
        counted.applied += 1
        if (next !== 'reload') held.set(key, next)
        else {
          if (pool !== null) counted.reloads += 1
          held.delete(key)
        }
      }
    }
    const quote = async (key: string, asked: SwapQuery): Promise<bigint | undefined> => {
      for (;;) {
        const pool = held.get(key)
        const passed = pool ? checker.pass(pool, asked) : undefined
        if (!passed || 'amountRaw' in passed) return passed?.amountRaw
        counted.readOn += 1
        more.get(key)?.push(passed.missing)
        await reload(key)
      }
    }

    for (const key of keys) await reload(key)
    for (let count = 0; count < blocks; count += 1) {
      for (const log of await life.block(1 + below(6), memory.follow)) await move(log)
      const loaded = await load(keys)
      for (const [index, key] of keys.entries()) {
        if (!held.has(key)) await reload(key)
        const [mine, theirs] = [held.get(key) ?? null, loaded[index] ?? null]
        expect(mine && inCommon(mine, theirs), `block ${count}, ${fees[index]}`).to.deep.equal(theirs && inCommon(theirs, mine))
        if (mine && theirs) expect(memory.same?.(mine, theirs, anyHead), `block ${count}, ${fees[index]}`).to.equal(true)
      }
      for (let each = 0; each < 4; each += 1) {
        const place = below(keys.length)
        const asked: SwapQuery = { zeroForOne: below(2) === 0, exact: below(2) === 0 ? 'in' : 'out', amountRaw: 1n + bits(75) }
        const [mine, theirs] = [await quote(keys[place] ?? '', asked), await checker.theirs(fees[place] ?? 0, asked)]
        expect(mine, `block ${count}, ${fees[place]} ${asked.exact} ${asked.amountRaw} ${asked.zeroForOne}`).to.equal(theirs)
        counted[mine === undefined ? 'refusals' : 'quotes'] += 1
      }
    }
    expect(life.happened).to.have.all.keys('Swap', 'Mint', 'Burn', 'Collect', 'Flash')
    expect(counted.quotes, 'quotes').to.be.above(2 * blocks)
    expect(counted.reloads, 'reloads').to.be.below(1 + blocks / 50)
  })
})

/** What both states know of a pool, written out. */
function inCommon({ state }: Pool<V3PoolState>, other: Pool<V3PoolState> | null) {
  const { ticks, ...rest } = state
  const [from, to] = [Math.max(ticks.from, other?.state.ticks.from ?? 0), Math.min(ticks.to, other?.state.ticks.to ?? 0)]
  const table = ticks.ticks.map((tick, index) => ({ tick, gross: ticks.liquidity.gross(index), net: ticks.liquidity.net(index) }))
  return { ...rest, table: table.filter(({ tick }) => tick > from && tick < to) }
}

import { expect } from 'chai'
import { Interface } from 'ethers'
import * as fc from 'fast-check'
import { isDeepStrictEqual } from 'node:util'
import type { FoundLog } from '../../../../../kits/evm/index.ts'
import type { Pool } from '../../../../../kits/amm/index.ts'
import { v3Events } from '../../../../../kits/amm/v3/index.ts'
import { getSqrtRatioAtTick } from '../../../../../kits/amm/v3/math.ts'
import { TickTable, type V3PoolState, swap } from '../../../../../kits/amm/v3/swap.ts'
import { v3Protocol } from '../../../../../kits/amm/v3/pools.ts'

const address = '0x00000000000000000000000000000000000000AA'
const tokens = ['0x0000000000000000000000000000000000000001', '0x0000000000000000000000000000000000000002'] as const
const someone = '0x0000000000000000000000000000000000000003'
const protocol = v3Protocol({ version: 'v3', factory: address, initCodeHash: `0x${'00'.repeat(32)}`, fees: [3000] })
const abi = new Interface([...v3Events, 'event Initialize(uint160 sqrtPriceX96, int24 tick)'])
const spacing = 60
// The known ticks after a first read at tick 30: eight words of 256 ticks of that spacing each way.
const [from, to] = [-107_580, 122_880]

/** A pool with one position of 1000 liquidity from -600 to 600. */
function aPool(change: Partial<V3PoolState> = {}): Pool<V3PoolState> {
  const [grosses, nets] = [
    [1000n, 1000n],
    [1000n, -1000n],
  ]
  const ticks = new TickTable(from, to, [-600, 600], { gross: (index) => grosses[index] ?? 0n, net: (index) => nets[index] ?? 0n })
  const range = {
    sqrtPriceX96: getSqrtRatioAtTick(30),
    tick: 30,
    liquidity: 1000n,
    fee: 3000,
    tickSpacing: spacing,
    ticks,
    hasTickList: false,
  }
  const state = { ...range, ...change }
  return { address, tokens, state }
}

function log(name: string, ...args: readonly unknown[]): FoundLog {
  const event = abi.getEvent(name)
  if (!event) throw new Error(`There is no event ${name}.`)
  return { address, ...abi.encodeEventLog(event, args), transactionHash: '0x', blockNumber: 1 }
}
const swapped = (tick: number, liquidity: bigint) =>
  log('Swap(address,address,int256,int256,uint160,uint128,int24)', someone, someone, 1n, -1n, getSqrtRatioAtTick(tick), liquidity, tick)
const minted = (lower: number, upper: number, liquidity: bigint) => log('Mint', someone, someone, lower, upper, liquidity, 1n, 1n)
const burnt = (lower: number, upper: number, liquidity: bigint) => log('Burn', someone, lower, upper, liquidity, 1n, 1n)

const apply = (pool: Pool<V3PoolState> | null, ...logs: readonly FoundLog[]) => {
  let now: Pool<V3PoolState> | null | 'reload' | undefined = pool
  for (const each of logs) if (now !== 'reload' && now !== undefined) now = protocol.memory?.apply(now, each, { number: 1n, timestamp: 1 })
  return now
}
const stateAfter = (...logs: readonly FoundLog[]): V3PoolState => {
  const after = apply(aPool(), ...logs)
  if (!after || after === 'reload') throw new Error(`The pool is ${String(after)}.`)
  return after.state
}
const tableOf = ({ ticks }: V3PoolState) =>
  ticks.ticks.map((tick, index) => [tick, ticks.liquidity.gross(index), ticks.liquidity.net(index)])
const missingOf = (pool: Pool<V3PoolState>, zeroForOne = true) => {
  const [tokenIn, tokenOut] = zeroForOne ? tokens : [tokens[1], tokens[0]]
  const passed = protocol.pass(pool, { tokenIn, tokenOut }, 'in', 10n ** 30n)
  return passed && 'missing' in passed ? passed.missing : undefined
}

const mintedBetween = ({ ends: [a, b], liquidity }: { ends: readonly [number, number]; liquidity: bigint }) =>
  minted(Math.min(a, b) * spacing, (Math.max(a, b) + (a === b ? 1 : 0)) * spacing, liquidity)
/** The liquidity in range after a swap to a tick. */
function inRange({ ticks }: V3PoolState, tick: number): bigint {
  return ticks.ticks.reduce((sum, each, index) => (each <= tick ? sum + ticks.liquidity.net(index) : sum), 0n)
}

describe('a log of a pool of concentrated liquidity', () => {
  it('changes only price and liquidity in range where it is a swap', () => {
    const { ticks } = aPool().state
    const pool = aPool({ ticks })
    const after = apply(pool, swapped(-700, 5n))
    expect(after).to.deep.equal({ ...pool, state: { ...pool.state, sqrtPriceX96: getSqrtRatioAtTick(-700), tick: -700, liquidity: 5n } })
    expect(after && after !== 'reload' && after.state.ticks).to.equal(ticks)
  })

  it('adds the ticks of a new position, and counts it in range from its lower tick up to its upper one', () => {
    const inRange = (lower: number, upper: number) => {
      const after = apply(aPool({ tick: 60 }), minted(lower, upper, 5n))
      return after && after !== 'reload' && after.state.liquidity === 1005n
    }
    expect([inRange(0, 60), inRange(60, 120), inRange(0, 120), inRange(120, 180)]).to.deep.equal([false, true, true, false])
    const state = stateAfter(minted(30 - 90, 0, 7n), minted(0, 60, 11n), minted(60, 600, 13n))
    expect(state.liquidity).to.equal(1011n)
    expect(tableOf(state)).to.deep.equal([
      [-600, 1000n, 1000n],
      [-60, 7n, 7n],
      [0, 18n, 4n],
      [60, 24n, 2n],
      [600, 1013n, -1013n],
    ])
  })

  it('removes a tick with its last position, and keeps one where two positions cancel out', () => {
    const state = stateAfter(minted(-600, 0, 5n), minted(0, 600, 5n), burnt(-600, 0, 5n))
    expect(tableOf(state)).to.deep.equal([
      [-600, 1000n, 1000n],
      [0, 5n, 5n],
      [600, 1005n, -1005n],
    ])
    expect(tableOf(stateAfter(minted(-60, 0, 5n), minted(0, 60, 5n)))[2]).to.deep.equal([0, 10n, 0n])
    expect(tableOf(stateAfter(minted(-60, 0, 5n), burnt(-60, 0, 5n)))).to.deep.equal(tableOf(aPool().state))
  })

  it('changes nothing where fees are only counted', () => {
    const pool = aPool()
    expect(apply(pool, burnt(-600, 600, 0n))).to.equal(pool)
  })

  it('changes no unknown ticks, but the liquidity in range between them', () => {
    const pool = aPool()
    expect(apply(pool, minted(to, to + 60, 5n))).to.equal(pool)
    const { liquidity, ticks } = stateAfter(minted(from, to, 5n))
    expect(liquidity).to.equal(1005n)
    expect(ticks.ticks).to.deep.equal([-600, 600])
    expect(tableOf(stateAfter(minted(from, 0, 5n)))[1]).to.deep.equal([0, 5n, -5n])
  })

  it('makes the pool be read again where it is new, abandoned, or holds less than is removed', () => {
    for (const each of [log('Initialize', 1n, 0), swapped(0, 1n), minted(-60, 60, 1n)]) expect(apply(null, each)).to.equal('reload')
    expect(apply(aPool(), log('Initialize', 1n, 0))).to.equal('reload')
    expect(apply(aPool(), burnt(-600, 600, 1001n))).to.equal('reload')
    expect(apply(aPool(), burnt(-60, 60, 1n))).to.equal('reload')
  })

  it('keeps a pool without liquidity at its price where it is known where that begins, and makes it be read again where not', () => {
    const all = () => aPool({ ticks: new TickTable(-(2 ** 20), 2 ** 20, [-600, 600], aPool().state.ticks.liquidity) })
    expect(apply(all(), burnt(-600, 600, 1000n))).to.have.nested.property('state.liquidity', 0n)
    expect(apply(all(), swapped(700, 0n))).to.have.nested.property('state.tick', 700)
    expect(apply(aPool(), burnt(-600, 600, 999n))).to.have.nested.property('state.liquidity', 1n)
    // There may be liquidity beyond the known ticks.
    expect(apply(aPool(), burnt(-600, 600, 1000n))).to.equal('reload')
    expect(apply(aPool(), swapped(700, 0n))).to.equal('reload')
  })

  it('names the same missing ticks each time for a swap beyond the known ticks', () => {
    const near = { pool: address, zeroForOne: true, window: { words: 7000, ticks: 512 } }
    expect(missingOf(aPool())).to.deep.equal(near)
    expect(isDeepStrictEqual(missingOf(aPool()), missingOf(aPool()))).to.equal(true)
    const gone = apply(aPool(), swapped(from - 1, 1000n))
    expect(gone && gone !== 'reload' && missingOf(gone)).to.deep.equal(near)
    expect(gone && gone !== 'reload' && missingOf(gone, false)).to.deep.equal({ ...near, zeroForOne: false })
  })

  it('gives the same quotes as without earlier swaps', () => {
    const end = fc.integer({ min: -20, max: 20 })
    const change = fc.oneof(
      fc.record({ is: fc.constant('swap' as const), tick: fc.integer({ min: -1200, max: 1199 }) }),
      fc.record({ is: fc.constant('mint' as const), ends: fc.tuple(end, end), liquidity: fc.bigInt(1n, 10n ** 20n) }),
    )
    const asked = fc.record({
      zeroForOne: fc.boolean(),
      exact: fc.constantFrom('in' as const, 'out' as const),
      amountRaw: fc.bigInt(1n, 10n ** 20n),
    })
    fc.assert(
      fc.property(fc.array(fc.tuple(change, fc.array(asked, { minLength: 1, maxLength: 4 })), { maxLength: 20 }), (steps) => {
        let pool = aPool({ ticks: new TickTable(-(2 ** 20), 2 ** 20, [-600, 600], aPool().state.ticks.liquidity) })
        for (const [each, swaps] of steps) {
          const after = apply(pool, each.is === 'swap' ? swapped(each.tick, inRange(pool.state, each.tick)) : mintedBetween(each))
          if (!after || after === 'reload') return false
          pool = after
          const { from, to, ticks, liquidity } = pool.state.ticks
          const anew = { ...pool, state: { ...pool.state, ticks: new TickTable(from, to, ticks, liquidity) } }
          for (const { zeroForOne, exact, amountRaw } of swaps)
            if (!isDeepStrictEqual(swap(pool.state, zeroForOne, exact, amountRaw), swap(anew.state, zeroForOne, exact, amountRaw)))
              return false
        }
        return true
      }),
    )
  })

  it('outlasts every further reading: both know together what each knows, and the later one counts where they differ', () => {
    const join = (known: V3PoolState, loaded: V3PoolState) =>
      protocol.memory?.join?.({ address, tokens, state: known }, { address, tokens, state: loaded }).state ?? expect.fail('It joins.')
    const liquidity = { gross: () => 7n, net: () => 7n }
    const [{ state }] = [aPool()]
    const above = {
      ...state,
      ticks: new TickTable(-60, 6_000_000, [600, 240_000], { gross: () => 1000n, net: (index) => (index === 0 ? -1000n : 5n) }),
    }
    const joined = join(state, above)
    expect([joined.ticks.from, joined.ticks.to]).to.deep.equal([from, 6_000_000])
    expect(tableOf(joined)).to.deep.equal([
      [-600, 1000n, 1000n],
      [600, 1000n, -1000n],
      [240_000, 1000n, 5n],
    ])
    expect(tableOf(join(above, state))).to.deep.equal(tableOf(joined))
    // Less than is known, something else, and nothing that touches it.
    expect(tableOf(join(state, { ...state, ticks: new TickTable(-60, 60, [], liquidity) }))).to.deep.equal(tableOf(state))
    for (const other of [
      { ...above, liquidity: 1n },
      { ...above, ticks: new TickTable(-60, 6_000_000, [600], liquidity) },
      { ...state, ticks: new TickTable(to, to + 60, [], liquidity) },
    ])
      expect(join(state, other)).to.equal(other)
  })

  it('leaves a state that equals one read again, as far as both know the ticks', () => {
    const same = (a: Partial<V3PoolState>, b: Partial<V3PoolState>) =>
      protocol.memory?.same?.(aPool(a), aPool(b), { number: 1n, timestamp: 1 })
    const { ticks } = aPool().state
    const less = new TickTable(-600, 1200, [600], { gross: () => 1000n, net: () => -1000n })
    const [none, elsewhere] = [new TickTable(-600, 1200, [], ticks.liquidity), new TickTable(to, to + 60, [], ticks.liquidity)]
    expect([same({}, {}), same({}, { ticks: less }), same({ ticks: less }, {}), same({}, { ticks: elsewhere })]).to.deep.equal([
      true,
      true,
      true,
      true,
    ])
    expect([same({}, { ticks: none }), same({ ticks: none }, {})]).to.deep.equal([false, false])
    for (const wrong of [
      { gross: () => 999n, net: () => -1000n },
      { gross: () => 1000n, net: () => 1000n },
    ])
      expect(same({}, { ticks: new TickTable(-600, 1200, [600], wrong) })).to.equal(false)
    for (const change of [{ tick: 31 }, { liquidity: 1n }, { sqrtPriceX96: 1n }, { fee: 500 }, { tickSpacing: 10 }])
      expect(same({}, change)).to.equal(false)
  })
})

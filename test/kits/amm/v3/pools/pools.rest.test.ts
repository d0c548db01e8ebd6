import { expect } from 'chai'
import { SluiceError } from '../../../../../core/contracts/index.ts'
import type { CallResult, Probe } from '../../../../../kits/evm/types.ts'
import { at } from '../../../evm/test-chain.ts'
import { fees, initCodeHash, v3QuoteChecker, type V3QuoteChecker } from './quote-checker.ts'
import { v3Protocol } from '../../../../../kits/amm/v3/pools.ts'
import { openV3Exchange, type V3Exchange } from './v3-exchange.ts'

const ether = 10n ** 18n
const [lowest, low, medium, high] = fees

describe('pools of concentrated liquidity', () => {
  let exchange: V3Exchange
  let checker: V3QuoteChecker
  before(async () => {
    exchange = await openV3Exchange()
    checker = v3QuoteChecker(exchange)
    await exchange.create(high)
    await exchange.open(medium, 17)
    await exchange.provide(medium, -887_220, 887_220, 1000n * ether)
    await exchange.open(low, -25)
    await exchange.provide(low, 1000, 1200, ether)
    await exchange.open(lowest, 0)
  })
  after(() => exchange.stop())

  it('have a price: missing and uninitialised ones do not count, and one that everybody left refuses every amount', async () => {
    expect((await checker.read()).map(({ state }) => state.fee)).to.have.members([lowest, low, medium])
    const { tokenId, liquidity } = await exchange.provide(lowest, -10, 10, ether)
    expect((await checker.read()).map(({ state }) => state.fee)).to.have.members([lowest, low, medium])
    await exchange.withdraw(tokenId, liquidity)
    for (const zeroForOne of [true, false])
      for (const exact of ['in', 'out'] as const)
        expect(await checker.quoteAlike(lowest, { zeroForOne, exact, amountRaw: 1n })).to.equal(undefined)
  })

  it('take one call to read, however many there are', async () => {
    const [token0, token1] = exchange.tokens
    const stranger = '0x00000000000000000000000000000000000000AA'
    exchange.asked()
    const reading = checker.protocol.read(
      [
        [token1, token0],
        [token1, stranger],
        [stranger, token0],
      ],
      [],
    )
    const { results } = await exchange.reader.read(reading.calls, at)
    expect(exchange.asked()).to.deep.equal(['eth_call'])
    expect(reading.pools(results).map(({ address, tokens }) => ({ address, tokens }))).to.deep.equal(
      (await checker.read()).map(({ address }) => ({ address, tokens: [token0, token1] })),
    )
  })

  it('have the state of their contracts', async () => {
    const first = await checker.poolOf(medium)
    expect(first.state).to.include({ tick: 17, fee: medium, tickSpacing: 60 })
    // Both ends of the only position are farther away than the first read goes.
    expect(first.state.ticks.ticks).to.deep.equal([])
    const further = [true, false].map((zeroForOne) => checker.pass(first, { zeroForOne, exact: 'in', amountRaw: 2n ** 200n }))
    const missing = further.flatMap((passed) => (passed && 'missing' in passed ? [passed.missing] : []))
    const { liquidity, ticks } = (await checker.poolOf(medium, missing)).state
    expect(ticks.ticks).to.deep.equal([-887_220, 887_220])
    expect([0, 1].map((index) => ticks.liquidity.net(index))).to.deep.equal([liquidity, -liquidity])
    expect([0, 1].map((index) => ticks.liquidity.gross(index))).to.deep.equal([liquidity, liquidity])
  })

  it('have a fee, and a price without the fee', async () => {
    const pool = await checker.poolOf(medium)
    const [tokenIn, tokenOut] = exchange.tokens
    expect(checker.protocol.fee(pool, { tokenIn, tokenOut })).to.equal('0.003')
    const [there, back] = [
      checker.protocol.spot(pool, { tokenIn, tokenOut }),
      checker.protocol.spot(pool, { tokenIn: tokenOut, tokenOut: tokenIn }),
    ]
    expect(Number(there.numerator) / Number(there.denominator)).to.be.closeTo(1.0001 ** 17, 1e-12)
    expect([back.numerator, back.denominator]).to.deep.equal([there.denominator, there.numerator])
  })

  it('give quotes only in the direction in which they have liquidity', async () => {
    expect(await checker.quoteAlike(low, { zeroForOne: false, exact: 'in', amountRaw: ether / 2n })).to.be.a('bigint')
    expect(await checker.quoteAlike(low, { zeroForOne: true, exact: 'in', amountRaw: 1n })).to.equal(undefined)
    expect(await checker.quoteAlike(low, { zeroForOne: true, exact: 'out', amountRaw: 1n })).to.equal(undefined)
  })

  it('give everything except a rounding rest, take everything that fits, and refuse one unit more', async () => {
    for (const zeroForOne of [true, false]) {
      let [can, cannot] = [0n, 4000n * ether]
      while (cannot - can > 1n) {
        const amountRaw = (can + cannot) / 2n
        if ((await checker.quote(medium, { zeroForOne, exact: 'out', amountRaw })) === undefined) cannot = amountRaw
        else can = amountRaw
      }
      expect(await checker.quoteAlike(medium, { zeroForOne, exact: 'out', amountRaw: can })).to.be.a('bigint')
      expect(await checker.quoteAlike(medium, { zeroForOne, exact: 'out', amountRaw: cannot })).to.equal(undefined)
    }
  })

  it('refuse amounts that do not fit the contracts’ integers', async () => {
    for (const exact of ['in', 'out'] as const)
      for (const amountRaw of [0n, 2n ** 255n - 1n, 2n ** 255n, 2n ** 256n - 1n])
        expect(await checker.quoteAlike(medium, { zeroForOne: true, exact, amountRaw })).to.equal(undefined)
  })

  it('have fewer known ticks where a call may use little gas, and their state says so', async () => {
    for (let tick = -6; tick < 6; tick += 1) await exchange.provide(medium, tick * 600, tick * 600 + 600, ether)
    const reading = checker.protocol.read([exchange.tokens], [])
    const full = reading.pools((await exchange.reader.read(reading.calls, at)).results).find(({ state }) => state.fee === medium)
    const scarce = reading.pools([await run(reading.calls[0], 220_000n)]).find(({ state }) => state.fee === medium)
    expect(scarce?.state).to.include({ tick: full?.state.tick, liquidity: full?.state.liquidity })
    expect(scarce?.state.ticks.ticks.length).to.be.below(full?.state.ticks.ticks.length ?? 0)
    for (const pool of [scarce, full]) {
      const passed = pool && checker.pass(pool, { zeroForOne: true, exact: 'in', amountRaw: 30n * ether })
      expect(passed).to.have.property(pool === scarce ? 'missing' : 'amountRaw')
    }
  })

  it('miss no ticks once all of them were read', async () => {
    const protocol = v3Protocol({ version: 'v3', factory: exchange.factory, initCodeHash, fees: [] })
    expect(protocol.read([exchange.tokens], []).calls).to.deep.equal([])
  })

  it('throw NETWORK where the node did not read them to the end', async () => {
    const reading = checker.protocol.read([exchange.tokens], [])
    const whole = await run(reading.calls[0], 10_000_000n)
    const panic = `0x4e487b71${'41'.padStart(64, '0')}`
    const broken: readonly CallResult[] = [
      { ok: false, data: '0x' },
      { ok: true, data: '0x' },
      { ok: true, data: panic },
      { ok: true, data: whole.data.slice(0, -2) },
      { ok: true, data: `${whole.data}00` },
    ]
    for (const result of broken)
      expect(() => reading.pools([result]))
        .to.throw(SluiceError)
        .that.includes({ name: 'NETWORK' })
    expect(() => reading.pools([])).to.throw(SluiceError)
    expect(reading.pools([whole])).to.have.length(3)
  })

  /** Called alone, with this much gas. */
  const run = async (call: unknown, gas: bigint): Promise<CallResult> => {
    if (!isProbe(call)) throw new Error('It is no probe.')
    const { results } = await exchange.reader.read([call], at)
    if (gas > 1_000_000n) return results[0] ?? { ok: false, data: '0x' }
    const failed = await exchange
      .rpc('eth_call', { data: call.code + (call.args ?? '0x').slice(2), gas: `0x${gas.toString(16)}` }, 'latest')
      .catch(String)
    return { ok: true, data: /0x[0-9a-f]{100,}/.exec(String(failed))?.[0] ?? '0x' }
  }
})

function isProbe(call: unknown): call is Probe {
  return typeof call === 'object' && call !== null && 'code' in call
}

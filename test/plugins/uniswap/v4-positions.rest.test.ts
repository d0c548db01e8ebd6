import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { Contract, Wallet, ZeroAddress, parseEther } from 'ethers'
import { parse } from 'yaml'
import type { Connector, Plan, RangeAmounts, RangeTerms, Token } from '../../../core/contracts/index.ts'
import type { TickPool, TickPosition, TickRange } from '../../../kits/amm/v3/range-prices.ts'
import { SluiceError } from '../../../core/base/errors.ts'
import type { Evm, EvmReceipt } from '../../../kits/evm/index.ts'
import { rangeOf } from '../../../kits/amm/v3/range-prices.ts'
import uniswap from '../../../plugins/uniswap/index.ts'
import { rejection } from '../../kits/amm/v2/rejection.ts'
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../../kits/amm/devnet-fixture.ts'

const { WETH, USDC, DAI, WBTC } = tokens
const defaults = parse(readFileSync(new URL('../../../plugins/uniswap/defaults.yml', import.meta.url), 'utf8'))
const { v4PositionManagerAddress: manager, permit2Address } = defaults.contractAddresses.local
const permit2Abi = ['function approve(address token, address spender, uint160 amount, uint48 expiration)']
const keyTuple = '(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks)'
const managerAbi = [
  `function initializePool(${keyTuple} key, uint160 sqrtPriceX96) payable returns (int24)`,
  'function transferFrom(address from, address to, uint256 id)',
  'function getPositionLiquidity(uint256 tokenId) view returns (uint128)',
  'function nextTokenId() view returns (uint256)',
]
const [most, never] = [2n ** 160n - 1n, 2n ** 48n - 1n]
/** Of odd tick spacing, and of hooks that act before swaps only, or before liquidity is added. */
const odd = { currency0: WBTC.address, currency1: USDC.address, fee: 777, tickSpacing: 7, hooks: ZeroAddress }
const sorted = (a: string, b: string) => (a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a])
const [odd0 = '', odd1 = ''] = sorted(odd.currency0, odd.currency1)
const oddKey = { ...odd, currency0: odd0, currency1: odd1 }
const guarded = { ...oddKey, fee: 888, hooks: `0x${'0'.repeat(36)}0800` }

describe('positions of Uniswap v4', () => {
  let fixture: DevnetFixture
  let exchange: Connector<Evm, 'AMM' | 'AMM_RANGE'>
  let range: Connector<Evm, 'AMM_RANGE'>['AMM_RANGE']
  let ETH: Token
  let owner: string
  before(async () => {
    fixture = await openDevnetFixture()
    const config = { ...defaults, v4Pools: { 'ethereum/local': [oddKey, guarded] } }
    exchange = uniswap.create({ ...fixture.venue(defaults.contractAddresses.local), config })
    range = exchange.AMM_RANGE
    ETH = fixture.chain.nativeCurrency
    owner = fixture.trader.address
    const permit2 = new Contract(permit2Address, permit2Abi, fixture.trader)
    for (const { address } of [WETH, USDC, DAI, WBTC]) {
      await fixture.approve(address, permit2Address)
      for (const spender of exchange.permit2?.spenders ?? [])
        await (await permit2.getFunction('approve')(address, spender, most, never)).wait()
    }
    const key = Object.values(oddKey)
    await (
      await new Contract(manager, managerAbi, fixture.trader).getFunction('initializePool')(key, 2n ** 96n * 3n, { gasLimit: 500_000n })
    ).wait()
  })
  after(() => fixture.close())

  const terms = (changed: Partial<RangeTerms> = {}): RangeTerms => ({
    owner,
    slippage: { numerator: 1n, denominator: 100n },
    deadline: Math.floor(Date.now() / 1000) + 600,
    native: false,
    ...changed,
  })
  const exactly = { slippage: { numerator: 0n, denominator: 1n } }
  const poolOf = async (a: Token, b: Token, fee: number): Promise<TickPool> => {
    const { pools } = await range.rangePools([a, b], { fee, version: 'v4' }, at())
    return (pools[0] as TickPool | undefined) ?? expect.fail(`there is no pool of ${a.symbol} and ${b.symbol} at ${fee}`)
  }
  /** Bounds so many tick spacings from the price. */
  const about = ({ tick, tickSpacing }: TickPool, below: number, above: number): TickRange => {
    const nearest = Math.floor(tick / tickSpacing)
    return rangeOf((nearest + below) * tickSpacing, (nearest + above) * tickSpacing)
  }
  const tokenAt = (address: string): Token =>
    [ETH, WETH, USDC, DAI, WBTC].find((token) => token.address === address) ?? expect.fail(address)

  /** Carries a plan out. What the wallet got of both tokens, by its balances and without gas; below 0: paid. */
  async function carryOut(plan: Plan<Evm>, { token0, token1 }: TickPool): Promise<{ receipt: EvmReceipt; moved: readonly bigint[] }> {
    const ends = [tokenAt(token0), tokenAt(token1)]
    const before = await Promise.all(ends.map((token) => fixture.balance(token)))
    const receipt = await fixture.execute(plan)
    const gasRaw = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
    const after = await Promise.all(ends.map((token) => fixture.balance(token)))
    return { receipt, moved: ends.map(({ native }, i) => (after[i] ?? 0n) - (before[i] ?? 0n) + (native ? gasRaw : 0n)) }
  }
  async function add(pool: TickPool, ticks: TickRange, offered: RangeAmounts, changed: Partial<RangeTerms> = {}, position?: TickPosition) {
    const { slippage } = terms(changed)
    const { most: _most, ends: _ends, ...expected } = range.deposit(pool, ticks, offered, slippage)
    const more = position && { position, tokenId: position.tokenId }
    const plan = range.add({ pool, range: ticks, most: offered, ...more }, terms(changed))
    const { receipt, moved } = await carryOut(plan, pool)
    expect(receipt.status).to.equal(1)
    const fill = range.rangeFill(receipt, plan.memo) ?? expect.fail('the receipt shows no addition')
    return { expected, fill, moved, plan }
  }
  const held = async (tokenId: string): Promise<TickPosition> => {
    const found = await range.positionOf?.({ tokenId, version: 'v4' }, at())
    return (found?.position as TickPosition | undefined) ?? expect.fail(`there is no position ${tokenId}`)
  }
  /** Sells through this pool alone. */
  async function sell(tokenIn: Token, tokenOut: Token, amountRaw: bigint, pool: string) {
    const quote = await exchange.AMM.quote({ tokenIn, tokenOut, exact: 'in', amountRaw }, { pool }, at())
    const { deadline } = terms()
    const receipt = await fixture.execute(exchange.AMM.swap(quote, { recipient: owner, boundRaw: 0n, deadline }))
    expect(receipt.status).to.equal(1)
  }
  const sum = (a: RangeAmounts, b: RangeAmounts) => [a.amount0Raw + b.amount0Raw, a.amount1Raw + b.amount1Raw]

  it('have spenders of their own, which take tokens by Permit2', () => {
    expect(exchange.spenders?.['v4Positions']).to.equal(manager)
    expect(exchange.permit2).to.deep.include({ address: permit2Address, spenders: [exchange.spenders?.['v4'], manager] })
    expect(range.rangeVersions).to.deep.equal(['v3', 'v4'])
    expect(range.positionManagers).to.deep.equal({ v3: exchange.spenders?.['positions'], v4: manager })
  })

  for (const [name, a, b, fee, offered] of [
    ['the native coin', 'ETH', USDC, 500, { amount0Raw: parseEther('1'), amount1Raw: 3_000_000_000n }],
    ['the wrapped coin', WETH, USDC, 3000, { amount0Raw: parseEther('1'), amount1Raw: 3_000_000_000n }],
    ['two tokens, with fees of the protocol', DAI, USDC, 500, { amount0Raw: parseEther('1000'), amount1Raw: 1_000_000_000n }],
  ] as const) {
    it(`take and give to the unit what they show: ${name}`, async () => {
      const first = a === 'ETH' ? ETH : a
      const pool = await poolOf(first, b, fee)
      const most = pool.token0 === first.address ? offered : { amount0Raw: offered.amount1Raw, amount1Raw: offered.amount0Raw }
      const ticks = about(pool, -100, 120)
      const { expected, fill, moved } = await add(pool, ticks, most)
      const { tokenId, ...added } = fill
      expect(added).to.deep.equal(expected)
      expect(moved).to.deep.equal([-fill.amount0Raw, -fill.amount1Raw])
      expect(fill.amount0Raw <= most.amount0Raw && fill.amount1Raw <= most.amount1Raw).to.equal(true)
      expect(await held(tokenId)).to.deep.include({
        tokenId,
        owner,
        liquidity: expected.liquidity,
        unclaimed: { amount0Raw: 0n, amount1Raw: 0n },
      })

      // Fees of both tokens.
      await sell(first, b, first.decimals === 18 ? parseEther('0.1') : 100_000_000n, pool.address)
      await sell(b, first, 50_000_000n, pool.address)
      const earning = await held(tokenId)
      expect(earning.unclaimed.amount0Raw > 0n && earning.unclaimed.amount1Raw > 0n).to.equal(true)

      // More of it pays the fees out beside.
      const more = await add(earning.pool, ticks, most, exactly, earning)
      expect(more.fill).to.deep.equal({ tokenId, ...more.expected })
      expect(more.moved).to.deep.equal([
        earning.unclaimed.amount0Raw - more.fill.amount0Raw,
        earning.unclaimed.amount1Raw - more.fill.amount1Raw,
      ])

      await sell(first, b, first.decimals === 18 ? parseEther('0.1') : 100_000_000n, pool.address)
      const collecting = await held(tokenId)
      const collect = range.collect(collecting, terms())
      const collected = await carryOut(collect, pool)
      expect(range.rangeFill(collected.receipt, collect.memo)).to.deep.equal({
        tokenId,
        liquidity: 0n,
        ...collecting.unclaimed,
        fees: collecting.unclaimed,
      })
      expect(collected.moved).to.deep.equal([collecting.unclaimed.amount0Raw, collecting.unclaimed.amount1Raw])

      await sell(b, first, 50_000_000n, pool.address)
      const whole = await held(tokenId)
      const half = whole.liquidity / 2n
      const remove = range.remove(whole, { liquidity: half, burn: false }, terms(exactly))
      const removed = await carryOut(remove, pool)
      const halfFill = range.rangeFill(removed.receipt, remove.memo)
      expect(halfFill?.liquidity).to.equal(half)
      expect(removed.moved).to.deep.equal([halfFill?.amount0Raw, halfFill?.amount1Raw])

      await sell(first, b, first.decimals === 18 ? parseEther('0.1') : 100_000_000n, pool.address)
      const last = await held(tokenId)
      expect(last.liquidity).to.equal(whole.liquidity - half)
      const burn = range.remove(last, { liquidity: last.liquidity, burn: true }, terms(exactly))
      const burnt = await carryOut(burn, pool)
      const [got0, got1] = sum(last.amounts, last.unclaimed)
      expect(range.rangeFill(burnt.receipt, burn.memo)).to.deep.equal({
        tokenId,
        liquidity: last.liquidity,
        amount0Raw: got0,
        amount1Raw: got1,
      })
      expect(burnt.moved).to.deep.equal([got0, got1])
      expect((await range.positionOf?.({ tokenId, version: 'v4' }, at()))?.position).to.equal(undefined)
    })
  }

  it('pay the native coin out of pools of the wrapped one where asked', async () => {
    const pool = await poolOf(WETH, USDC, 3000)
    const { fill } = await add(pool, about(pool, -10, 10), { amount0Raw: parseEther('1'), amount1Raw: parseEther('1') }, exactly)
    const position = await held(fill.tokenId)
    const before = await fixture.balance(ETH)
    const plan = range.remove(position, { liquidity: position.liquidity, burn: false }, terms({ native: true }))
    const { receipt, moved } = await carryOut(plan, pool)
    const removed = range.rangeFill(receipt, plan.memo)
    const coinSide = pool.token0 === WETH.address ? 0 : 1
    const coinRaw = [removed?.amount0Raw, removed?.amount1Raw][coinSide]
    expect(moved[coinSide]).to.equal(0n)
    expect((await fixture.balance(ETH)) - before + BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)).to.equal(coinRaw)
    expect(removed).to.deep.include(position.amounts)
    // An empty one has nothing but its id.
    const empty = await held(fill.tokenId)
    const burn = range.remove(empty, { liquidity: 0n, burn: true }, terms())
    const burnt = await carryOut(burn, pool)
    expect(range.rangeFill(burnt.receipt, burn.memo)).to.deep.equal({
      tokenId: fill.tokenId,
      liquidity: 0n,
      amount0Raw: 0n,
      amount1Raw: 0n,
    })
  })

  it('open anywhere within the slippage, and nowhere beyond it', async () => {
    const pool = await poolOf(ETH, USDC, 500)
    const offered = { amount0Raw: parseEther('1'), amount1Raw: 3_000_000_000n }
    const ticks = about(pool, -60, 60)
    const [loose, strict] = [{}, exactly].map((changed) => range.add({ pool, range: ticks, most: offered }, terms(changed)))
    await sell(ETH, USDC, parseEther('1'), pool.address)
    expect((await carryOut(strict ?? expect.fail(), pool)).receipt.status).to.equal(0)
    const { receipt, moved } = await carryOut(loose ?? expect.fail(), pool)
    expect(receipt.status).to.equal(1)
    const fill = range.rangeFill(receipt, loose?.memo ?? null)
    expect(moved).to.deep.equal([-(fill?.amount0Raw ?? 0n), -(fill?.amount1Raw ?? 0n)])
    expect((fill?.amount0Raw ?? 0n) <= offered.amount0Raw && (fill?.amount1Raw ?? 0n) <= offered.amount1Raw).to.equal(true)

    const position = await held(fill?.tokenId ?? '')
    const remove = range.remove(position, { liquidity: position.liquidity, burn: false }, terms(exactly))
    await sell(USDC, ETH, 1_000_000_000n, pool.address)
    expect((await carryOut(remove, pool)).receipt.status).to.equal(0)
    const late = range.remove(position, { liquidity: position.liquidity, burn: false }, terms({ deadline: 1 }))
    expect((await carryOut(late, pool)).receipt.status).to.equal(0)
  })

  it('work in a pool of odd tick spacing, to the ends of all prices, with one unit of liquidity and a range of one spacing', async () => {
    const pool = await poolOf(WBTC, USDC, 777)
    expect(pool.tickSpacing).to.equal(7)
    const lowest = Math.trunc(-887272 / 7) * 7
    for (const [ticks, offered, changed = {}] of [
      [rangeOf(lowest, -lowest), { amount0Raw: 1_000_000n, amount1Raw: 9_000_000n }],
      [about(pool, 0, 1), { amount0Raw: 1_000n, amount1Raw: 9_000n }],
      [about(pool, 3, 4), { amount0Raw: 1_000n, amount1Raw: 0n }],
      [about(pool, -4, -3), { amount0Raw: 0n, amount1Raw: 1_000n }],
      [rangeOf(lowest, -lowest), { amount0Raw: 1n, amount1Raw: 3n }, exactly],
    ] as const) {
      const { expected, fill, moved } = await add(pool, ticks, offered, changed)
      expect(fill).to.deep.equal({ tokenId: fill.tokenId, ...expected })
      expect(moved).to.deep.equal([-fill.amount0Raw, -fill.amount1Raw])
      const position = await held(fill.tokenId)
      const plan = range.remove(position, { liquidity: 1n, burn: false }, terms())
      const one = await carryOut(plan, pool)
      expect(range.rangeFill(one.receipt, plan.memo)).to.deep.include({ tokenId: fill.tokenId, liquidity: 1n })
      const left = await held(fill.tokenId)
      expect(left.liquidity).to.equal(expected.liquidity - 1n)
      if (changed === exactly) expect(expected.liquidity).to.equal(1n)
      if (left.liquidity === 0n) continue
      const rest = range.remove(left, { liquidity: left.liquidity, burn: true }, terms())
      const paid = await carryOut(rest, pool)
      expect(paid.moved).to.deep.equal([left.amounts.amount0Raw, left.amounts.amount1Raw])
    }
  })

  it('fail where hooks act on liquidity, and where past prices are asked for', async () => {
    const refusal = await rejection(range.rangePools([WBTC, USDC], { fee: 888, version: 'v4' }, at()))
    expect(refusal.name).to.equal('UNSUPPORTED')
    expect(refusal.message).to.contain(guarded.hooks)
    const pool = await poolOf(DAI, USDC, 500)
    const past = await rejection(range.history(pool, [1, 0], at()))
    expect([past.name, past.message.includes('no past prices')]).to.deep.equal(['PRICE_FAILED', true])
  })

  it('follow the transfers of a wallet, with those that it was sent and without those that it sent away', async () => {
    const other = Wallet.createRandom(fixture.provider)
    await (await fixture.trader.sendTransaction({ to: other.address, value: parseEther('1') })).wait()
    const listOf = async (wallet: string) => {
      const found = await range.positionsOf?.({ owner: wallet, version: 'v4' }, at())
      return { ids: found?.positions.map(({ tokenId }) => tokenId), searchedFromBlock: found?.searchedFromBlock, missing: found?.missing }
    }
    expect(await listOf(other.address)).to.deep.equal({ ids: [], searchedFromBlock: undefined, missing: undefined })
    const pool = await poolOf(DAI, USDC, 500)
    const made = []
    for (const _ of [1, 2])
      made.push((await add(pool, about(pool, -3, 3), { amount0Raw: parseEther('10'), amount1Raw: parseEther('10') })).fill.tokenId)
    const [kept = '', sent = ''] = made
    const send = (from: Wallet | typeof other, to: string) =>
      new Contract(manager, managerAbi, from).getFunction('transferFrom')(from.address, to, sent, { gasLimit: 300_000n })
    expect((await listOf(owner)).ids).to.include.members([kept, sent])
    expect((await fixture.mined((await send(fixture.trader, other.address)).hash)).status).to.equal(1)
    expect((await listOf(owner)).ids)
      .to.include(kept)
      .and.not.include(sent)
    expect(await listOf(other.address)).to.deep.equal({ ids: [sent], searchedFromBlock: 0, missing: undefined })
    expect((await held(sent)).owner).to.equal(other.address)
    const both = await range.positionsOf?.({ owner }, at())
    expect(new Set(both?.positions.map((each) => each.pool.version))).to.deep.equal(new Set(['v4']))
    expect((await fixture.mined((await send(other, owner)).hash)).status).to.equal(1)
    expect((await listOf(owner)).ids).to.include.members([kept, sent])
  })

  it('that nobody could search for are counted, and listed where the server knows their ids', async () => {
    const pool = await poolOf(DAI, USDC, 500)
    const { fill } = await add(pool, about(pool, -3, 3), { amount0Raw: parseEther('10'), amount1Raw: parseEther('10') })
    const venue = fixture.venue(defaults.contractAddresses.local)
    const logs = async () => {
      throw new SluiceError('NETWORK', 'no logs here')
    }
    const blind = uniswap.create({ ...venue, reader: { ...venue.reader, logs }, config: defaults }).AMM_RANGE
    const found = await blind?.positionsOf?.({ owner }, at())
    expect([found?.positions, found?.notSearched, found?.searchedFromBlock]).to.deep.equal([[], 'no logs here', undefined])
    const count = found?.missing ?? 0
    expect(count).to.be.above(0)
    // Of somebody else, of nobody, and its own.
    const known = await blind?.positionsOf?.({ owner, known: ['1', String(10n ** 30n), fill.tokenId] }, at())
    expect(known?.positions.map(({ tokenId }) => tokenId)).to.deep.equal([fill.tokenId])
    expect(known?.missing ?? 0).to.equal(count - 1)
  })
})

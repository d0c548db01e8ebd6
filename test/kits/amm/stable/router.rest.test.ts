import { expect } from 'chai'
import { Contract, Wallet, hexlify, randomBytes } from 'ethers'
import type { Json, Quote, Swap, Token } from '../../../../core/contracts/index.ts'
import { stableSwap } from '../../../../kits/amm/stable/index.ts'
import { rejection } from '../v2/rejection.ts'
import { at, tokens } from '../v2/trading-floor.ts'
import { openStableFloor, type StableFloor } from './stable-floor.ts'

const { WETH, USDC, DAI, USDT, WBTC } = tokens
const inTenMinutes = () => Math.floor(Date.now() / 1000) + 600
const loose = ({ swap, amountRaw }: Quote) => (swap.exact === 'in' ? (amountRaw * 99n) / 100n : (amountRaw * 101n) / 100n)

describe('swaps of an exchange of stable pools', () => {
  let floor: StableFloor
  let eth: Token
  before(async () => {
    floor = await openStableFloor()
    eth = floor.chain.nativeCurrency
  })
  after(() => floor.close())

  const planned = (quote: Quote, terms: { boundRaw?: bigint; deadline?: number; recipient?: string } = {}) =>
    floor.amm.swap(quote, { recipient: floor.trader.address, boundRaw: loose(quote), deadline: inTenMinutes(), ...terms })
  const quoted = (tokenIn: Token, tokenOut: Token, exact: 'in' | 'out', amountRaw: bigint) =>
    floor.amm.quote({ tokenIn, tokenOut, exact, amountRaw }, {}, at())

  const swaps: readonly [string, () => Swap][] = [
    ['an exact amount in', () => ({ tokenIn: DAI, tokenOut: USDC, exact: 'in', amountRaw: 123_456_789_012_345_678_901n })],
    ['an exact amount out', () => ({ tokenIn: DAI, tokenOut: USDC, exact: 'out', amountRaw: 99_999_999n })],
    ['finer units out than in', () => ({ tokenIn: USDC, tokenOut: DAI, exact: 'out', amountRaw: 10n ** 19n + 1n })],
    ['a token whose transfers return nothing', () => ({ tokenIn: USDT, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 8n })],
    ['into a token whose transfers return nothing', () => ({ tokenIn: USDC, tokenOut: USDT, exact: 'out', amountRaw: 10n ** 8n })],
    ['two pools', () => ({ tokenIn: DAI, tokenOut: WETH, exact: 'in', amountRaw: 3n * 10n ** 18n })],
    ['two pools, an exact amount out', () => ({ tokenIn: WETH, tokenOut: DAI, exact: 'out', amountRaw: 3n * 10n ** 18n })],
    ['the coin, an exact amount in', () => ({ tokenIn: eth, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 18n })],
    [
      'the coin, an exact amount out, with the rest given back',
      () => ({ tokenIn: eth, tokenOut: USDT, exact: 'out', amountRaw: 2_000_000n }),
    ],
    ['for the coin, an exact amount in', () => ({ tokenIn: USDC, tokenOut: eth, exact: 'in', amountRaw: 3_000_000n })],
    ['for the coin, an exact amount out', () => ({ tokenIn: DAI, tokenOut: eth, exact: 'out', amountRaw: 10n ** 18n })],
  ]
  for (const [name, swapOf] of swaps) {
    it(`give what was quoted, by the fill and by the balances, and leave nothing with the router: ${name}`, async () => {
      const swap = swapOf()
      const quote = await floor.amm.quote(swap, {}, at())
      const held = await Promise.all([floor.balance(swap.tokenIn), floor.balance(swap.tokenOut)])
      const plan = planned(quote)
      const receipt = await floor.execute(plan)
      expect(receipt.status).to.equal(1)

      const fill = floor.amm.fill(receipt, JSON.parse(JSON.stringify(plan.memo)))
      if (!fill) throw new Error('There is no fill.')
      expect(swap.exact === 'in' ? [fill.amountInRaw, fill.amountOutRaw] : fill.amountInRaw).to.deep.equal(
        swap.exact === 'in' ? [swap.amountRaw, quote.amountRaw] : quote.amountRaw,
      )
      if (swap.exact === 'out') expect(fill.amountOutRaw >= swap.amountRaw).to.equal(true)

      const gasRaw = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
      const gasOf = (token: Token) => (token.native ? gasRaw : 0n)
      expect(await floor.balance(swap.tokenIn)).to.equal((held[0] ?? 0n) - fill.amountInRaw - gasOf(swap.tokenIn))
      expect(await floor.balance(swap.tokenOut)).to.equal((held[1] ?? 0n) + fill.amountOutRaw - gasOf(swap.tokenOut))

      const router = await floor.router.getAddress()
      for (const token of [WETH, USDC, DAI, USDT, eth]) expect(await floor.balance(token, router)).to.equal(0n)
      for (const { pool, tokenIn } of quote.route) expect(await allowance(tokenIn, router, pool)).to.equal(0n)
      expect(Number(quote.gasUnits)).to.be.within(Number(receipt.gasUsed) * 0.8, Number(receipt.gasUsed) * 1.6)
    })
  }

  const allowance = async (token: string, owner: string, spender: string): Promise<bigint> =>
    new Contract(token, ['function allowance(address, address) view returns (uint256)'], floor.provider).getFunction('allowance')(
      owner,
      spender,
    )

  it('buys for more, up to the bound, where the price has moved, and for no more than it needs', async () => {
    for (const [tokenIn, tokenOut, amountRaw] of [
      [USDC, DAI, 100n * 10n ** 18n],
      [DAI, USDT, 100n * 10n ** 6n],
      [DAI, WETH, 10n ** 18n],
    ] as const) {
      const quote = await quoted(tokenIn, tokenOut, 'out', amountRaw)
      const plan = planned(quote, { boundRaw: quote.amountRaw * 2n })
      await floor.execute(
        planned(await quoted(tokenIn, tokenOut === WETH ? USDC : tokenOut, 'in', 1000n * 10n ** BigInt(tokenIn.decimals))),
      )
      const now = await quoted(tokenIn, tokenOut, 'out', amountRaw)
      expect(now.amountRaw > quote.amountRaw).to.equal(true)

      const fill = floor.amm.fill(await floor.execute(plan), plan.memo)
      if (!fill) throw new Error('There is no fill.')
      expect(fill.amountOutRaw >= amountRaw).to.equal(true)
      expect(fill.amountInRaw >= now.amountRaw).to.equal(true)
      // What it is found by has a unit of doubt in each pool.
      const units = 3n * 10n ** 12n * (tokenIn.decimals === 18 ? 1n : 0n) + 3n
      expect(fill.amountInRaw - now.amountRaw <= units, `${fill.amountInRaw - now.amountRaw}`).to.equal(true)
    }
  })

  it('reverts past the bound and past the deadline, and says why', async () => {
    const quotes = [await quoted(USDC, DAI, 'in', 10n ** 8n), await quoted(USDC, DAI, 'out', 10n ** 20n)]
    const reason = async (plan: ReturnType<typeof planned>) => {
      const [{ to, data }] = plan.steps
      expect((await floor.execute(plan)).status).to.equal(0)
      return floor.provider.call({ to, data, from: floor.trader.address }).then(
        () => 'none',
        (error: { reason?: string }) => error.reason,
      )
    }
    const [sell, buy] = quotes
    if (!sell || !buy) throw new Error('There are no quotes.')
    expect(await reason(planned(sell, { boundRaw: sell.amountRaw + 1n }))).to.equal('StableRouter: INSUFFICIENT_OUTPUT_AMOUNT')
    expect(await reason(planned(buy, { boundRaw: buy.amountRaw - 1n }))).to.equal('StableRouter: EXCESSIVE_INPUT_AMOUNT')
    const past = { deadline: Math.floor(Date.now() / 1000) - 60 }
    for (const quote of quotes) expect(await reason(planned(quote, past))).to.equal('StableRouter: EXPIRED')
  })

  it('pays whom it is told to, and finds no fill of another', async () => {
    const recipient = Wallet.createRandom().address
    const plan = planned(await quoted(USDC, DAI, 'in', 10n ** 8n), { recipient })
    const receipt = await floor.execute(plan)
    const fill = floor.amm.fill(receipt, plan.memo)
    expect(await floor.balance(DAI, recipient)).to.equal(fill?.amountOutRaw)
    expect(floor.amm.fill({ ...receipt, from: recipient }, plan.memo)).to.equal(undefined)
    expect(floor.amm.fill({ ...receipt, status: 0 }, plan.memo)).to.equal(undefined)
    const others: readonly Json[] = [null, {}, { router: 1, recipient }, { router: USDC.address, recipient }]
    for (const memo of others) expect(floor.amm.fill(receipt, memo)).to.equal(undefined)
  })

  it('leaves nothing allowed to what is no pool, and cannot be made to pay out what it did not take', async () => {
    const thief = hexlify(randomBytes(20))
    // Says true to everything, takes nothing and gives nothing.
    await floor.provider.send('anvil_setCode', [thief, '0x600160005260206000f3'])
    const terms = [USDC.address, floor.trader.address, false, inTenMinutes()]
    await (await floor.router.getFunction('sell')(terms, 1000n, 0n, [[thief, 0, 1, DAI.address]])).wait()
    const router = await floor.router.getAddress()
    expect(await allowance(USDC.address, router, thief)).to.equal(0n)
    // What somebody lost there is nobody's.
    expect(await floor.balance(USDC, router)).to.equal(1000n)
    await (await floor.router.getFunction('sell')([USDC.address, thief, false, inTenMinutes()], 5n, 0n, [])).wait()
    expect([await floor.balance(USDC, router), await floor.balance(USDC, thief)]).to.deep.equal([1000n, 5n])
    const quote = await quoted(DAI, USDC, 'in', 10n ** 18n)
    const plan = planned(quote)
    expect(floor.amm.fill(await floor.execute(plan), plan.memo)?.amountOutRaw).to.equal(quote.amountRaw)
    expect(await floor.balance(USDC, router)).to.equal(1000n)
  })

  it('moves the tokens of the sender alone', async () => {
    const stranger = Wallet.createRandom().address
    const terms = [USDC.address, stranger, false, inTenMinutes()]
    const stolen = floor.router.getFunction('sell').staticCall(terms, 1000n, 0n, [], { from: stranger })
    expect(
      await stolen.then(
        () => 'taken',
        () => 'refused',
      ),
    ).to.equal('refused')
  })

  it('quotes nothing where there is no router, or a pool has other coins than the plugin says', async () => {
    const [pool] = floor.pools
    const swap: Swap = { tokenIn: DAI, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 18n }
    const router = await floor.router.getAddress()
    const swapped = { ...pool, coins: [pool.coins[0], pool.coins[2], pool.coins[1], pool.coins[3]].flatMap((coin) => coin ?? []) }
    for (const [amm, says] of [
      [floor.ammOf([pool], Wallet.createRandom().address), 'There is no StableRouter at'],
      [floor.ammOf([pool], pool.address), 'There is no StableRouter at'],
      [floor.ammOf([swapped], router), 'its coin 1 is'],
    ] as const) {
      const refusal = await rejection(amm.quote(swap, {}, at()))
      expect(refusal.name).to.equal('SERVICE_UNINITIALIZED')
      expect(refusal.message).to.include(says)
    }
  })

  it('says what cannot be had', async () => {
    const name = async (...asked: Parameters<typeof quoted>) => (await rejection(quoted(...asked))).name
    expect(await name(DAI, WBTC, 'in', 10n ** 18n)).to.equal('PRICE_FAILED')
    expect(await name(DAI, USDC, 'out', 10n ** 12n)).to.equal('PRICE_FAILED')
    expect(await name(DAI, USDC, 'in', 1n)).to.equal('PRICE_FAILED')
    expect(await name(DAI, USDC, 'in', 2n ** 250n)).to.equal('PRICE_FAILED')
  })

  it('takes addresses in any spelling', async () => {
    const small = floor.pools.map(({ address, coins, ...rest }) => ({
      ...rest,
      address: address.toLowerCase(),
      coins: coins.map((coin) => ({ ...coin, address: coin.address.toLowerCase() })),
    }))
    const swap: Swap = { tokenIn: DAI, tokenOut: WETH, exact: 'in', amountRaw: 10n ** 18n }
    const { route } = await floor.ammOf(small, await floor.router.getAddress()).quote(swap, {}, at())
    expect(route.map(({ pool }) => pool)).to.deep.equal(floor.pools.map(({ address }) => address))
  })

  it('asks in one round trip', async () => {
    await quoted(DAI, USDC, 'in', 10n ** 18n)
    floor.counted.rpc = 0
    await quoted(DAI, WETH, 'in', 10n ** 18n)
    expect(floor.counted.rpc).to.equal(1)
  })

  it('is refused without pools or a router for the network', () => {
    const venue = floor.venue({ routerAddress: USDC.address })
    expect(() => stableSwap(venue, { pools: {} })).to.throw('The plugin has no pools for ethereum/local')
    const [pool] = floor.pools
    for (const [wrong, says] of [
      [{ ...pool, coins: pool.coins.slice(0, 1) }, 'fewer than two coins'],
      [{ ...pool, coins: pool.coins.map((coin) => ({ ...coin, decimals: 19 })) }, 'has 19 decimals'],
    ] as const)
      expect(() => stableSwap(venue, { pools: { 'ethereum/local': [wrong] } })).to.throw(says)
    expect(() => stableSwap(floor.venue({}), { pools: { 'ethereum/local': floor.pools } })).to.throw('has no routerAddress')
  })
})

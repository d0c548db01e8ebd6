import { expect } from 'chai'
import { Contract, Wallet, hexlify, randomBytes } from 'ethers'
import type { Json, Quote, Swap, Token } from '../../../../core/contracts/index.ts'
import { poolAMM } from '../../../../kits/amm/index.ts'
import { stableSwap } from '../../../../kits/amm/stable/index.ts'
import { rejection } from '../v2/rejection.ts'
import { at, tokens } from '../devnet-fixture.ts'
import { openStableFixture, type StableFixture } from './stable-fixture.ts'

const { WETH, USDC, DAI, USDT, WBTC } = tokens
const inTenMinutes = () => Math.floor(Date.now() / 1000) + 600
const loose = ({ swap, amountRaw }: Quote) => (swap.exact === 'in' ? (amountRaw * 99n) / 100n : (amountRaw * 101n) / 100n)

describe('swaps of an exchange of stable pools', () => {
  let fixture: StableFixture
  let eth: Token
  before(async () => {
    fixture = await openStableFixture()
    eth = fixture.chain.nativeCurrency
  })
  after(() => fixture.close())

  const planned = (quote: Quote, terms: { boundRaw?: bigint; deadline?: number; recipient?: string } = {}) =>
    fixture.amm.swap(quote, { recipient: fixture.trader.address, boundRaw: loose(quote), deadline: inTenMinutes(), ...terms })
  const quoted = (tokenIn: Token, tokenOut: Token, exact: 'in' | 'out', amountRaw: bigint) =>
    fixture.amm.quote({ tokenIn, tokenOut, exact, amountRaw }, {}, at())

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
      const quote = await fixture.amm.quote(swap, {}, at())
      const held = await Promise.all([fixture.balance(swap.tokenIn), fixture.balance(swap.tokenOut)])
      const plan = planned(quote)
      const receipt = await fixture.execute(plan)
      expect(receipt.status).to.equal(1)

      const fill = fixture.amm.fill(receipt, JSON.parse(JSON.stringify(plan.memo)))
      if (!fill) throw new Error('There is no fill.')
      expect(swap.exact === 'in' ? [fill.amountInRaw, fill.amountOutRaw] : fill.amountInRaw).to.deep.equal(
        swap.exact === 'in' ? [swap.amountRaw, quote.amountRaw] : quote.amountRaw,
      )
      if (swap.exact === 'out') expect(fill.amountOutRaw >= swap.amountRaw).to.equal(true)

      const gasRaw = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
      const gasOf = (token: Token) => (token.native ? gasRaw : 0n)
      expect(await fixture.balance(swap.tokenIn)).to.equal((held[0] ?? 0n) - fill.amountInRaw - gasOf(swap.tokenIn))
      expect(await fixture.balance(swap.tokenOut)).to.equal((held[1] ?? 0n) + fill.amountOutRaw - gasOf(swap.tokenOut))

      const router = await fixture.router.getAddress()
      for (const token of [WETH, USDC, DAI, USDT, eth]) expect(await fixture.balance(token, router)).to.equal(0n)
      for (const { pool, tokenIn } of quote.route) expect(await allowance(tokenIn, router, pool)).to.equal(0n)
      expect(Number(quote.gasUnits)).to.be.within(Number(receipt.gasUsed) * 0.8, Number(receipt.gasUsed) * 1.6)
    })
  }

  const allowance = async (token: string, owner: string, spender: string): Promise<bigint> =>
    new Contract(token, ['function allowance(address, address) view returns (uint256)'], fixture.provider).getFunction('allowance')(
      owner,
      spender,
    )

  it('buys for more where the price moved, up to the bound, and for no more than it needs', async () => {
    for (const [tokenIn, tokenOut, amountRaw] of [
      [USDC, DAI, 100n * 10n ** 18n],
      [DAI, USDT, 100n * 10n ** 6n],
      [DAI, WETH, 10n ** 18n],
    ] as const) {
      const quote = await quoted(tokenIn, tokenOut, 'out', amountRaw)
      const plan = planned(quote, { boundRaw: quote.amountRaw * 2n })
      await fixture.execute(
        planned(await quoted(tokenIn, tokenOut === WETH ? USDC : tokenOut, 'in', 1000n * 10n ** BigInt(tokenIn.decimals))),
      )
      const now = await quoted(tokenIn, tokenOut, 'out', amountRaw)
      expect(now.amountRaw > quote.amountRaw).to.equal(true)

      const fill = fixture.amm.fill(await fixture.execute(plan), plan.memo)
      if (!fill) throw new Error('There is no fill.')
      expect(fill.amountOutRaw >= amountRaw).to.equal(true)
      expect(fill.amountInRaw >= now.amountRaw).to.equal(true)
      // The search has an uncertainty of one unit in each pool.
      const units = 3n * 10n ** 12n * (tokenIn.decimals === 18 ? 1n : 0n) + 3n
      expect(fill.amountInRaw - now.amountRaw <= units, `${fill.amountInRaw - now.amountRaw}`).to.equal(true)
    }
  })

  it('reverts past the bound and past the deadline, with the reason', async () => {
    const quotes = [await quoted(USDC, DAI, 'in', 10n ** 8n), await quoted(USDC, DAI, 'out', 10n ** 20n)]
    const reason = async (plan: ReturnType<typeof planned>) => {
      const [{ to, data }] = plan.steps
      expect((await fixture.execute(plan)).status).to.equal(0)
      return fixture.provider.call({ to, data, from: fixture.trader.address }).then(
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

  it('pays the recipient, and finds no fill of another swap', async () => {
    const recipient = Wallet.createRandom().address
    const plan = planned(await quoted(USDC, DAI, 'in', 10n ** 8n), { recipient })
    const receipt = await fixture.execute(plan)
    const fill = fixture.amm.fill(receipt, plan.memo)
    expect(await fixture.balance(DAI, recipient)).to.equal(fill?.amountOutRaw)
    expect(fixture.amm.fill({ ...receipt, from: recipient }, plan.memo)).to.equal(undefined)
    expect(fixture.amm.fill({ ...receipt, status: 0 }, plan.memo)).to.equal(undefined)
    const others: readonly Json[] = [null, {}, { router: 1, recipient }, { router: USDC.address, recipient }]
    for (const memo of others) expect(fixture.amm.fill(receipt, memo)).to.equal(undefined)
  })

  it('leaves no allowance to a false pool, and cannot be made to pay out what it did not take', async () => {
    const thief = hexlify(randomBytes(20))
    // Answers true to every call, takes nothing and gives nothing.
    await fixture.provider.send('anvil_setCode', [thief, '0x600160005260206000f3'])
    const terms = [USDC.address, fixture.trader.address, false, inTenMinutes()]
    await (await fixture.router.getFunction('sell')(terms, 1000n, 0n, [[thief, 0, 1, DAI.address]])).wait()
    const router = await fixture.router.getAddress()
    expect(await allowance(USDC.address, router, thief)).to.equal(0n)
    // Tokens that somebody sent there by mistake belong to nobody.
    expect(await fixture.balance(USDC, router)).to.equal(1000n)
    await (await fixture.router.getFunction('sell')([USDC.address, thief, false, inTenMinutes()], 5n, 0n, [])).wait()
    expect([await fixture.balance(USDC, router), await fixture.balance(USDC, thief)]).to.deep.equal([1000n, 5n])
    const quote = await quoted(DAI, USDC, 'in', 10n ** 18n)
    const plan = planned(quote)
    expect(fixture.amm.fill(await fixture.execute(plan), plan.memo)?.amountOutRaw).to.equal(quote.amountRaw)
    expect(await fixture.balance(USDC, router)).to.equal(1000n)
  })

  it('moves the tokens of the sender alone', async () => {
    const stranger = Wallet.createRandom().address
    const terms = [USDC.address, stranger, false, inTenMinutes()]
    const stolen = fixture.router.getFunction('sell').staticCall(terms, 1000n, 0n, [], { from: stranger })
    expect(
      await stolen.then(
        () => 'taken',
        () => 'refused',
      ),
    ).to.equal('refused')
  })

  it('quotes nothing where the router is missing, or a pool has other coins than the plugin lists', async () => {
    const [pool] = fixture.pools
    const swap: Swap = { tokenIn: DAI, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 18n }
    const router = await fixture.router.getAddress()
    const swapped = { ...pool, coins: [pool.coins[0], pool.coins[2], pool.coins[1], pool.coins[3]].flatMap((coin) => coin ?? []) }
    for (const [amm, says] of [
      [fixture.ammOf([pool], Wallet.createRandom().address), 'There is no StableRouter at'],
      [fixture.ammOf([pool], pool.address), 'reverts when its stableRouter() is called: it may be paused'],
      [fixture.ammOf([swapped], router), 'its coin 1 is'],
    ] as const) {
      const refusal = await rejection(amm.quote(swap, {}, at()))
      expect(refusal.name).to.equal('SERVICE_UNINITIALIZED')
      expect(refusal.message).to.include(says)
    }
  })

  it('refuses an output that no input gives', async () => {
    const name = async (...asked: Parameters<typeof quoted>) => (await rejection(quoted(...asked))).name
    expect(await name(DAI, WBTC, 'in', 10n ** 18n)).to.equal('PRICE_FAILED')
    expect(await name(DAI, USDC, 'out', 10n ** 12n)).to.equal('PRICE_FAILED')
    expect(await name(DAI, USDC, 'in', 1n)).to.equal('PRICE_FAILED')
    expect(await name(DAI, USDC, 'in', 2n ** 250n)).to.equal('PRICE_FAILED')
  })

  it('takes addresses in any spelling', async () => {
    const small = fixture.pools.map(({ address, coins, ...rest }) => ({
      ...rest,
      address: address.toLowerCase(),
      coins: coins.map((coin) => ({ ...coin, address: coin.address.toLowerCase() })),
    }))
    const swap: Swap = { tokenIn: DAI, tokenOut: WETH, exact: 'in', amountRaw: 10n ** 18n }
    const { route } = await fixture.ammOf(small, await fixture.router.getAddress()).quote(swap, {}, at())
    expect(route.map(({ pool }) => pool)).to.deep.equal(fixture.pools.map(({ address }) => address))
  })

  it('reads everything in one round trip', async () => {
    await quoted(DAI, USDC, 'in', 10n ** 18n)
    fixture.counted.rpc = 0
    await quoted(DAI, WETH, 'in', 10n ** 18n)
    expect(fixture.counted.rpc).to.equal(1)
  })

  it("sells through the exchange's own router where one is configured, and buys through ours", async () => {
    const venue = fixture.venue({ routerAddress: await fixture.router.getAddress(), exchangeRouterAddress: WBTC.address })
    const amm = poolAMM(venue, stableSwap(venue, { pools: { 'ethereum/local': fixture.pools } }))
    expect(Object.keys(amm.spenders)).to.deep.equal(['exchange', 'stable'])
    const swap = { tokenIn: DAI, tokenOut: USDC, amountRaw: 10n ** 6n } as const
    // What stands there is no such router.
    expect(String(await rejection(amm.quote({ ...swap, exact: 'in' }, {}, at())))).to.contain('exchangeRouterAddress')
    expect((await amm.quote({ ...swap, exact: 'out' }, {}, at())).spender).to.equal(amm.spenders['stable'])
    // A wallet that has approved ours goes on with it.
    const known = { spenders: [amm.spenders['stable'] ?? ''] }
    expect((await amm.quote({ ...swap, exact: 'in', amountRaw: 10n ** 18n }, known, at())).spender).to.equal(amm.spenders['stable'])
    // Where ours is not deployed, sales do not ask for it.
    const without = fixture.venue({ routerAddress: Wallet.createRandom().address, exchangeRouterAddress: WBTC.address })
    const other = poolAMM(without, stableSwap(without, { pools: { 'ethereum/local': fixture.pools } }))
    expect(String(await rejection(other.quote({ ...swap, exact: 'in' }, {}, at())))).to.contain('exchangeRouterAddress')
    expect(String(await rejection(other.quote({ ...swap, exact: 'out' }, {}, at())))).to.contain('StableRouter')
  })

  it('need pools and a router for the network', () => {
    const venue = fixture.venue({ routerAddress: USDC.address })
    expect(() => stableSwap(venue, { pools: {} })).to.throw('The plugin has no pools for ethereum/local')
    const [pool] = fixture.pools
    for (const [wrong, says] of [
      [{ ...pool, coins: pool.coins.slice(0, 1) }, 'fewer than two coins'],
      [{ ...pool, coins: pool.coins.map((coin) => ({ ...coin, decimals: 19 })) }, 'has 19 decimals'],
    ] as const)
      expect(() => stableSwap(venue, { pools: { 'ethereum/local': [wrong] } })).to.throw(says)
    expect(() => stableSwap(fixture.venue({}), { pools: { 'ethereum/local': fixture.pools } })).to.throw('has no routerAddress')
  })
})

import { expect } from 'chai'
import type { Quote, SwapTerms, Token } from '../../../../../core/contracts/index.ts'
import { readArtifact } from '../../../../../core/devnet/build-state.ts'
import { exchangeAt, type Exchange } from '../../../../../kits/amm/v3/exchange.ts'
import { v3Router, type RouterKind, parseMemo } from '../../../../../kits/amm/v3/router.ts'
import type { Router } from '../../../../../kits/amm/index.ts'
import { v2Deployments, v3Deployments } from '../../../../../plugins/uniswap/deployments.ts'
import { ContractFactory } from 'ethers'
import { addresses } from '../../../../devnet/addresses.ts'
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../../devnet-fixture.ts'
import { quotedBy, together, type Pass } from './quoted.ts'

const { WETH, USDC, DAI, WBTC, USDT } = tokens
const { router: router02, positionManager, factory } = addresses.rangeExchanges.uniswap
const zero = '0x0000000000000000000000000000000000000000'
const dollars = 1_000_000n
const ether = 10n ** 18n
const artifactsOfKit = new URL('../../../../../kits/amm/v3/devnet.ts', import.meta.url).href

const inTenMinutes = () => Math.floor(Date.now() / 1000) + 600
const loose = ({ swap, amountRaw }: Quote) => (swap.exact === 'in' ? (amountRaw * 99n) / 100n : (amountRaw * 101n) / 100n)

type Along = readonly [Token, ...(Token | Pass)[]]
interface Trade {
  readonly name: string
  readonly exact: 'in' | 'out'
  readonly amountRaw: bigint
  readonly along: (eth: Token) => Along
  /** Other routes of the same swap. */
  readonly beside?: readonly (readonly [amountRaw: bigint, along: Along])[]
}

const rangeTrades: readonly Trade[] = [
  { name: 'one pool', exact: 'in', amountRaw: 3000n * dollars, along: () => [USDC, 500, WETH] },
  { name: 'one pool, an exact amount out', exact: 'out', amountRaw: ether, along: () => [USDC, 3000, WETH] },
  { name: 'two pools', exact: 'in', amountRaw: 10n ** 22n, along: () => [DAI, 3000, WETH, 3000, WBTC] },
  { name: 'two pools, an exact amount out', exact: 'out', amountRaw: 10_000_000n, along: () => [DAI, 3000, WETH, 3000, WBTC] },
  { name: 'three pools', exact: 'in', amountRaw: 10n ** 22n, along: () => [DAI, 100, USDC, 500, WETH, 3000, WBTC] },
  { name: 'three pools, out', exact: 'out', amountRaw: 10_000_000n, along: () => [DAI, 500, USDC, 10000, WETH, 3000, WBTC] },
  { name: 'a token without return values', exact: 'in', amountRaw: 1000n * dollars, along: () => [USDT, 100, USDC] },
  { name: 'the coin in', exact: 'in', amountRaw: ether, along: (eth) => [eth, 500, USDC] },
  { name: 'the coin in, an exact amount out', exact: 'out', amountRaw: 3000n * dollars, along: (eth) => [eth, 500, USDC] },
  { name: 'the coin in by two pools, out', exact: 'out', amountRaw: ether * 3000n, along: (eth) => [eth, 500, USDC, 100, DAI] },
  { name: 'the coin out', exact: 'in', amountRaw: 3000n * dollars, along: (eth) => [USDC, 500, eth] },
  { name: 'the coin out, an exact amount of it', exact: 'out', amountRaw: ether, along: (eth) => [USDC, 500, eth] },
  { name: 'the coin out by two pools', exact: 'out', amountRaw: ether, along: (eth) => [DAI, 100, USDC, 500, eth] },
]
const splitTrades: readonly Trade[] = [
  {
    name: 'two ways at once',
    exact: 'in',
    amountRaw: 3000n * dollars,
    along: () => [USDC, 500, WETH],
    beside: [[1000n * dollars, [USDC, 3000, WETH]]],
  },
  {
    name: 'two ways at once, out',
    exact: 'out',
    amountRaw: ether,
    along: () => [USDC, 500, WETH],
    beside: [[ether / 3n, [USDC, 3000, WETH]]],
  },
  {
    name: 'three ways at once',
    exact: 'in',
    amountRaw: 10n ** 22n,
    along: () => [DAI, 100, USDC, 500, WETH],
    beside: [
      [10n ** 21n, [DAI, 3000, WETH]],
      [10n ** 20n, [DAI, 500, USDC, 3000, WETH]],
    ],
  },
  {
    name: 'three ways at once, out',
    exact: 'out',
    amountRaw: ether,
    along: () => [DAI, 3000, WETH],
    beside: [
      [ether / 2n, [DAI, 100, USDC, 500, WETH]],
      [ether / 7n, [DAI, 500, USDC, 3000, WETH]],
    ],
  },
]
const mixedSplits: readonly Trade[] = [
  {
    name: 'v2 and v3 at once',
    exact: 'in',
    amountRaw: 3000n * dollars,
    along: () => [USDC, 'v2', WETH],
    beside: [[2000n * dollars, [USDC, 500, WETH]]],
  },
  {
    name: 'v3 then v2, v2 then v3, and v3 at once',
    exact: 'in',
    amountRaw: 10n ** 21n,
    along: () => [DAI, 3000, WETH, 'v2', WBTC],
    beside: [
      [2n * 10n ** 21n, [DAI, 'v2', WETH, 3000, WBTC]],
      [10n ** 21n, [DAI, 100, USDC, 3000, WBTC]],
    ],
  },
]
const mixedTrades: readonly Trade[] = [
  { name: 'v2 then v3', exact: 'in', amountRaw: 10n ** 22n, along: () => [DAI, 'v2', WETH, 3000, WBTC] },
  { name: 'v3 then v2', exact: 'in', amountRaw: 10n ** 22n, along: () => [DAI, 3000, WETH, 'v2', WBTC] },
  { name: 'v2 twice, then v3', exact: 'in', amountRaw: 3000n * dollars, along: () => [USDT, 'v2', USDC, 'v2', WETH, 3000, WBTC] },
  { name: 'v3, then v2 twice', exact: 'in', amountRaw: 3000n * dollars, along: () => [USDT, 100, USDC, 'v2', WETH, 'v2', WBTC] },
  { name: 'v2, v3, v2', exact: 'in', amountRaw: 3000n * dollars, along: () => [USDT, 'v2', USDC, 500, WETH, 'v2', WBTC] },
  { name: 'v3, v2, v3', exact: 'in', amountRaw: 3000n * dollars, along: () => [USDT, 100, USDC, 'v2', WETH, 3000, WBTC] },
  { name: 'v3 twice, then v2', exact: 'in', amountRaw: 3000n * dollars, along: () => [USDT, 100, USDC, 500, WETH, 'v2', WBTC] },
  { name: 'the coin in, v2 first', exact: 'in', amountRaw: ether, along: (eth) => [eth, 'v2', USDC, 100, USDT] },
  { name: 'the coin in, v3 first', exact: 'in', amountRaw: ether, along: (eth) => [eth, 500, USDC, 'v2', USDT] },
  { name: 'the coin out, v2 last', exact: 'in', amountRaw: 3000n * dollars, along: (eth) => [USDT, 100, USDC, 'v2', eth] },
  { name: 'the coin out, v3 last', exact: 'in', amountRaw: 3000n * dollars, along: (eth) => [USDT, 'v2', USDC, 500, eth] },
]

describe('swaps by the routers of concentrated liquidity', () => {
  let fixture: DevnetFixture
  let eth: Token
  let quoted: Awaited<ReturnType<typeof quotedBy>>
  const exchanges = new Map<RouterKind, Exchange>()
  const routers = new Map<RouterKind, Router>()

  before(async () => {
    fixture = await openDevnetFixture()
    eth = fixture.chain.nativeCurrency
    quoted = await quotedBy(fixture)
    const { abi, bytecode } = await readArtifact('SwapRouter', artifactsOfKit)
    const swapRouter = await new ContractFactory(abi, bytecode, fixture.trader).deploy(factory, WETH.address)
    await swapRouter.waitForDeployment()
    for (const [kind, v3RouterAddress] of [
      ['SwapRouter02', router02],
      ['SwapRouter', await swapRouter.getAddress()],
    ] as const) {
      const exchange = exchangeAt(fixture.venue({ v3RouterAddress, positionManagerAddress: positionManager }), {
        deployments: v3Deployments,
        router: kind,
        mixedWith: { version: 'v2', deployments: v2Deployments },
      })
      exchanges.set(kind, exchange)
      routers.set(kind, v3Router(exchange, WETH.address))
      for (const { address } of [WETH, USDC, DAI, WBTC, USDT]) await fixture.approve(address, v3RouterAddress)
    }
  })
  after(() => fixture.close())

  const routerOf = (kind: RouterKind) => routers.get(kind) ?? expect.fail(kind)
  const quote = async (kind: RouterKind, { exact, amountRaw, along, beside = [] }: Omit<Trade, 'name'>): Promise<Quote> => {
    const of = (partRaw: bigint, way: Along) => quoted(exact, partRaw, way, routerOf(kind).address)
    const first = await of(amountRaw, along(eth))
    if (beside.length === 0) return first
    return together([first, ...(await Promise.all(beside.map(([partRaw, way]) => of(partRaw, way))))])
  }
  const planned = (kind: RouterKind, of: Quote, terms: Partial<SwapTerms> = {}) =>
    routerOf(kind).plan(of, { recipient: fixture.trader.address, boundRaw: loose(of), deadline: inTenMinutes(), ...terms })

  for (const [kind, trades] of [
    ['SwapRouter02', [...rangeTrades, ...mixedTrades, ...splitTrades, ...mixedSplits]],
    ['SwapRouter', [...rangeTrades, ...splitTrades]],
  ] as const) {
    for (const trade of trades) {
      it(`give what the exchange quotes, by the fill and by the balances: ${kind}, ${trade.name}`, async () => {
        const of = await quote(kind, trade)
        const { tokenIn, tokenOut, exact } = of.swap
        const held = await Promise.all([fixture.balance(tokenIn), fixture.balance(tokenOut)])
        const plan = planned(kind, of)
        const receipt = await fixture.execute(plan)
        expect(receipt.status).to.equal(1)

        const [amountInRaw, amountOutRaw] = exact === 'in' ? [of.swap.amountRaw, of.amountRaw] : [of.amountRaw, of.swap.amountRaw]
        expect(routerOf(kind).fill(receipt, JSON.parse(JSON.stringify(plan.memo)))).to.deep.equal({ amountInRaw, amountOutRaw })

        const gasRaw = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
        const now = await Promise.all([fixture.balance(tokenIn), fixture.balance(tokenOut)])
        expect(held[0] - now[0]).to.equal(amountInRaw + (tokenIn.native ? gasRaw : 0n))
        expect(now[1] - held[1]).to.equal(amountOutRaw - (tokenOut.native ? gasRaw : 0n))
        for (const token of [...of.route.map((hop) => ({ ...WETH, address: hop.tokenOut })), tokenIn, eth])
          expect(await fixture.balance(token, of.spender), 'left with the router').to.equal(0n)
      })
    }

    for (const trade of trades.filter((each) => each.along(WETH).length === 3 || each.beside || mixedTrades.slice(0, 2).includes(each))) {
      it(`revert past their bound and succeed exactly at it: ${kind}, ${trade.name}`, async () => {
        const of = await quote(kind, trade)
        const held = await fixture.balance(of.swap.tokenOut)
        const past = planned(kind, of, { boundRaw: of.amountRaw + (trade.exact === 'in' ? 1n : -1n) })
        const receipt = await fixture.execute(past)
        expect(receipt.status).to.equal(0)
        expect(routerOf(kind).fill(receipt, past.memo)).to.equal(undefined)
        if (!of.swap.tokenOut.native) expect(await fixture.balance(of.swap.tokenOut)).to.equal(held)
        expect((await fixture.execute(planned(kind, of, { boundRaw: of.amountRaw }))).status).to.equal(1)
      })

      it(`revert after their deadline: ${kind}, ${trade.name}`, async () => {
        const of = await quote(kind, trade)
        const plan = planned(kind, of, { deadline: of.head.timestamp - 1 })
        expect(plan.deadline).to.equal(of.head.timestamp - 1)
        expect((await fixture.execute(plan)).status).to.equal(0)
      })
    }

    it(`pay another recipient, in tokens and in the coin: ${kind}`, async () => {
      const recipient = `0x00000000000000000000000000000000000000${kind === 'SwapRouter' ? '71' : '72'}`
      for (const tokenOut of [DAI, eth]) {
        const along = tokenOut === DAI ? ([USDC, 100, DAI] as const) : ([USDC, 500, eth] as const)
        const of = await quote(kind, { exact: 'in', amountRaw: 3000n * dollars, along: () => along })
        const plan = planned(kind, of, { recipient })
        const receipt = await fixture.execute(plan)
        expect(await fixture.balance(tokenOut, recipient)).to.equal(of.amountRaw)
        expect(routerOf(kind).fill(receipt, plan.memo)?.amountOutRaw).to.equal(of.amountRaw)
      }
    })

    it(`need the exact amount or the bound, and an allowance for the router except for the coin: ${kind}`, async () => {
      const { address } = routerOf(kind)
      const sell = await quote(kind, { exact: 'in', amountRaw: 7n * dollars, along: () => [USDC, 500, WETH] })
      expect(planned(kind, sell).needs).to.deep.equal([
        { is: 'balance', token: USDC.address, amountRaw: 7n * dollars },
        { is: 'allowance', token: USDC.address, spender: address, amountRaw: 7n * dollars },
      ])
      const buy = await quote(kind, { exact: 'out', amountRaw: ether, along: () => [USDC, 500, WETH] })
      expect(planned(kind, buy, { boundRaw: 99n }).needs.map(({ amountRaw }) => amountRaw)).to.deep.equal([99n, 99n])
      const coin = planned(kind, await quote(kind, { exact: 'out', amountRaw: dollars, along: () => [eth, 500, USDC] }), {
        boundRaw: 12_345n,
      })
      expect(coin.needs).to.deep.equal([{ is: 'balance', token: zero, amountRaw: 12_345n }])
      expect(coin.steps.map(({ to, value }) => [to, value])).to.deep.equal([[address, '12345']])
    })

    it(`need that the router has no allowance of the wrapped coin, where the coin goes in and an unlisted token moves: ${kind}`, async () => {
      const { address } = routerOf(kind)
      const strange = '0x00000000000000000000000000000000000000AA'
      const toStrange = (of: Quote): Quote => ({ ...of, route: of.route.map((hop) => ({ ...hop, tokenOut: strange })) })
      const barred = { is: 'allowance-at-most', token: WETH.address, spender: address, amountRaw: 0n }
      for (const exact of ['in', 'out'] as const) {
        const amountRaw = exact === 'in' ? ether : dollars
        const ofCoin = await quote(kind, { exact, amountRaw, along: () => [eth, 500, USDC] })
        expect(planned(kind, ofCoin).needs).not.to.deep.include(barred)
        expect(planned(kind, toStrange(ofCoin)).needs).to.deep.include(barred)
        const ofToken = await quote(kind, { exact, amountRaw, along: () => [WETH, 500, USDC] })
        expect(planned(kind, toStrange(ofToken)).needs).not.to.deep.include(barred)
        // The last of several tokens moves after the coin with an exact input, but before it with an exact output.
        const ofTwo = await quote(kind, { exact, amountRaw, along: () => [eth, 500, USDC, 100, DAI] })
        const toStrangeAtLast = { ...ofTwo, route: ofTwo.route.map((hop, index) => (index === 1 ? { ...hop, tokenOut: strange } : hop)) }
        const { needs } = planned(kind, toStrangeAtLast)
        expect(needs.some(({ is }) => is === 'allowance-at-most')).to.equal(exact === 'out')
      }
    })

    it(`check their router’s factory and wrapped coin: ${kind}`, async () => {
      const answers = async (router: Router) => (await fixture.chain.reader.read(router.check?.calls ?? [], at())).results
      const router = routerOf(kind)
      router.check?.verify(await answers(router))
      const exchange = exchanges.get(kind) ?? expect.fail(kind)
      for (const [wrong, name] of [
        [v3Router({ ...exchange, factory: zero }, WETH.address), 'factory'],
        [v3Router(exchange, USDC.address), 'WETH9'],
        [v3Router({ ...exchange, router: fixture.trader.address }, WETH.address), 'factory'],
      ] as const) {
        const found = await answers(wrong)
        expect(() => wrong.check?.verify(found)).to.throw(`its ${name}() is`)
      }
    })
  }

  it('take mixed routes with an exact input where the router trades with the same constant-product pools', async () => {
    const exchange = exchanges.get('SwapRouter02') ?? expect.fail()
    const router = v3Router(exchange, WETH.address)
    expect(router.carries(['v3', 'v3'], 'out')).to.equal(true)
    expect(router.carries(['v2', 'v3'], 'in')).to.equal(true)
    expect(router.carries(['v2', 'v3'], 'out')).to.equal(false)
    expect(router.carries(['v2'], 'in')).to.equal(false)
    expect(router.carries(['v4', 'v3'], 'in')).to.equal(false)
    const elsewhere = v3Router({ ...exchange, mixedWith: { version: 'v2', factory: zero } }, WETH.address)
    elsewhere.check?.verify((await fixture.chain.reader.read(elsewhere.check.calls, at())).results)
    expect(elsewhere.carries(['v2', 'v3'], 'in')).to.equal(false)
    expect(elsewhere.carries(['v3'], 'in')).to.equal(true)
    expect(routerOf('SwapRouter').carries(['v2', 'v3'], 'in')).to.equal(false)
  })

  it('take several routes at once, for tokens only, if at most one begins with a constant-product pool', () => {
    const [newer, older] = [routerOf('SwapRouter02'), routerOf('SwapRouter')]
    const [sell, buy] = [{ tokenIn: USDC, tokenOut: WETH, exact: 'in' } as const, { tokenIn: USDC, tokenOut: WETH, exact: 'out' } as const]
    for (const router of [newer, older])
      for (const swap of [sell, buy]) expect(router.splits?.([['v3'], ['v3', 'v3']], swap)).to.equal(true)
    expect(newer.splits?.([['v3', 'v2'], ['v2']], sell)).to.equal(true)
    expect(newer.splits?.([['v2']], sell), 'as one of several').to.equal(true)
    expect(newer.splits?.([['v2', 'v3'], ['v2']], sell)).to.equal(false)
    expect(newer.splits?.([['v3'], ['v2']], buy)).to.equal(false)
    expect(older.splits?.([['v3'], ['v2']], sell)).to.equal(false)
    expect(newer.splits?.([['v3'], ['v4']], sell)).to.equal(false)
    for (const coin of [{ tokenIn: eth }, { tokenOut: eth }]) expect(newer.splits?.([['v3'], ['v3']], { ...sell, ...coin })).to.equal(false)
  })

  it('call the part that begins with a constant-product pool last, in whatever order it was quoted', async () => {
    const [ofBoth, ofThree] = await Promise.all(mixedSplits.map((trade) => quote('SwapRouter02', trade)))
    const begins = (of: Quote | undefined) => {
      const memo = of && parseMemo(planned('SwapRouter02', of).memo)
      return memo?.parts.map(({ hops: [first] }) => first?.kind)
    }
    expect(begins(ofBoth)).to.deep.equal(['range', 'constant-product'])
    expect(begins(ofThree)).to.deep.equal(['range', 'range', 'constant-product'])
  })

  it('return the coin that a pool did not take because its liquidity ended', async () => {
    const of = await quote('SwapRouter02', { exact: 'in', amountRaw: ether, along: () => [eth, 10000, USDC] })
    const all = 900_000n * ether
    await fixture.provider.send('anvil_setBalance', [fixture.trader.address, `0x${(all + 10n * ether).toString(16)}`])
    const huge = { ...of, swap: { ...of.swap, amountRaw: all } }
    const plan = planned('SwapRouter02', huge, { boundRaw: 1n })
    const snapshot = await fixture.provider.send('evm_snapshot', [])
    const receipt = await fixture.execute(plan)
    expect(receipt.status).to.equal(1)
    const fill = routerOf('SwapRouter02').fill(receipt, plan.memo) ?? expect.fail('no fill')
    expect(fill.amountInRaw < all, 'all of it was taken').to.equal(true)
    expect(await fixture.balance(eth, router02)).to.equal(0n)
    await fixture.provider.send('evm_revert', [snapshot])
  })

  it('show no fill in the receipt of another transaction', async () => {
    const one = await quote('SwapRouter02', { exact: 'in', amountRaw: ether, along: () => [WETH, 500, USDC] })
    const other = await quote('SwapRouter02', { exact: 'in', amountRaw: 3000n * dollars, along: () => [USDC, 500, WETH] })
    const receipt = await fixture.execute(planned('SwapRouter02', other))
    const { fill } = routerOf('SwapRouter02')
    expect(fill(receipt, planned('SwapRouter', one).memo)).to.equal(undefined)
    expect(fill(receipt, null)).to.equal(undefined)
    expect(fill(receipt, { router: router02 })).to.equal(undefined)
  })
})

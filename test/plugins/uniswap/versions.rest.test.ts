import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { parse } from 'yaml'
import type { Connector, Quote, Swap, Token } from '../../../core/contracts/index.ts'
import { devnetQuoter } from '../../../testkit/devnet-operators.ts'
import type { Evm } from '../../../kits/evm/index.ts'
import { partsOf } from '../../../kits/amm/index.ts'
import uniswap from '../../../plugins/uniswap/index.ts'
import { addresses } from '../../devnet/addresses.ts'
import { devnetFiles } from '../../devnet/test-devnet.ts'
import { rejection } from '../../kits/amm/v2/rejection.ts'
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../../kits/amm/devnet-fixture.ts'

const { WETH, USDC, DAI, WBTC, USDT } = tokens
const defaults = parse(readFileSync(new URL('../../../plugins/uniswap/defaults.yml', import.meta.url), 'utf8'))
const [uniswapFile = ''] = devnetFiles
const dollars = 1_000_000n
const ether = 10n ** 18n

describe('the versions of Uniswap before v4', () => {
  let fixture: DevnetFixture
  let exchange: Connector<Evm, 'AMM' | 'AMM_RANGE' | 'AMM_SHARES'>
  /** Only v2 pools have it, with USDC. */
  let far: Token
  before(async () => {
    fixture = await openDevnetFixture()
    const { v4: _, ...versions } = defaults.versions
    exchange = uniswap.create({ ...fixture.venue(defaults.contractAddresses.local), config: { ...defaults, versions } })
    far = await fixture.list('TestToken', 'FAR', 10n ** 24n, USDC, 10n ** 12n)
    for (const spender of Object.values(exchange.spenders ?? {}))
      for (const { address } of [WETH, USDC, DAI, WBTC, USDT, far]) await fixture.approve(address, spender)
  })
  after(() => fixture.close())

  const quote = (swap: Swap, version?: string): Promise<Quote> => exchange.AMM.quote(swap, version === undefined ? {} : { version }, at())
  const versions = ({ route }: Quote) => route.map((hop) => hop.version)
  const own = async ({ swap, route, head }: Quote): Promise<bigint | undefined> => {
    const quoter = await devnetQuoter(uniswapFile, fixture.provider)
    return (swap.exact === 'in' ? quoter?.exactIn : quoter?.exactOut)?.(route, swap.amountRaw, Number(head.number))
  }
  const sell = (tokenIn: Token, tokenOut: Token, amountRaw: bigint): Swap => ({ tokenIn, tokenOut, exact: 'in', amountRaw })
  const buy = (tokenIn: Token, tokenOut: Token, amountRaw: bigint): Swap => ({ tokenIn, tokenOut, exact: 'out', amountRaw })

  it('have both routers and the position manager as spenders, and two names', () => {
    expect(exchange.AMM.versions).to.deep.equal(['v2', 'v3'])
    expect(exchange.AMM_RANGE.rangeVersions).to.deep.equal(['v3'])
    expect(exchange.spenders).to.deep.equal({
      v2: addresses.exchanges.uniswap.router,
      v3: addresses.rangeExchanges.uniswap.router,
      positions: addresses.rangeExchanges.uniswap.positionManager,
    })
  })

  it('have shares of pools of v2 only, and of none where the configuration leaves it out', async () => {
    expect(exchange.AMM_SHARES.sharesVersions).to.deep.equal(['v2'])
    const config = { ...defaults, versions: { v3: defaults.versions.v3 } }
    const alone = uniswap.create({ ...fixture.venue(defaults.contractAddresses.local), config }).AMM_SHARES
    const asked = Promise.resolve(alone.sharePositions([WETH, USDC], WETH.address, at()))
    const { name, message } = await asked.then(
      () => expect.fail('it was answered'),
      (error: Error) => error,
    )
    expect([name, message.includes('does not list under versions')]).to.deep.equal(['UNSUPPORTED', true])
  })

  for (const exact of ['in', 'out'] as const) {
    it(`give a quote each by name, and the better one without a name (exact ${exact})`, async () => {
      const swap = exact === 'in' ? sell(WETH, USDC, ether) : buy(USDC, WETH, ether)
      const [v2, v3, best] = [await quote(swap, 'v2'), await quote(swap, 'v3'), await quote(swap)]
      expect(new Set(versions(v2))).to.deep.equal(new Set(['v2']))
      expect(new Set(versions(v3))).to.deep.equal(new Set(['v3']))
      for (const each of [v2, v3, best]) expect(each.amountRaw).to.equal(await own(each))
      expect(v2.spender).to.equal(exchange.spenders?.['v2'])
      expect(v3.spender).to.equal(exchange.spenders?.['v3'])
      const better = (a: bigint, b: bigint) => (exact === 'in' ? a >= b : a <= b)
      expect(better(best.amountRaw, v2.amountRaw)).to.equal(true)
    })
  }

  for (const [name, swapOf] of [
    ['tokens', () => sell(USDT, far, 1000n * dollars)],
    ['the coin in', () => sell(fixture.chain.nativeCurrency, far, ether)],
    ['the coin out', () => sell(far, fixture.chain.nativeCurrency, 1000n * ether)],
    ['from the constant product to ranges', () => sell(far, USDT, 1000n * ether)],
  ] as const) {
    it(`share one route with an exact input, quoted and filled to the unit: ${name}`, async () => {
      const mixed = await quote(swapOf())
      expect(new Set(versions(mixed))).to.deep.equal(new Set(['v2', 'v3']))
      expect(mixed.spender).to.equal(exchange.spenders?.['v3'])
      expect(mixed.amountRaw).to.equal(await own(mixed))
      const deadline = Math.floor(Date.now() / 1000) + 600
      const plan = exchange.AMM.swap(mixed, { recipient: fixture.trader.address, boundRaw: mixed.amountRaw, deadline })
      const receipt = await fixture.execute(plan)
      expect(exchange.AMM.fill(receipt, JSON.parse(JSON.stringify(plan.memo)))).to.deep.equal({
        amountInRaw: mixed.swap.amountRaw,
        amountOutRaw: mixed.amountRaw,
      })
      // The estimate chooses routes: it need not be close.
      expect(Number(mixed.gasUnits)).to.be.closeTo(Number(receipt.gasUsed), 0.4 * Number(receipt.gasUsed))
    })
  }

  for (const [name, swapOf, used] of [
    ['of an exact amount in', () => sell(USDC, WETH, 2_000_000n * dollars), ['v3']],
    ['of an exact amount out', () => buy(USDC, WETH, 500n * ether), ['v3']],
    ['where the best single way is of the constant product', () => sell(WETH, WBTC, 200n * ether), ['v2', 'v3']],
  ] as const) {
    it(`trade by several routes at once where that is better, quoted and filled to the unit: ${name}`, async () => {
      const split = await quote(swapOf())
      const shares = partsOf(split).map(({ route: [hop] }) => Number(hop?.share))
      expect(shares.length).to.be.within(2, 3)
      expect(Math.round(100 * shares.reduce((a, b) => a + b, 0))).to.equal(100)
      expect(new Set(split.route.map(({ pool }) => pool)).size).to.equal(split.route.length)
      expect([...new Set(versions(split))].toSorted()).to.deep.equal(used)
      expect(split.amountRaw).to.equal(await own(split))
      for (const version of ['v2', 'v3']) {
        const { amountRaw, parts } = await quote(swapOf(), version)
        if (!parts) expect(split.swap.exact === 'in' ? amountRaw < split.amountRaw : amountRaw > split.amountRaw).to.equal(true)
      }
      const deadline = Math.floor(Date.now() / 1000) + 600
      const plan = exchange.AMM.swap(split, { recipient: fixture.trader.address, boundRaw: split.amountRaw, deadline })
      const receipt = await fixture.execute(plan)
      const [amountInRaw, amountOutRaw] =
        split.swap.exact === 'in' ? [split.swap.amountRaw, split.amountRaw] : [split.amountRaw, split.swap.amountRaw]
      expect(exchange.AMM.fill(receipt, JSON.parse(JSON.stringify(plan.memo)))).to.deep.equal({ amountInRaw, amountOutRaw })
      expect(Number(split.gasUnits)).to.be.closeTo(Number(receipt.gasUsed), 0.4 * Number(receipt.gasUsed))
    })
  }

  it('trade by one route for the native coin, which would lie with the router meanwhile', async () => {
    const { nativeCurrency } = fixture.chain
    for (const swap of [sell(nativeCurrency, USDC, 500n * ether), buy(USDC, nativeCurrency, 500n * ether)])
      expect((await quote(swap)).parts).to.equal(undefined)
    expect((await quote(sell(WETH, USDC, 500n * ether))).parts).not.to.equal(undefined)
  })

  it('do not mix for an exact output: one version has the whole route', async () => {
    expect(new Set(versions(await quote(buy(USDT, far, ether))))).to.deep.equal(new Set(['v2']))
  })

  it('have their logs decoded', async () => {
    const swap = await quote(sell(WETH, USDC, ether), 'v3')
    const plan = exchange.AMM.swap(swap, { recipient: fixture.trader.address, boundRaw: 1n, deadline: Math.floor(Date.now() / 1000) + 600 })
    const decoded = JSON.stringify(fixture.chain.decode(await fixture.execute(plan), exchange.events ?? []))
    expect(decoded).to.contain('"name":"Swap"').and.to.contain('"name":"sqrtPriceX96"')
  })

  it('refuse an unknown version, and a pair that only the other version has', async () => {
    const unknown = await rejection(quote(sell(WETH, USDC, ether), 'v4'))
    expect(unknown.message).to.match(/no version v4.* v2, v3/)
    const missing = await rejection(quote(sell(USDC, far, dollars), 'v3'))
    expect(missing.message).to.match(/no pool/)
  })

  it('refuse another exchange’s router in the configuration, with the first quote', async () => {
    const { local } = defaults.contractAddresses
    const wrong = { ...local, v3RouterAddress: local.v2RouterAddress }
    const mistaken = uniswap.create({ ...fixture.venue(wrong), config: defaults })
    const refused = await rejection(mistaken.AMM.quote(sell(WETH, USDC, ether), {}, at()))
    expect(refused.message).to.match(/is not this exchange's on this network: its factory\(\) is 0x45A8/)
  })
})

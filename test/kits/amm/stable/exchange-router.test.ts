import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { parse } from 'yaml'
import type { Hop, Quote, Token } from '../../../../core/contracts/index.ts'
import { exchangeRouter, exchangeRouterAbi } from '../../../../kits/amm/stable/exchange-router.ts'
import { expectedCoins } from '../../../../kits/amm/stable/router.ts'
import { pools as listed } from '../../../../plugins/curve/index.ts'
import published from '../../../fixtures/published/curve-api.json' with { type: 'json' }

const defaults = parse(readFileSync(new URL('../../../../plugins/curve/defaults.yml', import.meta.url), 'utf8'))
const address: string = defaults.contractAddresses.mainnet.exchangeRouterAddress
const pools = listed['ethereum/mainnet'] ?? []
const router = exchangeRouter({ version: 'stable', address, pools, expected: expectedCoins(pools) })
const [second, first] = pools
const tokenOf = (symbol: string, index: number): Token => ({
  symbol,
  address: second?.coins[index]?.address ?? '',
  decimals: index === 0 ? 18 : 6,
})
const [DAI, USDC, USDT] = [tokenOf('DAI', 0), tokenOf('USDC', 1), tokenOf('USDT', 2)] as const
const sUSD: Token = { symbol: 'sUSD', address: first?.coins[3]?.address ?? '', decimals: 18 }
const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const noOne = `0x${'0'.repeat(40)}`
const hop = (pool: string | undefined, tokenIn: Token, tokenOut: Token): Hop => ({
  pool: pool ?? '',
  version: 'stable',
  tokenIn: tokenIn.address,
  tokenOut: tokenOut.address,
})
const quoteOf = (tokenIn: Token, tokenOut: Token, ...route: Hop[]): Quote => ({
  swap: { tokenIn, tokenOut, exact: 'in', amountRaw: 5_000_000n },
  amountRaw: 4_990_000n,
  spotAmountRaw: 5_000_000n,
  gasUnits: 100_000n,
  route,
  head: { number: 1n, timestamp: 1_000 },
  spender: address,
})
const terms = { recipient: wallet, boundRaw: 4_900_000n, deadline: 1_300 }

describe("the exchange's own router for stable pools", () => {
  it('has the address and the interface that @curvefi/api has', () => {
    expect(published.facts.routers[1]).to.equal(address)
    const ours = exchangeRouterAbi.fragments.map((each) => {
      const types = each.inputs.map(({ type, indexed }) => `${type}${indexed ? ' indexed' : ''}`)
      return `${each.type} ${'name' in each ? String(each.name) : ''}(${types.join(',')})`
    })
    expect(published.facts.routerInterface).to.include.members(ours)
  })

  it('sells along a route: the coins by their indexes, the least amount out, and no deadline', () => {
    const quote = quoteOf(USDT, sUSD, hop(second?.address, USDT, USDC), hop(first?.address, USDC, sUSD))
    const { steps, needs, deadline } = router.plan(quote, terms)
    expect(deadline).to.equal(undefined)
    expect(steps).to.have.length(1)
    expect(steps[0]).to.include({ to: address, value: '0' })
    const [route, params, amount, least] = exchangeRouterAbi.decodeFunctionData('exchange', steps[0].data)
    const path = [USDT.address, second?.address, USDC.address, first?.address, sUSD.address]
    expect([...route]).to.deep.equal([...path, ...Array.from({ length: 6 }, () => noOne)])
    const rows: bigint[][] = params.map((row: bigint[]) => [...row])
    // i, j, the kind of swap, the kind of pool, how many coins.
    expect(rows).to.deep.equal([[2n, 1n, 1n, 1n, 3n], [1n, 3n, 1n, 1n, 4n], ...Array.from({ length: 3 }, () => [0n, 0n, 0n, 0n, 0n])])
    expect([amount, least]).to.deep.equal([5_000_000n, terms.boundRaw])
    expect(needs).to.deep.include({ is: 'allowance', token: USDT.address, spender: address, amountRaw: 5_000_000n })
  })

  it('takes sales of stable pools alone', () => {
    expect(router.carries(['stable', 'stable'], 'in')).to.equal(true)
    expect(router.carries(['stable'], 'out')).to.equal(false)
    expect(router.carries(['stable', 'v2'], 'in')).to.equal(false)
    expect(
      router.carries(
        Array.from({ length: 6 }, () => 'stable'),
        'in',
      ),
    ).to.equal(false)
    const native: Token = { symbol: 'ETH', address: noOne, decimals: 18, native: true }
    expect(() => router.plan(quoteOf(native, USDC, hop(second?.address, DAI, USDC)), terms)).to.throw('wrapped form')
    expect(() => router.plan(quoteOf(DAI, sUSD, hop(second?.address, DAI, sUSD)), terms)).to.throw('lists no pool')
  })

  it('fails its check where its address has no code, or answers something else', () => {
    const coins = (router.check?.calls ?? []).slice(1).map((_, index) => {
      const coin = expectedCoins(pools)[index]?.address ?? ''
      return { ok: true, data: `0x${coin.slice(2).toLowerCase().padStart(64, '0')}` }
    })
    const one = `0x${'0'.repeat(63)}1`
    expect(() => router.check?.verify([{ ok: true, data: one }, ...coins])).to.not.throw()
    for (const wrong of [
      { ok: true, data: '0x' },
      { ok: false, data: one },
      { ok: true, data: `0x${'0'.repeat(64)}` },
    ])
      expect(() => router.check?.verify([wrong, ...coins])).to.throw('exchangeRouterAddress')
    expect(() => router.check?.verify([{ ok: true, data: one }, ...coins.toReversed()])).to.throw('coin 0')
  })

  it('tells a fill by its event, of this wallet alone', () => {
    const { memo } = router.plan(quoteOf(DAI, USDC, hop(second?.address, DAI, USDC)), terms)
    const logOf = (sender: string, emitter = address) => {
      const none = Array.from({ length: 5 }, () => [0n, 0n, 0n, 0n, 0n])
      const addresses = (count: number) => Array.from({ length: count }, () => noOne)
      const values = [sender, wallet, addresses(11), none, addresses(5), 7n, 6n]
      return { address: emitter, ...exchangeRouterAbi.encodeEventLog('Exchange', values) }
    }
    const receipt = (logs: object[], status = 1) => ({ status, from: wallet, logs }) as unknown as Parameters<typeof router.fill>[0]
    expect(router.fill(receipt([logOf(wallet)]), memo)).to.deep.equal({ amountInRaw: 7n, amountOutRaw: 6n })
    expect(router.fill(receipt([logOf(address)]), memo)).to.equal(undefined)
    expect(router.fill(receipt([logOf(wallet, second?.address)]), memo)).to.equal(undefined)
    expect(router.fill(receipt([logOf(wallet)], 0), memo)).to.equal(undefined)
    expect(router.fill(receipt([logOf(wallet)]), { router: address, recipient: wallet })).to.equal(undefined)
  })
})

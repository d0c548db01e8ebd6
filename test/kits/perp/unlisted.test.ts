import { expect } from 'chai'
import { AbiCoder, getAddress, ZeroAddress } from 'ethers'
import type { Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../../kits/evm/types.ts'
import { curieAbi } from '../../../kits/perp/abi.ts'
import { deploymentOf as oasisDeployment } from '../../../kits/oasis/contract.ts'
import { perp } from '../../../kits/perp/perp.ts'
import { keptLog } from '../../core-plugins/fixtures.ts'

const at = { signal: new AbortController().signal }
const addressOf = (number: number) => getAddress(`0x${number.toString(16).padStart(40, '0')}`)
const [house, vault, other, quote, settlement] = [1, 2, 3, 4, 5].map(addressOf)
const [eth, dead, foreign, btc] = [16, 17, 18, 19].map(addressOf)
const on = { chain: 'ethereum', network: 'mainnet' }

/** What the exchange's contracts answer; a token without code answers nothing, as calls to it do. */
const views: Readonly<Record<string, (to: string, token: string) => unknown>> = {
  getVault: () => vault,
  getClearingHouse: () => house,
  getQuoteToken: () => quote,
  getSettlementToken: () => settlement,
  getCollateralManager: () => ZeroAddress,
  symbol: (to) => (to === dead ? undefined : to === quote ? 'vUSD' : to === eth ? 'vETH' : to === btc ? 'vBTC' : 'OTHER'),
  decimals: () => 6n,
  hasPool: (_, token) => token !== foreign,
  paused: () => false,
  getBaseTokens: () => [eth, btc, foreign],
}
const head = { number: 1n, timestamp: 1 }
const read = async (calls: readonly { to: string; data: string }[]) => ({
  head,
  results: calls.map(({ to, data }) => {
    const parsed = curieAbi.parseTransaction({ data })
    const { fragment, args } = parsed ?? { fragment: undefined, args: [] }
    const name = fragment?.name ?? ''
    // The market's prices cannot be read.
    if (to === btc && name === 'getIndexPrice') return { ok: false, data: '0x' }
    const view = views[name]
    const value = view
      ? view(to, String([...args][0]))
      : (fragment?.outputs ?? []).map(({ type }) => (type === 'address' ? other : type === 'bool' ? false : 1n))
    if (value === undefined) return { ok: true, data: '0x' }
    return { ok: true, data: curieAbi.encodeFunctionResult(name, view ? [value] : (value as unknown[])) }
  }),
})

const own = keptLog()
const venueOf = (more: object) => ({ ...on, log: own.log, tokens: [], config: {}, reader: { read }, ...more }) as unknown as Venue<Evm>

describe('markets of a plugin that are not as it says', () => {
  it('stay out of a perpetual exchange, which says so', async () => {
    const contracts = { routerAddress: house, vaultAddress: vault }
    const exchange = perp(venueOf({ contracts }), { markets: { 'ethereum/mainnet': [eth, dead, foreign, btc].map(String) } })
    await exchange.start(at.signal)
    const { markets, unlisted } = await exchange.listMarkets(at)
    expect(markets.map(({ base, quote: in_ }) => `${base}${in_}`)).to.deep.equal(['ETHUSD', 'BTCUSD'])
    expect(unlisted?.map(({ market }) => market)).to.deep.equal([dead, 'OTHERUSD'])
    expect(own.lines.map(({ level, fields }) => `${level} ${Object(fields).baseToken}`)).to.deep.equal([`warn ${dead}`, `warn ${foreign}`])
    const { funding, unread } = await exchange.funding(addressOf(99), at)
    expect(funding.map(({ market }) => market.base)).to.deep.equal(['ETH'])
    expect(unread?.map(({ market }) => market)).to.deep.equal(['BTCUSD', foreign])
  })

  it('stay out of an order book where a token is not listed, which says so', () => {
    const tokens = [eth, btc].map((address, index) => ({ symbol: ['ETH', 'BTC'][index], address, decimals: 18 }))
    const pairs = [
      [eth, btc],
      [dead, btc],
    ] as unknown as [string, string][]
    const of = (markets: typeof pairs) =>
      oasisDeployment(venueOf({ tokens, contracts: { routerAddress: house } }), { markets: { 'ethereum/mainnet': markets } })
    const { pairs: used, unlisted } = of(pairs)
    expect(used).to.have.length(1)
    expect(unlisted.map(({ market }) => market)).to.deep.equal([`${dead}-BTC`])
    expect(() => of(pairs.slice(1))).to.throw('not in the token list')
  })
})

describe('a perpetual exchange on a chain', () => {
  it('tells from which block on it finds liquidations', async () => {
    for (const [newest, first] of [
      [200_000n, 100_001],
      [99_999n, 0],
    ] as const) {
      const reader = {
        read: async (calls: Parameters<typeof read>[0]) => ({ ...(await read(calls)), head: { number: newest, timestamp: 1 } }),
      }
      const contracts = { routerAddress: house, vaultAddress: vault }
      const exchange = perp(venueOf({ contracts, reader }), { markets: { 'ethereum/mainnet': [String(eth)] } })
      await exchange.start(at.signal)
      expect(await exchange.liquidationsFrom?.(at)).to.equal(first)
    }
  })

  it('says that it does not answer where it tells no amounts of a close', async () => {
    // There is no pool to be seen, and the exchange closes only a part, so that the close is simulated.
    const partly = `0x08c379a0${AbiCoder.defaultAbiCoder().encode(['string'], ['EX_OPLAS']).slice(2)}`
    const probes = [
      { ok: true, data: '0x00' },
      { ok: true, data: partly },
    ]
    for (const data of ['0x', `0x${'0'.repeat(128)}`, `0x${'1'.repeat(64)}`]) {
      const reader = {
        async read(calls: readonly { to: string; data: string }[]) {
          const { head, results } = await read(calls.filter(({ to }) => to))
          const [answers, ofProbes] = [results.values(), probes.values()]
          return { head, results: calls.map(({ to }) => (to ? answers : ofProbes).next().value) }
        },
        call: async () => ({ ok: true, data }),
      }
      const contracts = { routerAddress: house, vaultAddress: vault }
      const exchange = perp(venueOf({ contracts, reader }), { markets: { 'ethereum/mainnet': [String(eth)] } })
      await exchange.start(at.signal)
      const [market] = (await exchange.listMarkets(at)).markets
      if (!market) throw new Error('There is no market.')
      const failure = await exchange.quoteClose(addressOf(99), market, at).catch((error: unknown) => error)
      expect(failure, data).to.include({ name: 'PRICE_FAILED' })
      expect(String(failure)).to.contain('does not answer closePosition')
    }
  })
})

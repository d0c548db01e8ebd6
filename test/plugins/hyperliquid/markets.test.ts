import { expect } from 'chai'
import { SluiceError } from '../../../core/base/errors.ts'
import type { Connector } from '../../../core/contracts/index.ts'
import { marketDataHandlers } from '../../../core/handlers/clob/market-data.ts'
import { connectorBoundary } from '../../../core/plugins/code/boundary.ts'
import { createMarkets } from '../../../plugins/hyperliquid/markets.ts'
import type { QueryInfo } from '../../../plugins/hyperliquid/api.ts'
import { keptLog } from '../../core-plugins/fixtures.ts'

const at = { signal: new AbortController().signal }
const perp = (name: unknown, szDecimals: unknown = 2) => ({ name, szDecimals, maxLeverage: 10 })
const token = (name: string, index: number) => ({ name, index, szDecimals: 2, weiDecimals: 8, evmContract: null })
const spot = (index: number, tokens: unknown) => ({ name: `@${index}`, index, tokens })
const rates = { userCrossRate: '0.0004', userAddRate: '0.0001', userSpotCrossRate: '0.0007', userSpotAddRate: '0.0004' }

/** What the exchange lists. */
const listed: Readonly<Record<string, unknown>> = {
  meta: { universe: [perp('BTC'), perp('kPEPE'), perp('KPEPE'), { name: 'ODD' }, perp('NULL', null), null, perp('ETH')] },
  spotMeta: {
    tokens: [
      token('USDC', 0),
      token('HYPE', 1),
      token('hype', 2),
      { name: 'BROKEN', index: 3 },
      token('PURR', 4),
      { ...token('ANY', 5), evmContract: { address: '0xPEPE' } },
      token('WHYPE', 6),
    ],
    universe: [
      spot(1, [1, 0]),
      spot(2, [2, 0]),
      spot(3, [3, 0]),
      spot(4, 'no list'),
      spot(5, [4, 0]),
      spot(6, [4, 0]),
      spot(7, [5, 0]),
      spot(8, [6, 0]),
    ],
  },
  userFees: rates,
}
const queryInfo: QueryInfo = async ({ type }, shape) => shape(listed[type], type)

describe("Hyperliquid's markets with bad ones among them", () => {
  const own = keptLog()
  const [coin, usdc, pepe] = ['0xcccccccccccccccccccccccccccccccccccccccc', '0xuSdC', '0xPePe']
  const listing = createMarkets(queryInfo, 60, own.log, {
    coinIndex: 4,
    nativeCurrency: { address: coin },
    tokens: [
      { symbol: 'USDC', address: usdc, decimals: 6 },
      { symbol: 'PEPE', address: pepe, decimals: 18 },
      { symbol: 'WHYPE', address: '0xWhype', decimals: 18 },
    ],
  })
  const ofKind = (kind: 'spot' | 'perp') => ({
    markets: async () => (await listing(at)).markets[kind],
    unlisted: async () => (await listing(at)).unlisted[kind],
  })
  const implementation = { CLOB: ofKind('spot'), PERP_CLOB: ofKind('perp') } as unknown as Partial<Connector>
  const core = keptLog()
  const impl = connectorBoundary(implementation, { plugin: 'hyperliquid', log: core.log })
  const ask = async (type: 'CLOB' | 'PERP_CLOB', market?: string) => {
    const context = { venue: { impl, connector: 'hyperliquid' }, ...at }
    return marketDataHandlers(type).Markets({ ...(market && { market }) } as never, context as never)
  }

  it('have the later of two names that differ in letter case left out, and said, among spot', async () => {
    const { markets, unavailable } = await ask('CLOB')
    expect(Object.keys(markets)).to.deep.equal(['HYPE-USDC', 'PURR-USDC', 'ANY-USDC', 'WHYPE-USDC'])
    expect(unavailable).to.deep.equal([
      { market: 'hype-USDC', reason: 'has the name of HYPE-USDC in other letter case' },
      { market: 'PURR-USDC', reason: 'is there twice' },
      { market: '@3', reason: 'its token 3 is not listed, or in an unknown format' },
      { market: '@4', reason: 'the exchange lists it in an unknown format (at /tokens)' },
    ])
    expect(Object.keys((await ask('CLOB', 'hype-usdc')).markets)).to.deep.equal(['HYPE-USDC'])
  })

  it("name the tokens of the chain by index and contract, and never by a name, which is anybody's", async () => {
    const tokensOf = new Map([...(await listing(at)).byId].map(([id, { market }]) => [id, market.tokens]))
    // The first is named as the coin is, and the fifth has its index.
    expect(tokensOf.get('@1')).to.deep.equal({ quote: usdc })
    expect(tokensOf.get('@5')).to.deep.equal({ base: coin, quote: usdc })
    expect(tokensOf.get('@7')).to.deep.equal({ base: pepe, quote: usdc })
    expect(tokensOf.get('@8')).to.deep.equal({ quote: usdc })
  })

  it('and among perpetuals, whose numbers stay those of the exchange', async () => {
    const { markets, unavailable } = await ask('PERP_CLOB')
    expect(Object.keys(markets)).to.deep.equal(['BTC-USD', 'kPEPE-USD', 'ETH-USD'])
    expect(unavailable?.map(({ market }) => market)).to.deep.equal(['KPEPE-USD', 'ODD-USD', 'NULL-USD', 'perpetual 5-USD'])
    expect((await listing(at)).byId.get('ETH')?.asset).to.equal(6)
    expect(await ask('PERP_CLOB', 'KPEPE-USD')).to.have.nested.property('markets.kPEPE-USD')
  })

  it('appear in the log once each', async () => {
    await ask('CLOB')
    const names = [...own.lines.map(({ fields }) => Object(fields).market), ...core.lines.map(({ fields }) => Object(fields).entry)]
    expect(names).to.have.members(['hype-USDC', 'PURR-USDC', '@3', '@4', 'KPEPE-USD', 'ODD-USD', 'NULL-USD', 'perpetual 5-USD'])
  })

  it('stay known where the exchange gives no newer list, so that orders can be cancelled', async () => {
    let isAway = false
    const ask: QueryInfo = async (request, shape, of) => {
      if (isAway) throw new SluiceError('RATE_LIMIT', 'Later.')
      return queryInfo(request, shape, of)
    }
    const markets = createMarkets(ask, 0, own.log, { coinIndex: 4, nativeCurrency: { address: coin }, tokens: [] })
    isAway = true
    expect((await markets(at).catch((error: unknown) => error)) as object).to.have.property('name', 'RATE_LIMIT')
    isAway = false
    const first = await markets(at)
    isAway = true
    expect(await markets(at)).to.equal(first)
  })
})

import { expect } from 'chai'
import { multiply } from '../../../core/base/decimal.ts'
import { SluiceError } from '../../../core/base/errors.ts'
import type { InterfaceCall } from '../../../core/contracts/interface.ts'
import { createNetworks } from '../../../plugins/hummingbot/networks.ts'
import { readQuoteId } from '../../../plugins/hummingbot/quote-ids.ts'
import { quotePaths } from '../../../plugins/hummingbot/quotes.ts'

const networks = createNetworks({ networks: { 'ethereum-local': 'ethereum/local' }, defaultNetworks: { ethereum: 'local' } })

type QuoteTexts = Readonly<Record<'amountOut' | 'minAmountOut' | 'quoteId', string>>

interface PriceChoice {
  readonly version?: string
  readonly pool?: string
}

/** The quote of a path, by a connector with what it would pay for each version, and what the server was asked. */
async function quoted(type: string, side: 'BUY' | 'SELL', prices: Readonly<Record<string, string | Error>>, extras: object = {}) {
  const asked: PriceChoice[] = []
  const call = {
    preferences: { known: async () => ({}) },
    call: async () => ({ versions: prices[''] === undefined ? prices : undefined }),
    async ask(_endpoint: string, fields: PriceChoice) {
      asked.push(fields)
      const found = prices[fields.version ?? ''] ?? Object.values(prices)[0] ?? ''
      if (found instanceof Error) throw found
      const [expectedAmount = '', hop = fields.version ?? 'v2'] = found.split(' ')
      const route = [{ pool: fields.pool ?? `0x${hop}`, version: hop }]
      return {
        base: 'B',
        quote: 'Q',
        amount: '1',
        expectedAmount,
        price: expectedAmount,
        slippagePrice: expectedAmount,
        priceImpact: '0',
        route,
      }
    },
  } as unknown as InterfaceCall
  const path = quotePaths(networks).find((each) => each.path === `/trading/${type}/quote-swap`)
  const request = { chainNetwork: 'ethereum-local', connector: 'uniswap', baseToken: 'B', quoteToken: 'Q', amount: '1', side }
  const answer: unknown = await path?.answer({ ...request, ...extras }, call)
  return { answer: answer as { price: string; routePath: string }, asked: asked.map(({ version }) => version) }
}

const away = new SluiceError('NETWORK', 'away')
const tooMany = new SluiceError('RATE_LIMIT', 'over its limit')
const noPair = new SluiceError('PAIR_NOT_FOUND', 'none')
const refusal = async (quote: Promise<unknown>): Promise<unknown> =>
  quote.then(
    () => undefined,
    ({ name }: Error) => name,
  )

describe('a quote by pools of one type', () => {
  const prices = { v2: '30', v3: '10', v4: '20' }

  it('asks each version of the type, and takes the better for its side', async () => {
    expect(await quoted('clmm', 'SELL', prices)).to.deep.include({ asked: ['v3', 'v4'] })
    expect((await quoted('clmm', 'SELL', prices)).answer.routePath).to.equal('v4:0xv4')
    expect((await quoted('clmm', 'BUY', prices)).answer.routePath).to.equal('v3:0xv3')
    expect((await quoted('amm', 'BUY', prices)).answer.routePath).to.equal('v2:0xv2')
  })

  it('goes without a version that has no such pool, and says the trouble of a node where none has a price', async () => {
    expect((await quoted('clmm', 'SELL', { ...prices, v4: noPair })).answer.price).to.equal('10')
    expect(await refusal(quoted('clmm', 'SELL', { v3: noPair, v4: away }))).to.equal('NETWORK')
    expect(await refusal(quoted('clmm', 'SELL', { v3: noPair, v4: tooMany }))).to.equal('RATE_LIMIT')
    expect(await refusal(quoted('clmm', 'SELL', { v3: noPair, v4: noPair }))).to.equal('PAIR_NOT_FOUND')
  })

  it('asks once where a pool is named, and where the type does not count', async () => {
    expect((await quoted('clmm', 'SELL', { v3: '10 v3' }, { poolAddress: '0xv3' })).asked).to.have.length(1)
    expect((await quoted('router', 'SELL', prices)).asked).to.deep.equal([undefined])
  })

  it('is refused where the connector or the pool is of another type', async () => {
    expect(await refusal(quoted('clmm', 'SELL', { v2: '30' }))).to.equal('INCOMPLETE_PARAMS')
    expect(await refusal(quoted('clmm', 'SELL', { '': '30 v2' }))).to.equal('INCOMPLETE_PARAMS')
    expect(await refusal(quoted('clmm', 'SELL', { '': '30 v2' }, { poolAddress: '0x1' }))).to.equal('INCOMPLETE_PARAMS')
    expect((await quoted('clmm', 'SELL', { '': '30 algebra' })).answer.price).to.equal('30')
  })
})

describe('a quote that is asked for again', () => {
  /** What the server says each time, of one request. */
  async function quotedAgain(rounds: readonly { readonly price: string; readonly bound: string; readonly slippagePct?: string }[]) {
    const request = Object.freeze({
      chainNetwork: 'ethereum-local',
      connector: 'uniswap',
      baseToken: 'B',
      quoteToken: 'Q',
      amount: '2',
      side: 'SELL',
    })
    const path = quotePaths(networks).find((each) => each.path === '/trading/router/quote-swap')
    const quotes: QuoteTexts[] = []
    for (const { price, bound, slippagePct } of rounds) {
      const call = {
        preferences: { known: () => (slippagePct === undefined ? {} : { 'uniswap.slippagePct': slippagePct }) },
        ask: () => ({
          base: 'B',
          quote: 'Q',
          amount: '2',
          expectedAmount: multiply('2', price),
          price,
          slippagePrice: bound,
          priceImpact: '0.01',
          route: [],
        }),
      } as unknown as InterfaceCall
      quotes.push((await path?.answer(request, call)) as QuoteTexts)
    }
    return quotes
  }

  it('has the price, the bound and the slippage of that moment, and an id of its own', async () => {
    const one = { price: '100', bound: '99' }
    const tighter = { ...one, slippagePct: '0.5' }
    const rounds = [one, one, one, tighter, { ...tighter, price: '101' }, { ...one, price: '101' }, { price: '101', bound: '99.5' }, one]
    const quotes = await quotedAgain(rounds)
    expect(quotes.map(({ amountOut }) => amountOut)).to.deep.equal(['200', '200', '200', '200', '202', '202', '202', '200'])
    const bounds = ['198', '198', '198', '199', '200.99', '198', '199', '198']
    expect(quotes.map(({ minAmountOut }) => minAmountOut)).to.deep.equal(bounds)
    expect(quotes.map(({ quoteId }) => multiply(readQuoteId(quoteId).trade.limitPrice, '2'))).to.deep.equal(bounds)
    expect(new Set(quotes.map(({ quoteId }) => quoteId))).to.have.length(rounds.length)
  })
})

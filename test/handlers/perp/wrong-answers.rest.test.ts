import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { mined } from '../../http/shared-server.ts'
import { inventExchanges } from './invented-exchange.ts'

const venue = { chain: 'ethereum', network: 'local' }
const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
/** Declared too, but by another connector. */
const sushiswapRouter = '0x016F103Ba6dF278471d2112a7a1776B52314A694'

const lying = (verb: string, change: string) => `${verb}: async (...args) => ({ ...await perp.${verb}(...args), ${change} })`
const planned = (verb: string, change: string) =>
  `${verb}: (...args) => { const plan = perp.${verb}(...args); return { ...plan, steps: plan.steps.map((step) => ({ ...step, ${change} })) } }`

/** By the verb that is asked: name → what is said instead. */
const lies = {
  'market-prices': {
    'prices-nothing': 'prices: async () => undefined',
    'prices-of-another': lying('prices', 'market: other'),
    'prices-endless': lying('prices', 'prices: { ...prices, mark: { numerator: 1n, denominator: 0n } }'),
    'prices-worthless': lying('prices', 'prices: { ...prices, index: { numerator: 0n, denominator: 1n } }'),
    'prices-headless': lying('prices', 'head: {}'),
    'prices-stateless': lying('prices', "market: { ...market, status: 'fine' }"),
    'prices-boundless': lying('prices', 'market: { ...market, maxLeverage: undefined }'),
  },
  pairs: {
    'listed-nothing': 'listMarkets: async () => undefined',
    'listed-nameless': lying('listMarkets', "markets: [{ ...market, base: '' }]"),
    'listed-fractional': lying('listMarkets', 'markets: [{ ...market, baseDecimals: 1.5 }]'),
    'listed-unsettled': lying('listMarkets', 'settlement: undefined'),
  },
  position: {
    'position-of-another': lying('position', 'position: { ...position, market: other }'),
    'position-number': lying('position', 'position: { ...position, sizeRaw: 5 }'),
    'position-markless': lying('position', 'position: { ...position, mark: undefined }'),
    'position-without-account': lying('position', 'account: undefined'),
  },
  margin: {
    'account-negative': lying('account', 'account: { ...account, maintenanceMarginRaw: -1n }'),
    'account-without-a-reason': lying('account', 'account: { ...account, valueRaw: undefined }'),
    'account-wide': lying('account', 'account: { ...account, decimals: -1 }'),
  },
  funding: {
    'funding-none': lying('funding', 'funding: undefined'),
    'funding-rateless': lying('funding', 'funding: (await perp.funding(...args)).funding.map((each) => ({ ...each, rate: undefined }))'),
    'funding-timeless': lying('funding', "funding: (await perp.funding(...args)).funding.map((each) => ({ ...each, nextAt: 'soon' }))"),
  },
  open: {
    'quote-nothing': 'quote: async () => undefined',
    'quote-zero': lying('quote', 'quoteRaw: 0n'),
    'quote-negative': lying('quote', 'quoteRaw: -3_003_000_000n'),
    'quote-number': lying('quote', 'quoteRaw: 3_003_000_000'),
    'quote-larger': lying('quote', 'order: { ...args[0], sizeRaw: args[0].sizeRaw * 2n }'),
    'quote-turned': lying('quote', "order: { ...args[0], side: args[0].side === 'LONG' ? 'SHORT' : 'LONG' }"),
    'quote-of-another': lying('quote', 'market: other'),
    'quote-without-account': lying('quote', 'account: undefined'),
    'quote-without-position': lying('quote', 'position: undefined'),
    'quote-with-a-position-of-another': lying('quote', 'position: { ...position, market: other }'),
    'quote-afterwards': lying('quote', "after: { sizeRaw: 1n, openNotionalRaw: '1' }"),
    'open-nothing': 'open: () => undefined',
    'open-stepless': 'open: () => ({ needs: [], memo: null })',
    'open-elsewhere': planned('open', `to: '${sushiswapRouter}'`),
    'open-greedy': planned('open', "value: '1'"),
  },
  close: {
    'closing-nothing-much': 'quoteClose: async () => ({})',
    'closing-more': lying('quoteClose', "order: { market, side: 'SHORT', sizeRaw: 10_001n }"),
    'closing-adds': lying('quoteClose', "order: { market, side: 'LONG', sizeRaw: 10_000n }"),
    'closing-another': lying('quoteClose', 'position: { ...position, market: other }'),
    'close-greedy': planned('close', "value: '1'"),
  },
  withdraw: {
    'collateral-nothing': 'collateral: async () => undefined',
    'collateral-of-another': lying('collateral', "token: { ...args[1], address: '0x009829c5C756656bbD423fF6b5F8D61B722ce18E' }"),
    'collateral-endless': lying('collateral', 'withdrawableRaw: Infinity'),
    'move-elsewhere': planned('transferCollateral', `to: '${sushiswapRouter}'`),
    'move-greedy': planned('transferCollateral', "value: '1'"),
  },
} as const
const fills = {
  'fill-mute': "perpFill: () => { throw new Error('no fill today') }",
  'fill-garbled': 'perpFill: () => ({ sizeRaw: 1 })',
  'fill-beyond-all': 'perpFill: () => ({ ...perp.perpFill(), closedRatio: { numerator: 2n, denominator: 1n } })',
}

describe('a perpetual exchange', () => {
  let folder: string
  let server: TestServer
  const market = { base: 'ETH', quote: 'USD' }
  const fieldsOf: Readonly<Record<string, object>> = {
    'market-prices': market,
    'market-status': market,
    pairs: {},
    price: { ...market, amount: '1', side: 'LONG' },
    position: { ...market, wallet_address: wallet },
    margin: { wallet_address: wallet },
    funding: { wallet_address: wallet },
    balance: { address: wallet },
    estimateGas: {},
    open: { ...market, address: wallet, amount: '1', side: 'LONG', margin: '400', leverage: '8' },
    close: { ...market, address: wallet },
    deposit: { address: wallet, token: 'USDC', amount: '1' },
    withdraw: { address: wallet, token: 'USDC', amount: '1' },
  }
  const ask = (connector: string, verb: string, fields: object = {}) =>
    server.client.post(`/perpAMM/${verb}`, { ...venue, connector, ...fieldsOf[verb], ...fields })
  const nonce = async (): Promise<number> => (await server.client.get('/evm/nonce', { ...venue, address: wallet })).body.nonce

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-mistaken-'))
    await inventExchanges(folder, { honest: '', ...Object.assign({}, ...Object.values(lies)), ...fills })
    server = await startServer({ plugins: [folder] })
  })
  after(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('with other decimals is shown correctly by every endpoint', async () => {
    for (const verb of Object.keys(fieldsOf)) {
      const { status, text } = await ask('honest', verb)
      expect(status, `${verb}: ${text}`).to.equal(200)
    }
    expect((await ask('honest', 'price')).body).to.include({
      amount: '1.0000',
      side: 'LONG',
      expectedAmount: '3003.000000',
      fee: '3.000000',
      markPrice: '3001',
    })
    expect((await ask('honest', 'position')).body.position).to.deep.include({
      positionAmt: '1.0000',
      positionSide: 'LONG',
      unrealizedProfit: '100.000000',
      pendingFundingPayment: '-0.000001',
      tickerSymbol: 'ETHUSD',
    })
    const { funding } = (await ask('honest', 'funding')).body
    expect(funding[0]).to.deep.include({ fundingPeriodSeconds: 28_800, nextFundingTimestamp: 2_000_000_000_000 })
    expect(Number(funding[0].fundingRate)).to.equal(-0.125)
    expect((await ask('honest', 'balance')).body).to.include({ balance: '900.000000', token: 'USDC' })
  })

  it('has its fills shown in the decimals of the market', async () => {
    const { body } = await ask('honest', 'close')
    const { fill } = (await mined(server.client, body.txHash)).body
    expect(fill).to.deep.include({ size: '1.0000', fee: '3.000000', realizedProfit: '-2.000000' })
    expect([Number(fill.price), Number(fill.closedRatio)]).to.deep.equal([3003, 0.5])
  })

  for (const [verb, byName] of Object.entries(lies)) {
    for (const name of Object.keys(byName)) {
      it(`appears in the error of an invalid response, and nothing is signed: ${verb} of ${name}`, async () => {
        const before = await nonce()
        const { status, body, text } = await ask(name, verb)
        expect([status, body.name], text).to.deep.equal([500, 'UNKNOWN_ERROR'])
        expect(body.message).to.contain(name)
        expect(await nonce()).to.equal(before)
      })
    }
  }

  for (const name of Object.keys(fills)) {
    it(`does not hide a transaction with an invalid fill: its state is shown without the fill: ${name}`, async () => {
      const { status, text, body } = await ask(name, 'open')
      expect(status, text).to.equal(200)
      const poll = (await mined(server.client, body.txHash)).body
      expect(poll.txReceipt.status).to.equal(1)
      expect(poll).not.to.have.property('fill')
    })
  }
})

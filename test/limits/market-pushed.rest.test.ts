// Prices that somebody pushes with funds of their own, and a token that loses its market, against the limits of clients.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Answer } from '../../testkit/client.ts'
import { admins, coldStore, local, mined, outcome, swap, traders, uniswap } from '../http/shared-server.ts'
import { marketServer, windowSeconds, type MarketServer } from './market-server.ts'

const ofBots = { permissions: ['read', 'trade', 'send'], wallets: [traders], sendTo: { [traders]: [coldStore] } }
const limits = { maxDailyGas: '10', maxFee: '1' }
const clients = {
  seller: { ...ofBots, limits: { ...limits, maxDailyLoss: '1000000' } },
  // With thin, so that its limits alone hold it.
  valued: { ...ofBots, permissions: ['read', 'trade', 'send', 'thin'], limits: { ...limits, value: { perTransaction: '290' } } },
  lossy: { ...ofBots, permissions: ['read', 'trade', 'send', 'thin'], limits: { ...limits, maxDailyLoss: '60' } },
}
/** By version and fee of a pool. Those of v3 are the market of the pair; what is not pushed back stays cheap. */
const down = { 'v3 0.0005': '2400', 'v3 0.003': '1200', 'v2 0.003': '1600' }
const up = { 'v3 0.0005': '4020', 'v3 0.003': '2010' }

describe('a price that somebody pushes', function () {
  this.timeout(300_000)
  const started = marketServer(clients)
  let server: MarketServer['server']
  let as: MarketServer['as']
  let pass: MarketServer['pass']

  before(async () => {
    ;({ server, as, pass } = await started())
    await sell('seller')
    // The prices of before have to last longer than those that are pushed.
    await pass(660)
  })

  async function done(answer: Promise<Answer>): Promise<void> {
    const { status, body, text } = await answer
    expect(status, text).to.equal(200)
    await mined(server.client, body.txHash)
  }
  const sell = (name: string, fields: object = {}) => as(name).post('/amm/trade', { ...swap, address: traders, limitPrice: '1', ...fields })
  const send = (name: string, amount: string) =>
    as(name).post('/evm/send', { ...local, address: traders, to: coldStore, token: 'WETH', amount })

  interface ShownPool {
    readonly pool: string
    readonly version: string
    readonly fee: string
    readonly price: string
  }
  /** The deepest first. */
  async function pools(): Promise<readonly [ShownPool, ...ShownPool[]]> {
    const { body, text } = await server.client.get('/amm/pools', { ...uniswap, base: 'WETH', quote: 'USDC' })
    expect(body.pools, text).to.have.length.above(1)
    return body.pools
  }
  /** Trades of somebody else, until all who read the pools see their price. */
  async function push(
    side: 'SELL' | 'BUY',
    amounts: Readonly<Record<string, string>>,
    isPushed: (price: number) => boolean,
  ): Promise<void> {
    for (const { pool, version, fee } of await pools()) {
      const amount = amounts[`${version} ${fee}`]
      if (amount === undefined) continue
      const trade = { ...swap, address: admins, pool, side, amount, limitPrice: side === 'SELL' ? '1' : '9000' }
      await done(server.client.post('/amm/trade', trade))
    }
    const arePushed = async () =>
      (await pools()).every(({ version, fee, price }) => amounts[`${version} ${fee}`] === undefined || isPushed(Number(price)))
    for (const endsAt = Date.now() + 180_000; !(await arePushed()); await sleep(50))
      if (Date.now() > endsAt) throw new Error(JSON.stringify(await pools()))
  }
  async function refused(answer: Promise<Answer>, wanted: string, limit?: string): Promise<void> {
    const { text, ...rest } = await answer
    expect(outcome({ text, ...rest }), text).to.equal(wanted)
    if (limit !== undefined) expect(rest.body.details.limit, text).to.equal(limit)
  }

  it('sells nothing cheaply and gives no more by value, for a block, a minute and ten minutes', async () => {
    expect(outcome(await sell('seller'))).to.equal('200')
    await refused(send('valued', '0.1'), '403 LIMIT_EXCEEDED', 'value.perTransaction')
    await push('SELL', down, (price) => price < 2_600)
    await pass(10)
    const low = (await pools()).filter(({ price }) => Number(price) < 2_600)
    expect(low).to.have.length(Object.keys(down).length)
    for (const { pool } of low) await refused(sell('seller', { pool }), '403 LIMIT_EXCEEDED', 'maxPriceImpact')
    for (const seconds of [0, 50, 540]) {
      await pass(seconds)
      const [{ pool }] = await pools()
      await refused(sell('seller', { pool }), '403 LIMIT_EXCEEDED', 'maxPriceImpact')
      await refused(sell('lossy', { pool, amount: '0.2' }), '403 LIMIT_EXCEEDED', 'maxDailyLoss')
      await refused(send('valued', '0.1'), '403 LIMIT_EXCEEDED', 'value.perTransaction')
      // Elsewhere it sells at the price of before.
      expect(outcome(await sell('seller'))).to.equal('200')
    }
    // Who may use thin markets may sell there, too.
    const [{ pool: cheap }] = await pools()
    expect(outcome(await sell('client', { pool: cheap }))).to.equal('200')
    // A fall that has lasted for more than half of the window is the market.
    await pass(windowSeconds / 2 - 540)
    const [{ pool }] = await pools()
    expect(outcome(await sell('seller', { pool }))).to.equal('200')
    expect(outcome(await send('valued', '0.1'))).to.equal('200')
  })

  it('counts by value at once where it is pushed up', async () => {
    await push('BUY', up, (price) => price > 3_300)
    await pass(10)
    await refused(send('valued', '0.1'), '403 LIMIT_EXCEEDED', 'value.perTransaction')
    // What is bought is held against the lower price of before.
    const [{ pool }] = await pools()
    await refused(sell('seller', { pool, side: 'BUY', limitPrice: '9000' }), '403 LIMIT_EXCEEDED', 'maxPriceImpact')
  })

  it('that takes the depth of its pools leaves no market: nothing is given by value, nor traded without thin, until it is back', async () => {
    await push('SELL', { 'v3 0.003': '2700' }, (price) => price < 2_500)
    await pass(10)
    await refused(send('valued', '0.01'), '403 LIMIT_EXCEEDED', 'value')
    await refused(sell('lossy', { amount: '0.01' }), '403 LIMIT_EXCEEDED', 'maxDailyLoss')
    await refused(sell('seller', { amount: '0.01' }), '403 FORBIDDEN')
    expect(outcome(await sell('client', { amount: '0.01' }))).to.equal('200')
    await push('BUY', { 'v3 0.003': '2700' }, (price) => price > 3_300)
    await pass(10)
    expect(outcome(await send('valued', '0.01'))).to.equal('200')
    expect(outcome(await sell('lossy', { amount: '0.01' }))).to.equal('200')
  })
})

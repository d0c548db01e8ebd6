// Prices that somebody pushes with funds of their own, and a token that loses its market, against the limits of clients.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Wallet, parseUnits, toQuantity } from 'ethers'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { openMarket } from '../../core/parts/trading.ts'
import { newClients } from '../../core/tls/certificates.ts'
import { createClient, type Answer, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { callOf, sendFrom, takeAccount } from '../devnet/accounts.ts'
import { addresses } from '../devnet/addresses.ts'
import { admins, coldStore, local, mined, oneChain, outcome, swap, traders, uniswap } from '../http/shared-server.ts'

const ofBots = { permissions: ['read', 'trade', 'send'], wallets: [traders], sendTo: { [traders]: [coldStore] } }
const limits = { maxDailyGas: '10', maxFee: '1' }
const clients = {
  client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' },
  bot: { ...ofBots, limits: { ...limits, maxDailyLoss: '1000000' } },
  // With thin, so that its limits alone hold it.
  valued: { ...ofBots, permissions: ['read', 'trade', 'send', 'thin'], limits: { ...limits, value: { perTransaction: '290' } } },
  lossy: { ...ofBots, permissions: ['read', 'trade', 'send', 'thin'], limits: { ...limits, maxDailyLoss: '60' } },
}
/** Two pools of WETH and USDC have it. By their fees, what moves their prices from 3000 to 2590, and from there to 3390. */
const marketDepth = 650_000
/** Ten minutes are less than half of it, also where the server reads by itself meanwhile. */
const windowSeconds = 24 * 60
const down = { '0.0005': '2400', '0.003': '1200' }
const up = { '0.0005': '4020', '0.003': '2010' }

describe('a price that somebody pushes', function () {
  this.timeout(300_000)
  let server: TestServer
  let nowMs = 0
  const opened = new Map<string, Client>()

  before(async () => {
    server = await startServer(
      {
        settings: {
          ...oneChain.settings,
          'limits.onLocalNetworks': true,
          'limits.marketMinutes': windowSeconds / 60,
          'limits.marketDepth': marketDepth,
        },
        conf: { ...oneChain.conf, 'clients.yml': { clients } },
      },
      undefined,
      false,
      { market: { open: (parts) => openMarket(parts, () => nowMs), stop: (market) => market.stop() } },
    )
    const ids = Object.keys(clients).slice(1)
    await newClients(server.certsDir, ids)
    for (const id of ids) opened.set(id, createClient(server.url, server.certsDir, id))
    // Who pushes has as much as it likes.
    const rpc = rpcTo(server.rpcUrl)
    await rpc('anvil_setBalance', admins, toQuantity(parseUnits('1000000', 18)))
    const minter = Wallet.createRandom().address
    await takeAccount(rpc, minter, parseUnits('1000', 18))
    await sendFrom(rpc, minter, callOf(addresses.tokens.USDC.address, 'mint(address,uint256)', [admins, parseUnits('1000000000', 6)]))
    await done(server.client.post('/evm/wrap', { ...local, address: admins, amount: '200000' }))
    for (const address of [admins, traders])
      for (const token of ['WETH', 'USDC'])
        await done(server.client.post('/evm/approve', { ...local, address, spender: 'uniswap/v3', token }))
    await sell('bot')
    await pass(windowSeconds)
  })
  after(async () => {
    for (const client of opened.values()) client.close()
    await server?.stop()
  })

  const as = (name: string): Client => opened.get(name) ?? server.client
  async function done(answer: Promise<Answer>): Promise<void> {
    const { status, body, text } = await answer
    expect(status, text).to.equal(200)
    await mined(server.client, body.txHash)
  }
  /** The market is read once in a minute of this time: so much between two readings counts as a whole. */
  async function pass(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= 60) {
      nowMs += Math.min(left, 60) * 1000
      await server.kernel.services.market.read()
    }
  }
  const sell = (name: string, fields: object = {}) =>
    as(name).post('/amm/trade', { ...swap, version: 'v3', address: traders, limitPrice: '1', ...fields })
  const send = (name: string, amount: string) =>
    as(name).post('/evm/send', { ...local, address: traders, to: coldStore, token: 'WETH', amount })

  interface ShownPool {
    readonly pool: string
    readonly fee: string
    readonly price: string
  }
  /** The deepest first. */
  async function pools(): Promise<readonly [ShownPool, ...ShownPool[]]> {
    const { body, text } = await server.client.get('/amm/pools', { ...uniswap, version: 'v3', base: 'WETH', quote: 'USDC' })
    expect(body.pools, text).to.have.length.above(1)
    return body.pools
  }
  /** Trades of somebody else, until all who read the pools see their price. */
  async function push(
    side: 'SELL' | 'BUY',
    amounts: Readonly<Record<string, string>>,
    isPushed: (price: number) => boolean,
  ): Promise<void> {
    for (const { pool, fee } of await pools()) {
      const amount = amounts[fee]
      if (amount === undefined) continue
      const trade = { ...swap, version: 'v3', address: admins, pool, side, amount, limitPrice: side === 'SELL' ? '1' : '9000' }
      await done(server.client.post('/amm/trade', trade))
    }
    const arePushed = async () => (await pools()).every(({ fee, price }) => amounts[fee] === undefined || isPushed(Number(price)))
    for (const endsAt = Date.now() + 40_000; !(await arePushed()); await sleep(50))
      if (Date.now() > endsAt) throw new Error(JSON.stringify(await pools()))
  }
  async function refused(answer: Promise<Answer>, wanted: string, limit?: string): Promise<void> {
    const { text, ...rest } = await answer
    expect(outcome({ text, ...rest }), text).to.equal(wanted)
    if (limit !== undefined) expect(rest.body.details.limit, text).to.equal(limit)
  }

  it('sells nothing cheaply and gives no more by value, for a block, a minute and ten minutes', async () => {
    expect(outcome(await sell('bot'))).to.equal('200')
    await refused(send('valued', '0.1'), '403 LIMIT_EXCEEDED', 'value.perTransaction')
    await push('SELL', down, (price) => price < 2_600)
    for (const seconds of [10, 50, 540]) {
      await pass(seconds)
      const [{ pool }] = await pools()
      await refused(sell('bot', { pool }), '403 LIMIT_EXCEEDED', 'maxPriceImpact')
      await refused(sell('lossy', { pool, amount: '0.2' }), '403 LIMIT_EXCEEDED', 'maxDailyLoss')
      await refused(send('valued', '0.1'), '403 LIMIT_EXCEEDED', 'value.perTransaction')
      // Elsewhere it sells at the price of before.
      expect(outcome(await sell('bot'))).to.equal('200')
    }
    // A fall that has lasted for more than half of the window is the market.
    await pass(300)
    const [{ pool }] = await pools()
    expect(outcome(await sell('bot', { pool }))).to.equal('200')
    expect(outcome(await send('valued', '0.1'))).to.equal('200')
  })

  it('counts by value at once where it is pushed up', async () => {
    await pass(windowSeconds)
    await push('BUY', up, (price) => price > 3_300)
    await pass(10)
    await refused(send('valued', '0.1'), '403 LIMIT_EXCEEDED', 'value.perTransaction')
    // What is bought is held against the lower price of before.
    const bought = as('bot').post('/amm/trade', { ...swap, version: 'v3', address: traders, side: 'BUY', limitPrice: '9000' })
    await refused(bought, '403 LIMIT_EXCEEDED', 'maxPriceImpact')
  })

  it('that takes the depth of its pools leaves no market: nothing is given by value, nor traded without thin, until it is back', async () => {
    await pass(windowSeconds)
    await push('SELL', { '0.003': '2700' }, (price) => price < 2_500)
    await pass(10)
    await refused(send('valued', '0.01'), '403 LIMIT_EXCEEDED', 'value')
    await refused(sell('lossy', { amount: '0.01' }), '403 LIMIT_EXCEEDED', 'maxDailyLoss')
    await refused(sell('bot', { amount: '0.01' }), '403 FORBIDDEN')
    expect(outcome(await sell('client', { amount: '0.01' }))).to.equal('200')
    await push('BUY', { '0.003': '2700' }, (price) => price > 3_300)
    await pass(10)
    expect(outcome(await send('valued', '0.01'))).to.equal('200')
    expect(outcome(await sell('lossy', { amount: '0.01' }))).to.equal('200')
  })
})

// What a client may give away, by token and by value: each kind of request against the limits, on the devnet.
import { expect } from 'chai'
import type { Answer, Client } from '../../../testkit/client.ts'
import { until } from '../../transactions/site.ts'
import { coldStore, listedSpender, local, outcome, swap, traders, uniswap, withoutBlocks } from '../../http/shared-server.ts'
import { limitedServer, type LimitedServer } from './limited-server.ts'

const tokens = { 'ethereum/local': { USDC: { perTransaction: '500', perDay: '1000' }, WETH: { perHour: '0.3' }, ETH: { perDay: '1' } } }
const ofBots = { permissions: ['read', 'trade', 'thin', 'send'], wallets: 'all', sendTo: { [traders]: [coldStore] } }
const clients = {
  // Each test has a client of its own: what one has spent is not spent by another.
  ...Object.fromEntries(
    ['swapper', 'maker', 'provider', 'payer', 'approver', 'settled'].map((name) => [
      name,
      { ...ofBots, limits: { maxDailyGas: '10', tokens } },
    ]),
  ),
  valued: { ...ofBots, limits: { maxDailyGas: '10', value: { perTransaction: '900', perDay: '1000' } } },
  open: { ...ofBots, limits: { value: { perDay: '1' } } },
}

describe('the amounts that a client may give away', function () {
  this.timeout(300_000)
  const started = limitedServer(clients)
  let rpc: LimitedServer['rpc']
  let as: LimitedServer['as']
  let mined: LimitedServer['mined']
  let pass: LimitedServer['pass']
  before(async () => {
    ;({ rpc, as, mined, pass } = await started())
  })

  const ofTraders = { ...local, address: traders }
  async function approve(client: Client, fields: object): Promise<Answer> {
    const answer = await client.post('/evm/approve', { ...ofTraders, ...fields })
    if (answer.status === 200) await mined(answer.body.txHash)
    return answer
  }
  const sell = (client: Client, fields: object = {}) => client.post('/amm/trade', { ...swap, address: traders, ...fields })
  const send = (client: Client, token: string, amount: string) => client.post('/evm/send', { ...ofTraders, to: coldStore, token, amount })
  const passes = async (answer: Promise<Answer>) => {
    const { status, text } = await answer
    expect(status, text).to.equal(200)
  }
  const refused = async (answer: Promise<Answer>, details: object) => {
    const { body, text, ...rest } = await answer
    expect(outcome({ body, text, ...rest }), text).to.equal('403 LIMIT_EXCEEDED')
    expect(body.details).to.include(details)
    return body
  }

  it('refuse a swap that gives more than is left, and one of a token that has no limit', async () => {
    const bot = as('swapper')
    await passes(sell(bot, { amount: '0.2' }))
    const { message } = await refused(sell(bot, { amount: '0.2' }), { limit: 'tokens.perHour', token: 'WETH', left: '0.1' })
    expect(message).to.contain('This may take 0.2 WETH')
    await refused(sell(bot, { base: 'USDC', quote: 'WETH', amount: '501' }), { limit: 'tokens.perTransaction', token: 'USDC', left: '500' })
    // What a purchase may give at most, and native coin.
    await refused(sell(bot, { side: 'BUY', amount: '0.2' }), { limit: 'tokens.perTransaction', token: 'USDC' })
    await refused(sell(bot, { base: 'ETH', amount: '1.1' }), { limit: 'tokens.perDay', token: 'ETH' })
    await refused(sell(bot, { base: 'DAI', amount: '1' }), { limit: 'tokens', token: 'DAI', left: '0' })
  })

  it('refuse an order that offers more than is left', async () => {
    const place = (fields: object) =>
      as('maker').post('/clob/orders', {
        ...ofTraders,
        connector: 'oasis',
        market: 'WETH-USDC',
        orderType: 'LIMIT',
        side: 'SELL',
        amount: '0.2',
        price: '9000',
        ...fields,
      })
    await passes(place({}))
    await refused(place({}), { limit: 'tokens.perHour', token: 'WETH', left: '0.1' })
    await refused(place({ side: 'BUY', amount: '1', price: '600' }), { limit: 'tokens.perTransaction', token: 'USDC' })
    await passes(place({ side: 'BUY', amount: '1', price: '100' }))
  })

  it('refuse deposits into pools and exchanges that put in more than is left', async () => {
    const bot = as('provider')
    const range = { token0: 'WETH', token1: 'USDC', lowerPrice: '2500', upperPrice: '3500', version: 'v3', fee: 'LOW' }
    const add = (amount0: string, amount1: string) =>
      bot.post('/amm/liquidity/add', { ...uniswap, address: traders, ...range, amount0, amount1 })
    await passes(add('0.1', '300'))
    await refused(add('0.25', '100'), { limit: 'tokens.perHour', token: 'WETH', left: '0.2' })
    const shares = { ...uniswap, address: traders, tokens: ['WETH', 'DAI'], amounts: ['0.01', '100'] }
    await refused(bot.post('/amm/shares/add', shares), { limit: 'tokens', token: 'DAI' })
    const deposit = (amount: string) => bot.post('/perp/deposit', { ...ofTraders, connector: 'perp', token: 'USDC', amount })
    await refused(deposit('501'), { limit: 'tokens.perTransaction', token: 'USDC' })
    await passes(deposit('500'))
    await refused(deposit('400'), { limit: 'tokens.perDay', token: 'USDC', left: '200' })
  })

  it('refuse to send more than is left, of a token or of the coin, and let wraps through', async () => {
    const bot = as('payer')
    await passes(send(bot, 'USDC', '500'))
    await refused(send(bot, 'USDC', '500.000001'), { limit: 'tokens.perTransaction' })
    await passes(send(bot, 'USDC', '500'))
    await refused(send(bot, 'USDC', '0.000001'), { limit: 'tokens.perDay', token: 'USDC', left: '0' })
    await passes(send(bot, 'ETH', '0.75'))
    await refused(send(bot, 'ETH', '0.3'), { limit: 'tokens.perDay', token: 'ETH', left: '0.25' })
    await refused(send(bot, 'DAI', '1'), { limit: 'tokens', token: 'DAI' })
    for (const how of ['wrap', 'unwrap']) await passes(bot.post(`/evm/${how}`, { ...ofTraders, amount: '3' }))
  })

  it('count an approval as what its spender may take, unless it is an exchange of this release', async () => {
    const bot = as('approver')
    const spender = listedSpender
    const used = async () => {
      const { body } = await bot.get('/limits')
      return Object.fromEntries(body.limits.map((row: Record<string, string>) => [`${row.unit} ${row.limit}`, row.used]))
    }
    expect(outcome(await approve(bot, { spender, token: 'USDC', amount: '400' }))).to.equal('200')
    await refused(approve(bot, { spender, token: 'USDC' }), { limit: 'tokens.perTransaction' })
    await refused(approve(bot, { spender, token: 'DAI', amount: '1' }), { limit: 'tokens', token: 'DAI' })
    expect(outcome(await approve(bot, { spender: 'uniswap', token: 'USDC' }))).to.equal('200')
    expect(await used()).to.include({ 'USDC tokens.perDay': '400', 'WETH tokens.perHour': '0', 'ETH tokens.perDay': '0' })
    // What the allowance still held is free again, once the revocation is final.
    expect(outcome(await approve(bot, { spender, token: 'USDC', amount: '0' }))).to.equal('200')
    await rpc('anvil_mine', '0x4')
    await until('the allowance is taken back', async () => (await used())['USDC tokens.perDay'] === '0')
  })

  it('settle a swap to what it gave, and show what is left', async () => {
    const bot = as('settled')
    const row = async () =>
      (await bot.get('/limits')).body.limits.find(
        (each: { limit: string; unit: string }) => each.limit === 'tokens.perDay' && each.unit === 'USDC',
      )
    // Nothing is final meanwhile, so nothing is settled.
    const [bought, reserved] = await withoutBlocks(rpc, async () => [await sell(bot, { side: 'BUY', amount: '0.1' }), await row()] as const)
    expect(bought.status, bought.text).to.equal(200)
    expect(reserved).to.include({ allowed: '1000', window: 'day', ...local })
    await rpc('anvil_mine', '0x4')
    const { body } = await mined(bought.body.txHash)
    await until('the swap is settled', async () => (await row()).used !== reserved.used)
    const { used, left } = await row()
    expect(Number(used)).to.be.below(Number(reserved.used))
    expect(Number(used)).to.be.closeTo(Number(body.fill.amountIn), 0.000001)
    expect(Number(used) + Number(left)).to.equal(1000)
  })

  it('refuse by value what has no price, and then what is worth more than is left', async () => {
    const bot = as('valued')
    await refused(send(bot, 'WETH', '0.1'), { limit: 'value', reason: 'no market' })
    await pass(6)
    await refused(send(bot, 'ETH', '1'), { limit: 'value.perTransaction', left: '900' })
    await passes(send(bot, 'ETH', '0.1'))
    await passes(sell(bot, { amount: '0.2' }))
    const { message } = await refused(sell(bot, { amount: '0.2' }), { limit: 'value.perDay' })
    expect(message).to.match(/value\.perDay of the client is 1000 USDC in a rolling day/)
  })

  it('close a client whose fees have no limit', async () => {
    const answer = await as('open').get('/network/tokens', local)
    expect(outcome(answer), answer.text).to.equal('403 FORBIDDEN')
    expect(answer.text).to.contain('limits what it gives away, and not its fees')
  })
})

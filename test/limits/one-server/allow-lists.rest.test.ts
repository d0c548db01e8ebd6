// What certificates with lists may touch, by every way of moving money.
import { expect } from 'chai'
import type { ClientLimits } from '../../../core/config/clients.ts'
import type { Answer } from '../../../testkit/client.ts'
import { coldStore, local, others, outcome, swap, traders, uniswap, withoutBlocks } from '../../http/shared-server.ts'
import { limitedServer, type LimitedServer } from './limited-server.ts'

const trader = (limits: ClientLimits) => ({
  permissions: ['read', 'trade', 'thin', 'send'],
  wallets: [traders],
  sendTo: { [traders]: [coldStore, others] },
  limits,
})
/** Hours that are over and never are now: none of today's minutes is later than the last. */
const never = ['00:00-00:00']
const lists = {
  nothing: { allowed: { actions: [] } },
  closed: { allowed: { hours: never } },
  uniswapper: { allowed: { connectors: ['uniswap'] } },
  booker: { allowed: { connectors: ['oasis'] } },
  elsewhere: { allowed: { networks: ['ethereum/mainnet'] } },
  pair: { allowed: { tokens: ['WETH', 'USDC'] } },
  pooled: { allowed: { pools: [others] } },
  sender: { allowed: { recipients: [others] } },
  careful: { maxSlippage: 0.01, maxLeverage: 1, maxPriceImpact: 1 },
} satisfies Record<string, ClientLimits>
const clients = Object.fromEntries(Object.entries(lists).map(([name, limits]) => [name, trader(limits)]))

const address = traders
const perp = { ...local, connector: 'perp', address, base: 'ETH', quote: 'USD' }
const oasis = { ...local, connector: 'oasis', address }
const order = { market: 'WETH-USDC', side: 'SELL', orderType: 'LIMIT', price: '8000', amount: '0.1' }
const range = { token0: 'WETH', token1: 'USDC', amount0: '0.1', amount1: '300', lowerPrice: '2500', upperPrice: '3500' }
/** By action: a request that works. */
const requests = {
  swap: ['/amm/trade', { ...swap, address }],
  order: ['/clob/orders', { ...oasis, ...order }],
  liquidity: ['/amm/liquidity/add', { ...uniswap, address, ...range, fee: 'LOW', version: 'v3' }],
  shares: ['/amm/shares/add', { ...local, connector: 'sushiswap', address, tokens: ['WETH', 'USDC'], amounts: ['0.1', '300'] }],
  perpetual: ['/perp/open', { ...perp, side: 'LONG', amount: '0.5', margin: '800', leverage: '2' }],
  deposit: ['/perp/deposit', { ...local, connector: 'perp', address, token: 'USDC', amount: '10' }],
  withdraw: ['/perp/withdraw', { ...local, connector: 'perp', address, token: 'USDC', amount: '1' }],
  transfer: ['/evm/send', { ...local, address, to: coldStore, token: 'USDC', amount: '1' }],
  wrap: ['/evm/wrap', { ...local, address, amount: '1' }],
  approve: ['/evm/approve', { ...local, address, spender: 'uniswap', token: 'WETH' }],
} as const
type Action = keyof typeof requests

describe('the lists of a client, at every way of moving money', () => {
  const started = limitedServer(clients)
  let server: LimitedServer['server']
  let rpc: LimitedServer['rpc']
  let as: LimitedServer['as']
  let mined: LimitedServer['mined']
  const ask = (name: string, action: Action, fields: object = {}): Promise<Answer> => {
    const [path, body] = requests[action]
    return as(name).post(path, { ...body, ...fields })
  }
  /** `200`, or the limit that refuses it. */
  const outcomeOf = (answer: Answer): string => (outcome(answer) === '403 LIMIT_EXCEEDED' ? answer.body.details.limit : outcome(answer))
  const submitted = async (path: string, body: object): Promise<Answer> => {
    const answer = await server.client.post(path, body)
    expect(outcome(answer), answer.text).to.equal('200')
    return mined(answer.body.txHash)
  }

  before(async function () {
    this.timeout(300_000)
    ;({ server, rpc, as, mined } = await started())
    await submitted('/perp/deposit', { ...requests.deposit[1], amount: '2000' })
  })

  it('refuse every action that is not listed, and each outside of its hours', async () => {
    for (const action of Object.keys(requests) as Action[]) {
      const answer = await ask('nothing', action)
      expect(outcomeOf(answer), `${action}: ${answer.text}`).to.equal('allowed.actions')
      expect(answer.body.details).to.deep.include({ value: action, allowed: [] })
      expect(outcomeOf(await ask('closed', action)), action).to.equal('allowed.hours')
      expect(outcomeOf(await ask('elsewhere', action)), action).to.equal('allowed.networks')
    }
    expect((await server.client.get('/transactions', { ...local, state: 'QUEUED' })).body.transactions).to.deep.equal([])
  })

  it('let through what cancels or takes back, at any hour', async () => {
    const [path, wanted] = requests.liquidity
    const { body } = await submitted(path, wanted)
    const removed = await as('closed').post('/amm/liquidity/remove', { ...uniswap, address, tokenId: body.fill.tokenId, version: 'v3' })
    expect(removed && outcome(removed), removed?.text).to.equal('200')
    const revoked = await ask('nothing', 'approve', { amount: '0', spender: 'pancakeswap' })
    expect(outcome(revoked), revoked.text).to.equal('200')
    const placed = await ask('client', 'order')
    await mined(placed.body.txHash)
    const { clientOrderId } = placed.body
    const cancelled = await as('closed').request('DELETE', '/clob/orders', {
      raw: JSON.stringify({ ...oasis, market: order.market, clientOrderId }),
      headers: { 'Content-Type': 'application/json' },
    })
    expect(cancelled && outcome(cancelled), cancelled?.text).to.equal('200')
  })

  it('hold connectors on what any chooses, on approvals, and on each order', async () => {
    expect(outcome(await ask('uniswapper', 'swap'))).to.equal('200')
    const other = await ask('uniswapper', 'swap', { connector: 'sushiswap' })
    expect(outcomeOf(other)).to.equal('allowed.connectors')
    expect(other.body.details).to.deep.equal({ limit: 'allowed.connectors', value: 'sushiswap', allowed: ['uniswap'] })
    const chosen = await ask('uniswapper', 'swap', { connector: 'any', amount: '3' })
    expect(chosen.body.connector, chosen.text).to.equal('uniswap')
    expect(outcomeOf(await ask('uniswapper', 'swap', { connector: 'any', connectors: ['sushiswap', 'curve'] }))).to.equal(
      'allowed.connectors',
    )
    expect(outcome(await ask('uniswapper', 'approve'))).to.equal('200')
    expect(outcomeOf(await ask('uniswapper', 'approve', { spender: 'sushiswap' }))).to.equal('allowed.connectors')
    // Of all exchanges the one that is listed.
    const every = await ask('uniswapper', 'approve', { spender: 'any', amount: '6' })
    expect(outcome(every), every.text).to.equal('200')
    expect(new Set((every.body.transactions ?? [every.body]).map(({ spender }: { spender: string }) => spender))).to.have.property(
      'size',
      1,
    )
    expect(outcomeOf(await ask('booker', 'approve', { spender: 'any' }))).to.equal('allowed.connectors')
    expect(outcomeOf(await ask('uniswapper', 'order'))).to.equal('allowed.connectors')
  })

  it('hold tokens on what is given and got, and pools on the route', async () => {
    expect(outcome(await ask('pair', 'swap'))).to.equal('200')
    const dai = await ask('pair', 'swap', { base: 'WETH', quote: 'DAI' })
    expect(outcomeOf(dai), dai.text).to.equal('allowed.tokens')
    expect(dai.body.details).to.deep.include({ value: 'DAI', allowed: ['WETH', 'USDC'] })
    // Sluice wraps the coin, which is not WETH.
    expect(outcomeOf(await ask('pair', 'wrap'))).to.equal('allowed.tokens')
    expect(outcomeOf(await ask('pair', 'transfer', { token: 'ETH' }))).to.equal('allowed.tokens')
    for (const action of ['swap', 'liquidity', 'shares'] as const) expect(outcomeOf(await ask('pooled', action))).to.equal('allowed.pools')
    expect(outcome(await ask('pooled', 'wrap'))).to.equal('200')
  })

  it('keep the other orders of a batch', async () => {
    const create = [order, { ...order, market: 'WETH-DAI' }]
    const answer = await as('pair').post('/clob/batchOrders', { ...oasis, create })
    expect(answer?.status, answer?.text).to.equal(200)
    const [own, other] = answer?.body.created ?? []
    expect(own.state).to.equal('PENDING_OPEN')
    expect(other.error.details?.limit ?? other.error.name).to.match(/allowed\.tokens|LIMIT_EXCEEDED/)
  })

  it('hold recipients beside sendTo', async () => {
    expect(outcomeOf(await ask('sender', 'transfer'))).to.equal('allowed.recipients')
    expect(outcome(await ask('sender', 'transfer', { to: others }))).to.equal('200')
    expect(outcome(await ask('uniswapper', 'transfer'))).to.equal('200')
  })

  it('bound slippage, leverage and price impact, also with the permission thin', async () => {
    expect(outcomeOf(await ask('careful', 'swap'))).to.equal('maxSlippage')
    const tight = await ask('careful', 'swap', { allowedSlippage: '1/10000' })
    // No file before this one has let the market's time pass.
    expect(outcome(tight), tight.text).to.equal('403 FORBIDDEN')
    expect(tight.body.details).to.include({ reason: 'market too short' })
    expect(tight.body.message).to.contain('maxPriceImpact')
    const market = { orderType: 'MARKET', side: 'BUY', price: undefined, limitPrice: '9000' }
    expect(outcomeOf(await ask('careful', 'order', market))).to.match(/maxSlippage|PRICE_FAILED/)
    // While anvil makes a block, calls may have its state and the clock of the block before, which the exchange does not stand.
    const open = (fields: object) => withoutBlocks(rpc, () => ask('careful', 'perpetual', { allowedSlippage: '1/10000', ...fields }))
    const opened = await open({})
    expect(outcomeOf(opened), opened.text).to.equal('200')
    await mined(opened.body.txHash)
    const more = await open({ amount: '0.4' })
    expect(outcomeOf(more), more.text).to.equal('maxLeverage')
  })

  it('are shown with the other limits', async () => {
    const { body } = (await as('careful').get('/limits')) ?? {}
    expect(body.limits).to.deep.include({ limit: 'maxSlippage', allowed: '0.01', unit: '%' })
    const shown = (await as('pair').get('/limits'))?.body.limits
    expect(shown).to.deep.equal([{ limit: 'allowed.tokens', allowed: 'WETH, USDC', unit: 'list' }])
  })
})

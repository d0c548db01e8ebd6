import { expect } from 'chai'
import type { Answer } from '../../testkit/client.ts'
import { until } from '../../tools/hyperliquid-simulator/client.ts'
import { follow, type Follower } from './client.ts'
import { admins, local, mined, outcome, sharedServer, traders, uniswap, type SharedServer } from '../http/shared-server.ts'

const perp = { ...local, connector: 'perp', address: traders } as const
const market = { base: 'ETH', quote: 'USD' }
const asked = { topics: 'positions', ...perp }
/** What prices alone change. */
const floating = ['unrealizedProfit', 'leverage', 'markPrice', 'liquidationPrice', 'pendingFundingPayment']
const lasting = (position: object) => Object.fromEntries(Object.entries(position).filter(([name]) => !floating.includes(name)))

describe('positions in /events', function () {
  this.timeout(300_000)
  let server: SharedServer
  const followers: Follower[] = []
  before(async () => {
    server = await sharedServer()
    await made('/evm/approve', { ...local, address: traders, spender: 'perp', token: 'USDC' })
    await deposit()
  })
  afterEach(async () => {
    for (const follower of followers.splice(0)) await follower.close()
  })
  const come = (query: Record<string, string> = {}, name = 'trader') =>
    follow({ url: server.kernel.url, certsDir: server.settings.ssl.certsDir, name }, { ...asked, ...query })
  const listen = async (query?: Record<string, string>, name?: string) => {
    const follower = await come(query, name)
    followers.push(follower)
    return follower
  }
  async function made(path: string, fields: object): Promise<Answer> {
    const { body, status, text } = await server.client.post(path, fields)
    expect(status, text).to.equal(200)
    return mined(server.client, body.txHash)
  }
  const deposit = () => made('/perpAMM/deposit', { ...perp, token: 'USDC', amount: '1000' })
  const open = (amount: string) => made('/perpAMM/open', { ...perp, ...market, side: 'LONG', amount, margin: '200', leverage: '5' })
  /** Of what is told after so many others. */
  const next = async (follower: Follower, after: number) =>
    (await follower.hears(`more than ${after}`, (told) => follower.told.indexOf(told) >= after)).data

  it('come at once and when they are opened, increased or closed, but not when only the account changes', async () => {
    const [all, one] = [await listen(), await listen({ base: 'eth', quote: 'Usd' }, 'client')]
    const both = (after: number) => Promise.all([next(all, after), next(one, after)])
    const [none] = await both(0)
    expect(none).to.deep.equal({ ...perp, positions: [], blockNumber: none.blockNumber, timestamp: none.timestamp })
    expect(none.blockNumber).to.be.a('number')
    await open('0.1')
    for (const { positions } of await both(1)) expect(positions).to.have.length(1)
    await open('0.1')
    const [grown] = await both(2)
    const { body } = await server.client.post('/perpAMM/position', { ...local, connector: 'perp', wallet_address: traders, ...market })
    expect(grown.positions[0]).to.have.all.keys(body.position)
    expect(lasting(grown.positions[0])).to.deep.equal(lasting(body.position))
    expect(Number(grown.positions[0].positionAmt)).to.equal(0.2)
    // Their leverage and liquidation price are others then.
    await deposit()
    await until(async () => {
      const again = await come({ lastEventId: '0' })
      const { positions } = await next(again, 0)
      await again.close()
      expect(positions.map(lasting)).to.deep.equal(grown.positions.map(lasting))
      return positions[0].leverage !== grown.positions[0].leverage
    })
    await made('/perpAMM/close', { ...perp, ...market })
    for (const { positions } of await both(3)) expect(positions).to.deep.equal([])
    expect([all.told.length, one.told.length]).to.deep.equal([4, 4])
  })

  for (const [version, spender] of [
    ['v3', 'uniswap/positions'],
    ['v4', 'uniswap/v4Positions'],
  ] as const)
    it(`in a range of prices of ${version} are sent when they are made, changed or burnt`, async () => {
      for (const token of ['WETH', 'USDC']) await made('/evm/approve', { ...local, address: admins, spender, token })
      const follower = await listen({ connector: 'uniswap', address: admins }, 'client')
      const before = (await next(follower, 0)).positions.length
      const range = { token0: 'WETH', token1: 'USDC', fee: 'MEDIUM', amount0: '1', amount1: '3000', lowerPrice: '2500', upperPrice: '3500' }
      const { body } = await made('/amm/liquidity/add', { ...uniswap, ...range, version, address: admins })
      const { tokenId } = body.fill
      const isIt = (each: { tokenId: string }) => each.tokenId === tokenId
      const added = await next(follower, 1)
      expect(added.positions).to.have.length(before + 1)
      const { body: got } = await server.client.get('/amm/liquidity/positions', { ...uniswap, address: admins })
      const whole = added.positions.find(isIt)
      expect(whole).to.have.all.keys(got.positions[0])
      await made('/amm/liquidity/remove', { ...uniswap, address: admins, version, tokenId, decreasePercent: '50' })
      const half = (await next(follower, 2)).positions.find(isIt)
      expect(Number(half.liquidity)).to.be.closeTo(Number(whole.liquidity) / 2, 1)
      await made('/amm/liquidity/remove', { ...uniswap, address: admins, version, tokenId, burn: true })
      expect((await next(follower, 3)).positions).to.have.length(before)
    })

  it('go only to certificates that may use the wallet', async () => {
    const query = { ...asked, address: admins }
    expect(outcome(await server.as.trader.get('/events', query))).to.equal('403 FORBIDDEN')
    expect(outcome(await server.as.visitor.get('/events', asked))).to.equal('403 FORBIDDEN')
  })

  for (const [what, query, expected, field] of [
    ['no connector', { connector: '' }, '400 INCOMPLETE_PARAMS', 'connector'],
    ['no wallet', { address: '' }, '400 INCOMPLETE_PARAMS', 'address'],
    ['half a market', { base: 'ETH' }, '400 INCOMPLETE_PARAMS', 'quote'],
    ['an address with a wrong checksum', { address: traders.replace('C5', 'c5') }, '400 INCOMPLETE_PARAMS', 'address'],
    ['an unknown market', { base: 'DOGE', quote: 'USD' }, '404 PAIR_NOT_FOUND', undefined],
    ['an unknown connector', { connector: 'perps' }, '404 UNKNOWN_CONNECTOR', undefined],
    ['a network that it does not serve', { network: 'mainnet' }, '404 UNKNOWN_CHAIN_ERROR', undefined],
    ['a connector without positions', { connector: 'oasis' }, '501 UNSUPPORTED', undefined],
  ] as const)
    it(`refuse ${what}`, async () => {
      const answer = await server.client.get('/events', { ...asked, ...query })
      expect(outcome(answer), answer.text).to.equal(expected)
      if (field !== undefined) expect(answer.body.details[0].field).to.equal(field)
    })
})

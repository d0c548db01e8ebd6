// By each action that puts something in, how a client takes it out again: with limits that allow it nothing.
import { expect } from 'chai'
import type { ClientLimits } from '../../../core/config/clients.ts'
import type { Answer } from '../../../testkit/client.ts'
import { local, outcome, traders, uniswap, withoutBlocks } from '../../http/shared-server.ts'
import { limitedServer, type LimitedServer } from './limited-server.ts'

const address = traders
/** Nothing may be touched, given, lost or traded; fees alone may be paid. */
const tightest = {
  allowed: { connectors: [], networks: [], tokens: [], pools: [], recipients: [], actions: [], hours: ['00:00-00:00'] },
  maxSlippage: 0.0001,
  maxDailyLoss: '0',
  maxDailyGas: '1',
  transactionsPerHour: 0,
  tokens: {},
  value: { perDay: '0' },
  approveAbove: '0',
} satisfies ClientLimits
const client = (limits: ClientLimits) => ({ permissions: ['read', 'trade', 'thin'], wallets: [address], limits })
const clients = {
  tightest: client(tightest),
  anything: client({ maxDailyGas: '1' }),
  stopper: { permissions: ['read', 'stop', 'resume'], wallets: [address] },
  depositor: client({ allowed: { actions: ['deposit'] } }),
}

const perp = { ...local, connector: 'perp', address }
const oasis = { ...local, connector: 'oasis', address, market: 'WETH-USDC' }

describe('the ways out of a client', () => {
  const started = limitedServer(clients)
  let server: LimitedServer['server']
  let rpc: LimitedServer['rpc']
  let as: LimitedServer['as']
  let mined: LimitedServer['mined']

  before(async function () {
    this.timeout(300_000)
    ;({ server, rpc, as, mined } = await started())
  })

  /** By a client without limits. */
  const put = async (path: string, body: object): Promise<Answer> => {
    const answer = await withoutBlocks(rpc, () => server.client.post(path, body))
    expect(outcome(answer), answer.text).to.equal('200')
    return { ...answer, body: { ...answer.body, ...(await mined(answer.body.txHash)).body } }
  }
  const takes = async (path: string, body: object, by = 'tightest'): Promise<Answer> => {
    const answer = await withoutBlocks(rpc, () => as(by).post(path, body))
    expect(outcome(answer), `${path}: ${answer.text}`).to.equal('200')
    await mined(answer.body.txHash)
    return answer
  }
  const refusal = (answer: Answer): string => (outcome(answer) === '403 LIMIT_EXCEEDED' ? answer.body.details.limit : outcome(answer))

  for (const [connector, tokens, amounts] of [
    ['uniswap', ['ETH', 'USDC'], ['0.1', '300']],
    ['sushiswap', ['WETH', 'USDC'], ['0.1', '300']],
    ['pancakeswap', ['WETH', 'USDC'], ['0.1', '300']],
    ['quickswap', ['WETH', 'USDC'], ['0.1', '300']],
    ['pangolin', ['WETH', 'USDC'], ['0.1', '300']],
    ['traderjoe', ['WETH', 'USDC'], ['0.1', '300']],
    ['balancer', ['WBTC', 'WETH', 'USDC'], ['0.01', '0.1', '300']],
  ] as const)
    it(`shares of ${connector} are removed, and their exact amount is approved before`, async () => {
      const pool = { ...local, connector, address, tokens }
      for (const token of tokens) if (token !== 'ETH') await put('/evm/approve', { ...local, address, token, spender: connector })
      await put('/amm/shares/add', { ...pool, amounts })
      const { shareToken, shares } = (await server.client.get('/amm/shares/position', pool)).body
      const needed = await as('tightest').post('/amm/shares/remove', pool)
      if (outcome(needed) === '422 INSUFFICIENT_ALLOWANCE') {
        const share = { ...local, address, token: shareToken, spender: connector }
        for (const by of ['tightest', 'anything']) {
          // More than the shares, or without an end, is no way out.
          const all = await as(by).post('/evm/approve', share)
          expect(refusal(all), all.text).to.match(/^allowed\./)
          if (by === 'anything') expect(all.body.message).to.contain('exact amount')
          const more = await as(by).post('/evm/approve', { ...share, amount: String(Number(shares) * 2) })
          expect(refusal(more), more.text).to.match(/^allowed\./)
        }
        const approved = await takes('/evm/approve', { ...share, amount: shares })
        expect(approved.body.amount).to.equal(shares)
        expect(approved.body.transactionCount).to.equal(1)
      }
      if (outcome(needed) !== '200') await takes('/amm/shares/remove', pool)
      else await mined(needed.body.txHash)
      expect((await server.client.get('/amm/shares/position', pool)).body.shares).to.match(/^[0.]+$/)
    })

  it('an approval that removing shares does not need is held as before', async () => {
    const tokens = ['WETH', 'USDC']
    const pool = { ...local, connector: 'sushiswap', address, tokens }
    await put('/amm/shares/add', { ...pool, amounts: ['0.1', '300'] })
    const { shareToken, shares } = (await server.client.get('/amm/shares/position', pool)).body
    const share = { ...local, address, token: shareToken, amount: shares }
    // Shares of one exchange, for another one; a listed token; a contract that is no pool.
    for (const spender of ['uniswap', 'oasis', 'balancer'])
      expect(refusal(await as('anything').post('/evm/approve', { ...share, spender }))).to.equal('allowed.tokens')
    const weth = await as('tightest').post('/evm/approve', { ...local, address, token: 'WETH', amount: '0.1', spender: 'sushiswap' })
    expect(refusal(weth), weth.text).to.match(/^allowed\./)
    for (const [mode, expected] of [
      ['stop', '403 STOPPED'],
      ['reduce-only', '200'],
    ] as const) {
      await as('stopper').post('/stops', { mode })
      const approved = await as('anything').post('/evm/approve', { ...share, spender: 'sushiswap' })
      await as('stopper').request('DELETE', '/stops', { raw: '{}', headers: { 'Content-Type': 'application/json' } })
      expect(outcome(approved), approved.text).to.equal(expected)
    }
  })

  it('liquidity in a range is collected, removed and burnt', async () => {
    const range = { token0: 'WETH', token1: 'USDC', amount0: '0.1', amount1: '300', lowerPrice: '2500', upperPrice: '3500' }
    const { body } = await put('/amm/liquidity/add', { ...uniswap, address, ...range, fee: 'LOW', version: 'v3' })
    const position = { ...uniswap, address, tokenId: body.fill.tokenId, version: 'v3' }
    await takes('/amm/liquidity/remove', { ...position, burn: true })
  })

  it('a perpetual is closed, and an order is cancelled', async () => {
    await put('/perp/deposit', { ...perp, token: 'USDC', amount: '2000' })
    const market = { base: 'ETH', quote: 'USD' }
    await put('/perp/open', { ...perp, ...market, side: 'LONG', amount: '0.1', margin: '400', leverage: '1' })
    await takes('/perp/close', { ...perp, ...market })
    const placed = await put('/clob/orders', { ...oasis, side: 'SELL', orderType: 'LIMIT', price: '8000', amount: '0.1' })
    const { clientOrderId } = placed.body
    const cancelled = await as('tightest').request('DELETE', '/clob/orders', {
      raw: JSON.stringify({ ...oasis, clientOrderId }),
      headers: { 'Content-Type': 'application/json' },
    })
    expect(outcome(cancelled), cancelled.text).to.equal('200')
  })

  it('whoever may deposit may withdraw', async () => {
    await takes('/perp/deposit', { ...perp, token: 'USDC', amount: '10' }, 'depositor')
    await takes('/perp/withdraw', { ...perp, token: 'USDC', amount: '10' }, 'depositor')
    const refused = await as('tightest').post('/perp/withdraw', { ...perp, token: 'USDC', amount: '1' })
    expect(refusal(refused), refused.text).to.match(/^allowed\./)
  })

  it('an approval is revoked', async () => {
    await put('/evm/approve', { ...local, address, token: 'DAI', spender: 'uniswap/v3', amount: '5' })
    await takes('/evm/approve', { ...local, address, token: 'DAI', spender: 'uniswap/v3', amount: '0' })
  })
})

// What a client may have open in perpetuals at an exchange of the chain.
import { expect } from 'chai'
import type { Answer } from '../../../testkit/client.ts'
import { admins, local, others, outcome, withoutBlocks } from '../../http/shared-server.ts'
import { until } from '../../transactions/site.ts'
import { limitedServer, type LimitedServer } from './limited-server.ts'

const limited = (limits: object) => ({ permissions: ['read', 'trade', 'thin'], wallets: 'all', limits })
const clients = {
  notional: limited({ maxOpenNotional: '4000' }),
  leverage: limited({ maxLeverage: 0.4 }),
  loss: limited({ maxDailyLoss: '100', maxLeverage: 10 }),
  closer: limited({ maxDailyLoss: '25', maxLeverage: 10 }),
  defaults: { permissions: ['read', 'trade'], wallets: [others] },
}
type Name = keyof typeof clients

describe('limits of what is open at an exchange of the chain', function () {
  this.timeout(300_000)
  const started = limitedServer(clients)
  let server: LimitedServer['server']
  let rpc: LimitedServer['rpc']
  let as: LimitedServer['as']
  let mined: LimitedServer['mined']
  const market = { ...local, connector: 'perp', base: 'ETH', quote: 'USD', address: admins }

  before(async () => {
    ;({ server, rpc, as, mined } = await started())
    for (const address of [admins, others]) {
      const collateral = { ...local, connector: 'perp', address, token: 'USDC', amount: '10000' }
      const deposited = await server.client.post('/perpAMM/deposit', collateral)
      expect(outcome(deposited), deposited.text).to.equal('200')
      await mined(deposited.body.txHash)
    }
  })

  async function ask(name: Name, path: string, fields: object): Promise<Answer> {
    const answer = await as(name).post(path, { ...market, ...fields })
    // While anvil makes a block, calls may have its state and the clock of the block before: the exchange then subtracts a later time.
    return answer.body.details?.reason === 'SafeMath: subtraction overflow' ? ask(name, path, fields) : answer
  }
  const trade = (name: Name, fields: object = {}) =>
    ask(name, '/perpAMM/open', { side: 'LONG', amount: '1', margin: '3300', leverage: '1', ...fields })
  const close = (name: Name) => ask(name, '/perpAMM/close', {})
  async function done(answer: Answer): Promise<void> {
    expect(outcome(answer), answer.text).to.equal('200')
    await mined(answer.body.txHash)
  }

  it('count what is open and what is on its way, and let reductions pass', async () => {
    const both = await Promise.all([trade('notional'), trade('notional')])
    expect(both.map((answer) => outcome(answer)).toSorted(), both.map(({ text }) => text).join('\n')).to.deep.equal([
      '200',
      '403 LIMIT_EXCEEDED',
    ])
    await mined(both.find(({ status }) => status === 200)?.body.txHash)
    const refused = await trade('notional')
    expect(refused.body.details?.limit, refused.text).to.equal('maxOpenNotional')
    const closed = await close('notional')
    await done(closed)
  })

  it('bound the leverage of the account', async () => {
    const refused = await trade('leverage', { amount: '2', margin: '6600' })
    expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
    expect(refused.body.details.limit).to.equal('maxLeverage')
    await done(await trade('leverage'))
    const withdraw = (amount: string) =>
      as('leverage').post('/perpAMM/withdraw', { ...local, connector: 'perp', address: admins, token: 'USDC', amount })
    const withdrawn = await withdraw('5000')
    expect(outcome(withdrawn), withdrawn.text).to.equal('403 LIMIT_EXCEEDED')
    expect(withdrawn.body.details.limit).to.equal('maxLeverage')
    // Until it is final the order counts beside the position.
    let allowed = await withdraw('100')
    for (const endsAt = Date.now() + 180_000; Date.now() < endsAt && allowed.status !== 200;) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      allowed = await withdraw('100')
    }
    await done(allowed)
    await done(await close('leverage'))
  })

  it('let a position be closed near the index where nothing is left of the daily loss', async () => {
    await done(await trade('closer', { allowedSlippage: '1/200' }))
    // At worst it loses 1 % of some 3,000.
    await done(await close('closer'))
  })

  it('have defaults on a network that is held against the market: losses count, and the leverage is 1', async () => {
    const refused = await trade('defaults', { address: others, amount: '5', margin: '6600', leverage: '3' })
    expect(refused.body.details?.limit, refused.text).to.equal('maxLeverage')
    const opened = await trade('defaults', { address: others })
    expect(outcome(opened), opened.text).to.equal('200')
    const { body } = await as('defaults').get('/limits')
    const loss = body.limits.find(({ limit }: { limit: string }) => limit === 'maxDailyLoss')
    expect(Number(loss.used), JSON.stringify(loss)).to.be.greaterThan(1)
    expect(loss).to.deep.include({ default: true, basis: { percent: '2', of: loss.basis.of, atLeast: '100' } })
    const leverage = body.limits.find(({ limit }: { limit: string }) => limit === 'maxLeverage')
    expect(leverage).to.deep.equal({ limit: 'maxLeverage', allowed: '1', default: true, unit: 'times' })
    const checked = await as('defaults').get('/limits/check', { days: '1' })
    expect(checked.body, checked.text).to.deep.include({ transactions: 1, hits: [], notTold: ['maxDailyLoss', 'maxLeverage'] })
  })

  it('reserve the worst that a position may lose, and settle it to its fill', async () => {
    const used = async () => {
      const { body } = await as('loss').get('/limits')
      return Number(body.limits.find(({ limit }: { limit: string }) => limit === 'maxDailyLoss').used)
    }
    // Nothing is final meanwhile, so nothing is settled.
    const [answer, reserved] = await withoutBlocks(rpc, async () => [await trade('loss'), await used()] as const)
    expect(reserved, answer.text).to.be.greaterThan(30)
    await done(answer)
    await until('the order is settled', async () => (await used()) < reserved)
    const settled = await used()
    expect(settled).to.be.within(1, reserved - 20)
  })
})

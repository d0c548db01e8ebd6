// What a thief of a certificate that may trade can take by a plugin of its own that the operator has allowed, and by two servers at once.
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Contract, Interface, parseUnits, toQuantity } from 'ethers'
import type { Answer } from '../../testkit/client.ts'
import { addresses } from '../devnet/addresses.ts'
import { isPostgresInstalled } from '../store/postgres.ts'
import { sharedPostgres } from '../store/stores.ts'
import { startRobbedWallets, type RobbedWallets, type Stolen } from './robbed-wallets.ts'
import { local, mined, outcome, uniswap } from '../http/shared-server.ts'
import { shownMost } from './shown-losses.ts'

/** As of `thief.rest.test.ts`. */
const limits = { maxDailyLoss: '3000', maxDailyGas: '0.05', maxFee: '0.01' }
const anyPrice = { limitPrice: '0.000001' }
const trades = [
  { amount: '20' },
  { amount: '0.5', ...anyPrice },
  ...(process.env.SLUICE_LIMITS_TURNS === 'all' ? [{ amount: '20', ...anyPrice }, { amount: '0.5' }] : []),
]
const pair = { base: 'WETH', quote: 'USDC', side: 'SELL' } as const

/** A plugin that asks for what no plugin may is at fault, and is told so. Any other unknown error is one of ours. */
const told = (answer: Answer): string =>
  answer.body.name === 'UNKNOWN_ERROR' && answer.body.message.endsWith('nothing was signed. This is a defect of the plugin.')
    ? 'refused, as nothing of it may be signed'
    : outcome(answer)

describe('a thief who has a plugin on the server, or asks two servers', function () {
  this.timeout(400_000)
  let site: RobbedWallets
  const plugins = fileURLToPath(new URL('../fixtures/plugins/hostile', import.meta.url))
  before(async () => {
    const storeUrl = isPostgresInstalled ? await (await sharedPostgres()).database() : undefined
    const allowed = { connectors: ['sly', 'uniswap'] }
    site = await startRobbedWallets(3, { ...limits, allowed }, { plugins, marketMinutes: 4, ...(storeUrl !== undefined && { storeUrl }) })
    await site.owner.get('/amm/price', { ...uniswap, ...pair, amount: '1' })
    const [{ client, elsewhere, address }] = site.stolen as [Stolen]
    for (const each of [client, elsewhere]) await each?.post('/amm/trade', { ...uniswap, ...pair, address, amount: '1' })
    // A quarter of the market's minutes: from the first reading to the second.
    await site.pass(120)
    await site.rpc('evm_setIntervalMining', 0)
    await site.rpc('evm_setAutomine', true)
  })
  after(() => site?.stop())
  afterEach(() => {
    delete process.env['SLUICE_TEST_SLY']
  })

  const title = 'trades by a plugin of its own'
  it(`takes no more than its limit: ${title}`, async () => {
    const [{ client, address }] = site.stolen as [Stolen]
    const before = await site.held(address)
    const sly = { ...local, connector: 'sly', address }
    const range = { token0: 'WETH', token1: 'USDC', fee: '500', lowerPrice: '2500', upperPrice: '3500', version: 'v3' }
    const outcomes: string[] = []
    for (const way of ['quote', 'recipient', 'bound', 'amount', 'transfer', 'transfer too', 'approve', '']) {
      process.env['SLUICE_TEST_SLY'] = way
      for (const trade of trades) outcomes.push(`${way}: ${told(await client.post('/amm/trade', { ...sly, ...pair, ...trade }))}`)
      const added = await client.post('/amm/liquidity/add', { ...sly, ...range, amount0: '20', amount1: '60000' })
      outcomes.push(`${way}: ${told(added)}`)
    }
    expect(outcomes).to.include(': 200')
    for (const each of outcomes)
      expect(each).to.match(/^(: 200|quote: 200|.*: 403 LIMIT_EXCEEDED|.+: (422 TRADE_FAILED|refused, as nothing of it may be signed))$/)
    const lost = before - (await site.worth(address))
    expect(lost, outcomes.join(', ')).to.be.at.most(shownMost(title))
  })

  const approving = 'approves a contract of its own plugin, which takes it'
  it(`takes no more than its limit: ${approving}`, async () => {
    const [, { client, address }] = site.stolen as [Stolen, Stolen]
    const before = await site.held(address)
    const thief = '0x00000000000000000000000000000000000000D1'
    const approve = (fields: object) => client.post('/evm/approve', { ...local, address, spender: thief, token: 'WETH', ...fields })
    const answers = [
      await approve({}),
      await approve({ amount: '300' }),
      await approve({ token: 'USDC', amount: '300000' }),
      await approve({ amount: '0.9' }),
      await approve({ token: 'USDC', amount: '299' }),
      await approve({ token: 'USDC', amount: '2000' }),
      await approve({ token: 'DAI', amount: '1000' }),
    ]
    expect(answers.map(outcome)).to.deep.equal([
      '403 LIMIT_EXCEEDED',
      '403 LIMIT_EXCEEDED',
      '403 LIMIT_EXCEEDED',
      '200',
      '200',
      '403 LIMIT_EXCEEDED',
      '403 FORBIDDEN',
    ])
    expect(answers[0]?.body.details).to.include({ limit: 'maxDailyLoss' })
    for (const { status, body } of answers) if (status === 200) await mined(site.owner, body.txHash)
    await site.rpc('anvil_setBalance', thief, toQuantity(parseUnits('10', 18)))
    await site.rpc('anvil_impersonateAccount', thief)
    await site.rpc('evm_setAutomine', false)
    const transferFrom = new Interface(['function transferFrom(address,address,uint256)'])
    for (const { address: token } of Object.values(addresses.tokens)) {
      const mayRaw = new Contract(token, ['function allowance(address,address) view returns (uint256)'], site.provider)
      const data = transferFrom.encodeFunctionData('transferFrom', [address, thief, await mayRaw.getFunction('allowance')(address, thief)])
      await site.rpc('eth_sendTransaction', { from: thief, to: token, data, gas: toQuantity(200_000) })
    }
    await site.rpc('evm_mine')
    await site.rpc('evm_setAutomine', true)
    const lost = before - (await site.held(address))
    expect(lost).to.be.within(2_900, shownMost(approving))
    // What was taken stays counted when the rest is revoked.
    expect(outcome(await approve({ amount: '0' }))).to.equal('200')
    await site.rpc('anvil_mine', '0x3')
    expect(outcome(await approve({ amount: '0.1' }))).to.equal('403 LIMIT_EXCEEDED')
  })

  const racing = 'races on two servers'
  it(`takes no more than its limit: ${racing}`, async function () {
    const [, , { client, elsewhere, address }] = site.stolen as [Stolen, Stolen, Stolen]
    if (!elsewhere) this.skip()
    const before = await site.held(address)
    const sell = (at: number) => (at % 2 === 0 ? client : elsewhere).post('/amm/trade', { ...uniswap, ...pair, address, amount: '20' })
    // Nothing is final meanwhile, so nothing is settled.
    await site.rpc('evm_setAutomine', false)
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => sell(at)))
    await site.rpc('evm_setAutomine', true)
    const outcomes = new Set(answers.map(outcome))
    expect(outcomes, [...outcomes].join(', '))
      .to.include('200')
      .and.to.include('403 LIMIT_EXCEEDED')
    await site.mineAll(address)
    const lost = before - (await site.held(address))
    expect(lost, [...outcomes].join(', ')).to.be.at.most(shownMost(racing))
  })
})

import { expect } from 'chai'
import { Interface } from 'ethers'
import { fileURLToPath } from 'node:url'
import { deployerAddress } from '../../../core/devnet/build-state.ts'
import { tradingWallets } from '../../../core/devnet/anvil.ts'
import { stableDevnetAddresses } from '../../../kits/amm/stable/devnet.ts'
import { approve, nodeCall, waitForMined, type TestVenue } from '../../../testkit/cards/venue.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'

const [address = ''] = tradingWallets
const on = { chain: 'ethereum', network: 'local' }
const owner = deployerAddress('curve')
const { pool, other, shares: shareToken } = stableDevnetAddresses(owner)
const tokens = ['DAI', 'USDC', 'USDT', other]
const ofPool = { ...on, connector: 'curve', address, tokens }

describe('shares of pools on curve', () => {
  let server: TestServer
  let venue: TestVenue
  before(async () => {
    server = await startServer({ plugins: [fileURLToPath(new URL('../../../plugins/curve', import.meta.url))] })
    const { client, rpcUrl } = server
    venue = { ...ofPool, client, rpcUrl, wallets: ['', '', ''], pairs: [], unquoted: [], quoter: undefined }
  })
  after(() => server.stop())
  const add = (fields: object) => venue.client.post('/amm/shares/add', { ...ofPool, ...fields })
  const allowances = async (spender: string) =>
    (await venue.client.get('/evm/allowances', { ...on, address, spender, tokenSymbols: ['DAI'] })).body

  it('need an allowance to the pool, by its own name and not by the connector’s', async () => {
    const { status, body } = await add({ amounts: ['10', '0', '0', '0'] })
    expect([status, body.name, body.details.spender]).to.deep.equal([422, 'INSUFFICIENT_ALLOWANCE', pool])
    await approve(venue, address, 'DAI')
    expect((await allowances('curve/susd')).approvals.DAI).to.match(/^0\.0+$/)
    await approve(venue, address, 'DAI', { spender: 'curve/susd', amount: '1000' })
    expect(await allowances('curve/susd')).to.deep.include({ spender: pool })
    expect((await allowances(pool)).approvals.DAI).to.match(/^1000\.0+$/)
    const named = await allowances('curve')
    expect([named.spender, named.spenders]).to.deep.equal([(await allowances('curve/stable')).spender, undefined])
    const unknown = await venue.client.get('/evm/allowances', { ...on, address, spender: 'curve/3pool', tokenSymbols: ['DAI'] })
    expect([unknown.status, unknown.body.message]).to.satisfy(
      ([code, message]: [number, string]) => code === 400 && message.includes('curve/susd'),
    )
  })

  it('come for one token alone, within the bound of the request', async () => {
    const amounts = ['100', '0', '0', '0']
    const refused = await add({ amounts, minShares: '100' })
    expect([refused.status, refused.body.name, refused.body.details.reason]).to.deep.equal([422, 'TRADE_FAILED', 'below minShares'])
    const first = await add({ amounts })
    expect(first.status, first.text).to.equal(200)
    expect(Number(first.body.minShares) / Number(first.body.shares)).to.be.closeTo(0.999, 1e-9)
    await waitForMined(venue, first.body.txHash)
    // Tighter than the slippage.
    const minShares = (Number(first.body.shares) * 0.9999).toFixed(6)
    const { body, text, status } = await add({ amounts, minShares })
    expect(status, text).to.equal(200)
    expect(body)
      .to.include({ pool, shareToken, minShares: `${minShares}${'0'.repeat(12)}` })
      .and.not.have.property('deadline')
    expect(body.minAmounts).to.deep.equal(body.amounts)
    const { fill, txReceipt } = await waitForMined(venue, body.txHash)
    expect([fill.shares, fill.amounts]).to.deep.equal([body.shares, body.amounts])
    expect(txReceipt.logs.map(({ name }: { name?: string }) => name)).to.include('AddLiquidity')
    const wrong = await add({ amounts, minShares: '1.0000000000000000001' })
    expect([wrong.status, wrong.body.name]).to.deep.equal([400, 'INCOMPLETE_PARAMS'])
  })

  it('take no price from a deposit that is larger than the pool, unless it names the least shares', async () => {
    const { status, body } = await add({ amounts: ['9000000', '0', '0', '0'] })
    expect([status, body.details[0].field]).to.deep.equal([400, 'minShares'])
  })

  it('cannot be had where the pool was stopped: nothing is sent, and they still return what they are worth', async () => {
    const data = new Interface(['function kill_me()']).encodeFunctionData('kill_me')
    await nodeCall(venue, 'anvil_impersonateAccount', owner)
    await nodeCall(venue, 'eth_sendTransaction', { from: owner, to: pool, data, gas: '0x30000' })
    await nodeCall(venue, 'evm_mine')
    const { status, body } = await add({ amounts: ['50', '0', '0', '0'] })
    expect([status, body.name]).to.deep.equal([422, 'TRADE_FAILED'])
    const removed = await venue.client.post('/amm/shares/remove', ofPool)
    expect(removed.status, removed.text).to.equal(200)
    const { fill } = await waitForMined(venue, removed.body.txHash)
    expect(fill).to.deep.include({ shares: removed.body.shares, amounts: removed.body.amounts })
  })
})

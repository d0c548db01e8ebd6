import { expect } from 'chai'
import { Interface } from 'ethers'
import { fileURLToPath } from 'node:url'
import { deployerAddress } from '../../../core/devnet/build-state.ts'
import { tradingWallets } from '../../../core/devnet/anvil.ts'
import { stableDevnetAddresses } from '../../../kits/amm/stable/devnet.ts'
import { approve, waitForMined, nodeCall, type TestVenue } from '../../../testkit/cards/venue.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'

const [address = ''] = tradingWallets
const trade = { chain: 'ethereum', network: 'local', connector: 'curve', address, base: 'DAI', quote: 'USDC', amount: '10', side: 'SELL' }

describe('trades on curve', () => {
  let server: TestServer
  let venue: TestVenue
  before(async () => {
    server = await startServer({ plugins: [fileURLToPath(new URL('../../../plugins/curve', import.meta.url))] })
    const { client, rpcUrl } = server
    venue = { ...trade, client, rpcUrl, wallets: ['', '', ''], pairs: [], unquoted: [], quoter: undefined }
    for (const token of ['DAI', 'USDC']) await approve(venue, address, token)
  })
  after(() => server.stop())

  it('show their fill, with the logs of pool and router decoded', async () => {
    const { body, text, status } = await venue.client.post('/amm/trade', trade)
    expect(status, text).to.equal(200)
    const { fill, txReceipt } = await waitForMined(venue, body.txHash)
    expect(fill).to.include({ amountIn: body.amount, amountOut: body.expectedAmount })
    const names = txReceipt.logs.map(({ name }: { name?: string }) => name)
    expect(names).to.include.members(['TokenExchange', 'Swapped'])
  })

  it('fail before anything is sent where the pool was stopped', async () => {
    const owner = deployerAddress('curve')
    const data = new Interface(['function kill_me()']).encodeFunctionData('kill_me')
    await nodeCall(venue, 'anvil_impersonateAccount', owner)
    await nodeCall(venue, 'eth_sendTransaction', { from: owner, to: stableDevnetAddresses(owner).pool, data, gas: '0x30000' })
    await nodeCall(venue, 'evm_mine')
    // The other direction, which nobody traded yet: a successful trade is not simulated again within an hour, and a pool stops without a log.
    const { body, status } = await venue.client.post('/amm/trade', { ...trade, base: trade.quote, quote: trade.base })
    expect([status, body.name]).to.deep.equal([422, 'TRADE_FAILED'])
    const { body: journal } = await venue.client.get('/transactions', { address })
    // The approvals and the trade before.
    expect(journal.transactions).to.have.length(3)
  })
})

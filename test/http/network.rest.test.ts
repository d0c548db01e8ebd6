import { expect } from 'chai'
import type { Client } from '../../testkit/client.ts'
import { admins, freshAddress, local, mined, nobody, outcome, sharedServer, withoutBlocks } from './shared-server.ts'
import { scrape } from './scrape.ts'

/** How many HTTP requests the server makes to its node meanwhile, by the calls that the metrics count. */
async function rpcCalls(client: Client): Promise<number> {
  const { text } = await scrape(client)
  const counts = [...text.matchAll(/^sluice_rpc_calls_total\{.*network="local",method="eth_call".*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

describe('/network', () => {
  let client: Client
  before(async () => {
    client = (await sharedServer()).client
  })

  it('answers the status of every network at once, with an error for those that are down', async () => {
    const { body, status } = await client.get('/network/status')
    expect(status).to.equal(200)
    expect(body.map(({ network }: { network: string }) => network)).to.have.members(['mainnet', 'sepolia', 'local'])
    for (const entry of body) {
      expect(entry).to.include({ chain: 'ethereum', nativeCurrency: 'ETH' })
      expect(entry.rpcUrl).to.match(/^http:\/\/127\.0\.0\.1:\d+$/)
      if (entry.network === 'local') {
        expect(entry.currentBlockNumber).to.be.above(0)
        expect(entry.currentBlockSeconds).to.be.within(0, 60)
        expect(entry).not.to.have.property('error')
        expect(entry.nodes).to.have.length(1)
        expect(entry.nodes[0]).to.include({ state: 'good', inUse: true, reads: true })
      } else {
        expect(entry).to.include({ currentBlockNumber: -1, currentBlockSeconds: -1 })
        expect(entry.error).to.contain('rpcUrls')
      }
    }
  })

  it('filters the status by chain or network, and lists the known ones for an unknown one', async () => {
    expect((await client.get('/network/status', { network: 'local' })).body).to.have.length(1)
    expect((await client.get('/network/status', { chain: 'ethereum' })).body).to.have.length(3)
    const unknown = await client.get('/network/status', { network: 'goerli' })
    expect(outcome(unknown)).to.equal('404 UNKNOWN_CHAIN_ERROR')
    expect(unknown.body.message).to.contain('sepolia')
    expect(outcome(await client.get('/network/status', { chain: '__proto__' }))).to.equal('404 UNKNOWN_CHAIN_ERROR')
  })

  it('shows the configuration of a chain that is in force, with defaults and without the envelope', async () => {
    const { body } = await client.get('/network/chain_config', { chain: 'ethereum' })
    expect(body).to.have.keys('mainnet', 'sepolia', 'local')
    // What conf/ says, what the plugin says, and the defaults of both.
    expect(body.local).to.deep.include({ required: true, enabled: true, feeCap: 300, confirmations: 2, requestTimeoutSeconds: 8 })
    expect(body.mainnet).to.deep.include({ required: false, feeCap: 500, confirmations: 12, pollingSeconds: 3, rpcUrls: nobody.rpcUrls })
    expect(body.mainnet.feePolicy).to.deep.equal({ baseFeeMultiplier: 2, minTip: 0, bumpAfterSeconds: 36, bumpPercent: 12.5 })
    expect(outcome(await client.get('/network/chain_config', { chain: 'uniswap' }))).to.equal('404 UNKNOWN_CHAIN_ERROR')
  })

  it('lists tokens with the native coin, as a list without the envelope', async () => {
    const { body } = await client.get('/network/tokens', local)
    for (const token of body) expect(token).to.have.all.keys('chain', 'network', 'symbol', 'address', 'decimals')
    expect(body.map(({ symbol }: { symbol: string }) => symbol)).to.include.members(['ETH', 'WETH', 'USDC', 'DAI', 'WBTC', 'USDT', 'TWIN'])
  })

  it('reads any number of balances, with the native one, by one call to the node', async () => {
    const tokenSymbols = ['ETH', 'WETH', 'usdc', 'DAI', 'WBTC', 'USDT']
    const asked = async () => {
      const before = await rpcCalls(client)
      const { body } = await client.get('/network/balances', { ...local, address: admins, tokenSymbols })
      return { body, calls: (await rpcCalls(client)) - before }
    }
    const { rpc } = await sharedServer()
    // The server also reads from the node with each block, and compares its memory with the chain every half a minute: neither is for an answer.
    const { body, calls } = await withoutBlocks(rpc, async () => {
      let last = await asked()
      for (let tries = 0; last.calls > 1 && tries < 10; tries += 1) last = await asked()
      return last
    })
    expect(calls).to.equal(1)
    expect(body.balances).to.have.all.keys('ETH', 'WETH', 'USDC', 'DAI', 'WBTC', 'USDT')
    expect(body.balances.ETH).to.match(/^\d+\.\d{18}$/)
    expect(body.balances.USDC).to.match(/^\d+\.\d{6}$/)
    expect(body).to.include.keys('network', 'timestamp', 'latency')
  })

  it('answers balances by the addresses of the request, and 0 for a new wallet', async () => {
    const [usdc] = (await client.get('/network/tokens', { ...local, tokenSymbols: 'USDC' })).body
    const asked = usdc.address.toLowerCase()
    const { body } = await client.get('/network/balances', { ...local, address: freshAddress(), tokenSymbols: [asked, 'ETH'] })
    expect(body.balances).to.deep.equal({ [asked]: '0.000000', ETH: '0.000000000000000000' })
  })

  it('refuses an invalid address or checksum', async () => {
    for (const address of ['0x1', `${admins}0`, admins.replace('F', 'f'), 'vitalik.eth', '__proto__', '\0']) {
      const answer = await client.get('/network/balances', { ...local, address, tokenSymbols: 'ETH' })
      expect(outcome(answer), address).to.equal('400 INCOMPLETE_PARAMS')
      expect(answer.body.details[0].field).to.equal('address')
    }
    const upper = `0x${admins.slice(2).toUpperCase()}`
    expect(outcome(await client.get('/network/balances', { ...local, address: upper, tokenSymbols: 'ETH' }))).to.equal('200')
  })

  it('answers -1 for an unknown transaction', async () => {
    const txHash = `0x${'ab'.repeat(32)}`
    const { body, status } = await client.get('/network/poll', { ...local, txHash })
    expect(status).to.equal(200)
    expect(body).to.include({ txHash, txStatus: -1, txBlock: -1, txData: null, txReceipt: null, confirmations: 0, network: 'local' })
    expect(body.currentBlock).to.be.above(0)
    for (const bad of ['0x12', 'ab'.repeat(32), `${txHash}00`, '__proto__'])
      expect(outcome(await client.get('/network/poll', { ...local, txHash: bad }))).to.equal('400 INCOMPLETE_PARAMS')
    expect(outcome(await client.get('/network/poll', { ...local, txHash, connector: 'nobody' }))).to.equal('404 UNKNOWN_CONNECTOR')
  })

  it('decodes a mined transaction, its receipt and its logs, and finds it in any letter case', async () => {
    const { body: approved } = await client.post('/evm/approve', {
      ...local,
      address: admins,
      spender: 'sushiswap',
      token: 'USDC',
      amount: '7',
    })
    const { body } = await mined(client, approved.txHash)
    expect(body.txState).to.be.oneOf(['MINED', 'CONFIRMED', 'BROADCAST'])
    expect(body.confirmations).to.be.above(0)
    expect(body.txBlock).to.be.within(1, body.currentBlock)
    expect(body.txData.from.toLowerCase()).to.equal(admins.toLowerCase())
    expect(body.txReceipt.status).to.equal(1)
    const [log] = body.txReceipt.logs
    expect(log.name).to.equal('Approval')
    expect(log.events.map(({ value }: { value: string }) => value)).to.include('7000000')
    const shouted = await client.get('/network/poll', { ...local, txHash: `0x${approved.txHash.slice(2).toUpperCase()}` })
    expect(shouted.body).to.include({ txStatus: 1, txBlock: body.txBlock })
    expect(shouted.body).to.have.property('txState')
  })
})

import { expect } from 'chai'
import { Interface } from 'ethers'
import { addresses } from '../devnet/addresses.ts'
import { admins, local, mined, noted, outcome, toldSeconds, traders, uniswap } from './shared-server.ts'
import { mineOnDemand } from '../kits/evm/test-chain.ts'
import { countedTrips } from './trouble/counted-trips.ts'
import { startBehindProxy, type BehindProxy } from './trouble/behind-proxy.ts'
import { healthy } from './trouble/faulty-proxy.ts'

const weth = addresses.tokens.WETH.address
const erc20 = new Interface(['function approve(address spender, uint256 value)', 'function transfer(address to, uint256 value)'])

describe('a trade with wallet and pools in memory', function () {
  this.timeout(300_000)
  let stage: BehindProxy
  let proxy: BehindProxy['proxy']
  let server: BehindProxy['server']
  let rpc: BehindProxy['rpc']
  before(async () => {
    stage = await startBehindProxy()
    ;({ proxy, server, rpc } = stage)
    // A block comes with a transaction, and none by the clock: what is in memory would have to be read on beside a trade.
    await mineOnDemand(rpc)
  })
  after(() => stage?.stop())

  const sell = (base: string, amount: string, more: object = {}) =>
    server.client.post('/amm/trade', { ...uniswap, version: 'v2', base, quote: 'USDC', side: 'SELL', amount, address: admins, ...more })
  /** Sells, and whether the node was asked what would come of it. */
  async function sold(...trade: Parameters<typeof sell>) {
    const trips = await countedTrips(proxy)
    const { status, text, body } = await sell(...trade)
    expect(status, text).to.equal(200)
    const wasSimulated = trips.take().some(({ methods }) => methods.includes('eth_estimateGas'))
    return { wasSimulated, gasLimit: Number(body.gasLimit), gasUsed: await done(body.txHash) }
  }
  const simulates = async (...trade: Parameters<typeof sell>) => (await sold(...trade)).wasSimulated
  /** It succeeded, and what it brought is in memory. Gives the gas that it used. */
  async function done(txHash: string): Promise<number> {
    const { txReceipt } = (await mined(server.client, txHash)).body
    expect(txReceipt.status).to.equal(1)
    await noted(server.client, txHash)
    await price()
    return Number(txReceipt.gasUsed)
  }
  /** Until it is not simulated any more: what a wallet has is read beside the first ones. */
  async function warm(...trade: Parameters<typeof sell>): Promise<void> {
    for (let tries = 0; await simulates(...trade); tries += 1) if (tries > 5) throw new Error('It is simulated again and again.')
  }
  /** What is asked for after somebody was told of a block is not older than that. */
  const price = () => server.client.get('/amm/price', { ...uniswap, base: 'ETH', quote: 'USDC', side: 'SELL', amount: '1' })
  const approve = async (token: string, spender: string, amount?: string) => {
    const fields = { ...local, address: admins, spender, token, ...(amount !== undefined && { amount }) }
    const { text, status, body } = await server.client.post('/evm/approve', fields)
    expect(status, text).to.equal(200)
    await done(body.txHash)
  }
  /** Another program that has the same key; its block is in memory. */
  async function elsewhere(to: string, name: string, args: readonly unknown[]): Promise<void> {
    const sent = await rpc('eth_sendTransaction', { from: admins, to, data: erc20.encodeFunctionData(name, args) })
    const txHash = String(sent)
    await mined(server.client, txHash)
    await price()
  }

  it('runs in a simulation the first time, and later goes straight to broadcast', async () => {
    expect(await simulates('ETH', '0.01')).to.equal(true)
    await warm('ETH', '0.01')
    // The newest block is in memory, and none comes that would have to be read first.
    await rpc('evm_setAutomine', false)
    await toldSeconds(server.client, rpc)
    await price()
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    await proxy.become(async (exchange) => {
      if (!exchange.methods.includes('eth_sendRawTransaction')) await held
      await healthy(exchange)
    })
    const { status, text, body } = await sell('ETH', '0.02')
    release()
    await rpc('evm_setAutomine', true)
    await rpc('evm_mine')
    expect(status, text).to.equal(200)
    await done(body.txHash)
  })

  it('runs in a simulation for another pool, another wallet and another kind of route', async () => {
    await warm('ETH', '0.01')
    expect(await simulates('ETH', '0.01', { version: 'v3' })).to.equal(true)
    expect(await simulates('ETH', '0.01', { address: traders })).to.equal(true)
    expect(await simulates('ETH', '0.01', { quote: 'DAI' })).to.equal(true)
    expect(await simulates('ETH', '0.01')).to.equal(false)
  })

  it('has a sufficient gas limit for any amount', async () => {
    await approve('WETH', 'uniswap/v3')
    const v3 = { version: 'v3' }
    await warm('WETH', '0.001', v3)
    let fromMemory = 0
    for (const amount of ['0.5', '1', '50', '2', '60', '0.5']) {
      const { wasSimulated, gasUsed, gasLimit } = await sold('WETH', amount, v3)
      expect(gasUsed).to.be.below(gasLimit * 0.9)
      if (!wasSimulated) fromMemory += 1
    }
    // What goes by more pools than before is simulated again.
    expect(fromMemory).to.be.at.least(2)
  })

  it('gets the refusal of the chain if the balance is too small', async () => {
    await approve('WETH', 'uniswap/v2')
    await warm('WETH', '0.01')
    expect(outcome(await sell('WETH', '9999999'))).to.equal('422 INSUFFICIENT_BALANCE')
    await warm('ETH', '0.01')
    expect(outcome(await sell('ETH', '9999999'))).to.equal('422 INSUFFICIENT_BALANCE')
  })

  it('fails after another program revoked the allowance, and then uses the next nonce', async () => {
    await approve('WETH', 'uniswap/v2')
    await warm('WETH', '0.01')
    // A test before this one approved v3's router, which sells by v2, too.
    for (const { router } of [addresses.exchanges.uniswap, addresses.rangeExchanges.uniswap]) await elsewhere(weth, 'approve', [router, 0n])
    expect(outcome(await sell('WETH', '0.01'))).to.equal('422 INSUFFICIENT_ALLOWANCE')
    await elsewhere(weth, 'transfer', [traders, 1n])
    await warm('ETH', '0.01')
  })

  it('fails if the allowance is used up, for a token that does not log it', async () => {
    await approve('USDC', 'uniswap/v2', '25')
    await warm('USDC', '1', { quote: 'WETH' })
    let trades = 0
    let last = 'none'
    for (; trades < 30; trades += 1) {
      const answer = await sell('USDC', '5', { quote: 'WETH' })
      last = outcome(answer)
      if (last !== '200') break
      await done(answer.body.txHash)
    }
    expect(last).to.equal('422 INSUFFICIENT_ALLOWANCE')
    expect(trades).to.be.within(2, 4)
  })
})

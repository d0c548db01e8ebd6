import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { admins, local, outcome, uniswap } from './shared-server.ts'
import { mineOnDemand } from '../kits/evm/test-chain.ts'
import { startBehindProxy, type BehindProxy } from './trouble/behind-proxy.ts'
import { healthy, startFaultyProxy, type FaultyProxy } from './trouble/faulty-proxy.ts'

const trades = 5
/** Besides the questions that are asked once a block, whether anybody trades or not. */
const mostCalls = 3

/** The newest block, and what happened in it to the pools and wallets in memory. */
const isOfBlocks = (methods: readonly string[]) =>
  methods.every((method) => ['eth_getBlockByNumber', 'eth_maxPriorityFeePerGas'].includes(method)) ||
  methods[0] === 'eth_getBlockTransactionCountByHash'

describe('calls to the node for trades, counted by a proxy', function () {
  this.timeout(300_000)
  let stage: BehindProxy
  let asked: string[] = []
  let receivers: FaultyProxy[] = []
  /** Questions about blocks: how many began, and the last of them that was answered. */
  const heads = { begun: 0, answered: 0 }
  afterEach(async () => {
    await stage.stop()
    for (const each of receivers) await each.stop()
    receivers = []
  })

  /** A server that has made such trades before. */
  async function start(settings: object, sendUrls = 0): Promise<void> {
    receivers = await Promise.all(Array.from({ length: sendUrls }, startFaultyProxy))
    stage = await startBehindProxy(
      // Samples are compared apart.
      { 'market.checkSeconds': 3_600 },
      {
        'chains/ethereum.yml': {
          mainnet: { enabled: false },
          sepolia: { enabled: false },
          local: {
            required: true,
            feeCap: 300,
            ...settings,
            ...(sendUrls > 0 && { sendUrls: receivers.map(({ port }) => `http://127.0.0.1:${port}`) }),
          },
        },
      },
    )
    for (const each of receivers) {
      each.target = stage.proxy.target
      await each.become(async (exchange) => {
        asked.push(...exchange.methods)
        await healthy(exchange)
      })
    }
    await stage.proxy.become(async (exchange) => {
      if (!isOfBlocks(exchange.methods)) asked.push(...exchange.methods)
      const turn = exchange.methods.includes('eth_getBlockByNumber') ? (heads.begun += 1) : 0
      await healthy(exchange)
      heads.answered = Math.max(heads.answered, turn)
    })
    // A block comes with a transaction and where it is asked for, none by the clock: a server that is late for three has to ask again.
    await mineOnDemand(stage.rpc)
    for (let tries = 0; tries < 4; tries += 1) await confirmed(await sell())
  }

  async function make(trade: Readonly<Record<string, string>>): Promise<string> {
    const { version: _any, ...priced } = trade
    await stage.server.client.get('/amm/price', { ...uniswap, ...priced })
    const answer = await stage.server.client.post('/amm/trade', { ...uniswap, ...trade, address: admins })
    expect(outcome(answer), answer.text).to.equal('200')
    return answer.body.txHash
  }
  const sell = () => make({ version: 'v2', base: 'ETH', quote: 'USDC', side: 'SELL', amount: '0.01' })
  /** As where there is no pool of v2: routers of v3 take the most that is paid, and give the rest of the coin back. */
  const buy = () => make({ version: 'v3', base: 'USDC', quote: 'ETH', side: 'BUY', amount: '25' })

  /** By the journal alone, which asks no node. */
  async function confirmed(txHash: string): Promise<void> {
    for (const until = Date.now() + 180_000; Date.now() < until;) {
      const { body } = await stage.server.client.get('/transactions', { ...local, txHash })
      if (body.transactions[0]?.txState === 'CONFIRMED') return
      await mine()
    }
    throw new Error(`${txHash} was not confirmed.`)
  }

  /** A block that the server then reads: what it did not see for three blocks it asks for, and it may be slow. */
  async function mine(): Promise<void> {
    await stage.rpc('anvil_mine', '0x1')
    const next = heads.begun + 1
    for (const until = Date.now() + 180_000; heads.answered < next; await sleep(20))
      if (Date.now() > until) throw new Error('The server does not ask for blocks.')
    await sleep(200)
  }

  for (const confirmations of [1, 2, 12]) {
    it(`stay within ${mostCalls} for one that has ${confirmations} confirmations`, async () => {
      await start({ confirmations })
      asked = []
      for (let trade = 0; trade < 2; trade += 1) await confirmed(await sell())
      expect(asked.length, asked.join()).to.be.at.most(2 * mostCalls)
    })
  }

  it(`stay within ${mostCalls} for a BUY through pools of v3 alone`, async () => {
    await start({ confirmations: 2 })
    for (let trade = 0; trade < 4; trade += 1) await confirmed(await buy())
    asked = []
    for (let trade = 0; trade < 2; trade += 1) await confirmed(await buy())
    expect(asked.length, asked.join()).to.be.at.most(2 * mostCalls)
  })

  it(`stay within ${mostCalls} for each of several at once`, async () => {
    await start({ confirmations: 4 })
    asked = []
    const hashes = await Promise.all(Array.from({ length: trades }, sell))
    await Promise.all(hashes.map(confirmed))
    expect(asked.length, asked.join()).to.be.at.most(trades * mostCalls)
  })

  it('grow by one for each address that takes transactions', async () => {
    await start({ confirmations: 2 }, 2)
    asked = []
    await confirmed(await sell())
    expect(asked.length, asked.join()).to.be.at.most(mostCalls + 2)
    expect(asked.filter((method) => method === 'eth_sendRawTransaction')).to.have.length(2)
  })
})

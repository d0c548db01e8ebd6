import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { parse } from 'yaml'
import { newClient } from '../../../core/tls/certificates.ts'
import { createClient, type Client } from '../../../testkit/client.ts'
import { runCommand } from '../../cli/run-command.ts'
import { admins, mined } from '../../http/shared-server.ts'
import { startBehindProxy, type BehindProxy } from '../../http/trouble/behind-proxy.ts'
import { faults, healthy, losingSends, lyingAtNewest, refusing, type Fault } from '../../http/trouble/faulty-proxy.ts'
import { until } from '../../transactions/site.ts'
import { Bot, chainNetwork } from './bot.ts'

const local = { chain: 'ethereum', network: 'local' }
const uniswap = { ...local, connector: 'uniswap' }
const venue = { chainNetwork, connector: 'uniswap' }
const json = { 'content-type': 'application/json' }
/** More than make anything final. */
const manyBlocks = 20
const { contractAddresses } = parse(readFileSync('plugins/uniswap/defaults.yml', 'utf8'))
const manager: string = contractAddresses.local.positionManagerAddress
const troubles = ['is away', 'says so by JSON-RPC', 'answers garbage', 'answers null to everything', 'fails']

describe('positions that a bot of Hummingbot looks at each second', function () {
  this.timeout(300_000)
  let stage: BehindProxy
  let bot: Bot
  let client: Client
  let calls = 0
  let deepest = ''
  const own: string[] = []
  /** One for each trouble: those that were looked at are told as they were for a while. */
  const unseen: string[] = []

  const counting: Fault = async (exchange) => {
    calls += exchange.methods.filter((method) => method === 'eth_call').length
    await healthy(exchange)
  }
  const look = (positionAddress: string) => bot.get('/trading/clmm/position-info', { ...venue, positionAddress })
  const statusOf = async (positionAddress: string) =>
    (await bot.answer('/trading/clmm/position-info', { ...venue, positionAddress })).status
  /** The first other status: a server hears of a block a moment after it. */
  async function statusAfter(status: number, positionAddress: string): Promise<number> {
    for (let tries = 0; tries < 1_000; tries += 1) {
      const now = await statusOf(positionAddress)
      if (now !== status) return now
      await sleep(50)
    }
    return status
  }
  async function mineWhatIsSent(): Promise<void> {
    while (Number(Reflect.get(Object(await stage.rpc('txpool_status')), 'pending')) === 0) await sleep(20)
    await stage.rpc('evm_mine')
  }
  /** A reorganisation takes them back, and what its server sends again comes into no block. */
  async function loseBlocksAfter(number: number): Promise<void> {
    await stage.proxy.become(losingSends)
    await stage.rpc('anvil_reorg', Number(await stage.rpc('eth_blockNumber')) - number, [])
    await stage.rpc('anvil_dropAllTransactions')
  }
  const lookAtAll = () => Promise.all(own.map(look))
  const done = async (path: string, fields: object) => {
    const { status, text, body } = await stage.server.client.post(path, { ...local, address: admins, ...fields })
    expect(status, text).to.equal(200)
    return (await mined(stage.server.client, body.txHash)).body.fill
  }

  /** A tenth of its price to both sides, in the deepest pool. */
  async function opening(): Promise<object> {
    const { pools } = (await stage.server.client.get('/amm/pools', { ...uniswap, base: 'WETH', quote: 'USDC', version: 'v3' })).body
    const [{ pool }] = pools
    deepest = pool
    const { token0, token1, price } = (await stage.server.client.post('/amm/liquidity/price', { ...uniswap, pool })).body
    const [lowerPrice, upperPrice] = [price * 0.9, price * 1.1].map(String)
    const amounts = Number(price) < 1 ? { amount0: '30', amount1: '0.01' } : { amount0: '0.01', amount1: '30' }
    return { connector: 'uniswap', token0, token1, pool, lowerPrice, upperPrice, ...amounts }
  }
  const open = async (): Promise<string> => (await done('/amm/liquidity/add', await opening())).tokenId
  /** Nobody asks what became of it. */
  async function openUnheard(): Promise<void> {
    const { status, text } = await stage.server.client.post('/amm/liquidity/add', { ...local, address: admins, ...(await opening()) })
    expect(status, text).to.equal(200)
  }
  const owned = async (): Promise<string[]> => {
    const found = await bot.get('/trading/clmm/positions-owned', { ...venue, walletAddress: admins })
    return found.map(({ address }: { address: string }) => address)
  }

  before(async () => {
    const rights = { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' }
    const conf = {
      'clients.yml': { clients: { client: rights, other: { ...rights, permissions: ['read', 'trade'] } } },
      'interfaces/hummingbot.yml': { port: 0 },
    }
    stage = await startBehindProxy({ 'market.checkSeconds': 3_600 }, conf)
    client = createClient(stage.server.interfaceUrls['hummingbot'] ?? '', stage.server.certsDir)
    bot = new Bot(client)
    await done('/evm/wrap', { amount: '1' })
    for (const token of ['WETH', 'USDC']) await done('/evm/approve', { spender: 'uniswap/positions', token })
    for (let count = 0; count < 3; count += 1) own.push(await open())
    for (const _ of troubles) unseen.push(await open())
  })
  beforeEach(() => stage.proxy.become(counting))
  afterEach(() => stage.rpc('evm_setIntervalMining', 1))
  after(async () => {
    client?.close()
    await stage?.stop()
  })

  it('are read together once for each block, however often they are looked at', async () => {
    await stage.rpc('evm_setIntervalMining', 0)
    // The first looks tell that they will be looked at again.
    for (let times = 0; times < 3; times += 1) await lookAtAll()
    // Its server may hear only now of the last block by the clock.
    await until('looks ask for nothing', async () => {
      calls = 0
      for (let times = 0; times < 10; times += 1) await lookAtAll()
      return calls === 0
    })
    for (let block = 1; block <= 3; block += 1) {
      await stage.rpc('evm_mine')
      await lookAtAll()
      calls = 0
      for (let times = 0; times < 10; times += 1) await lookAtAll()
      expect(calls).to.be.at.most(1)
    }
  })

  it('are what the exchange says at that block, also right after a trade that their bot was told of', async () => {
    const [position = ''] = own
    for (let times = 0; times < 3; times += 1) {
      await look(position)
      await done('/amm/trade', { connector: 'uniswap', base: 'ETH', quote: 'USDC', side: 'SELL', amount: `${times + 1}`, pool: deepest })
      await stage.rpc('evm_setIntervalMining', 0)
      const shown = await look(position)
      // The list asks the exchange.
      const owned = await bot.get('/trading/clmm/positions-owned', { ...venue, walletAddress: admins })
      expect(owned).to.deep.include(shown)
      await stage.rpc('evm_setIntervalMining', 1)
    }
  })

  it('are not gone at the first look that misses them, long after a reorganisation had taken them back for a moment', async () => {
    const heightNow = async () => Number(await stage.rpc('eth_blockNumber'))
    await stage.rpc('evm_setIntervalMining', 0)
    const before = await heightNow()
    await stage.rpc('evm_setIntervalMining', 1)
    const opened = await open()
    await stage.rpc('evm_setIntervalMining', 0)
    for (let times = 0; times < 2; times += 1) expect(await look(opened)).to.include({ address: opened })
    const height = await heightNow()
    const sent: unknown[] = []
    for (let number = before + 1; number <= height; number += 1) {
      const { transactions } = (await stage.rpc('eth_getBlockByNumber', `0x${number.toString(16)}`, false)) as { transactions: string[] }
      for (const hash of transactions) sent.push(await stage.rpc('eth_getRawTransactionByHash', hash))
    }

    const takeBack = async () => {
      await stage.rpc('anvil_reorg', (await heightNow()) - before, [])
      // The server sends again what it finds in no block.
      await stage.rpc('anvil_dropAllTransactions')
      await stage.rpc('evm_mine')
    }
    await takeBack()
    expect(await statusAfter(200, opened)).to.equal(503)
    const putBack = async () => {
      for (const raw of sent) await stage.rpc('eth_sendRawTransaction', raw).catch(() => {})
      await stage.rpc('evm_mine')
    }
    await putBack()
    // Memory tells of it only once its server has heard of that block.
    await sleep(1_500)
    expect(await statusAfter(503, opened)).to.equal(200)
    for (let block = 0; block < manyBlocks; block += 1) {
      await stage.rpc('evm_mine')
      expect(await look(opened)).to.include({ address: opened })
    }

    await takeBack()
    expect(await statusAfter(200, opened)).to.equal(503)
    await stage.rpc('anvil_mine', manyBlocks)
    expect(await statusAfter(503, opened)).to.equal(404)
    await putBack()
  })

  it('are not gone while their open may come into a block again, for however many blocks it does not', async () => {
    await stage.rpc('evm_setIntervalMining', 0)
    const before = Number(await stage.rpc('eth_blockNumber'))
    const answered = open()
    await mineWhatIsSent()
    const opened = await answered
    expect(await look(opened)).to.include({ address: opened })
    await loseBlocksAfter(before)
    for (let block = 0; block < manyBlocks; block += 1) {
      await stage.rpc('evm_mine')
      if (block === 0) expect(await statusAfter(200, opened)).to.equal(503)
      else expect(await statusOf(opened)).to.equal(503)
    }
    await stage.proxy.become(healthy)
    await stage.rpc('evm_setIntervalMining', 1)
    while ((await statusOf(opened)) === 503) await sleep(200)
    expect(await look(opened)).to.include({ address: opened })
  })

  const tellers: Readonly<Record<string, (next: string) => Promise<void>>> = {
    async 'the answer of their open'(next) {
      const opened = open()
      await mineWhatIsSent()
      expect(await opened).to.equal(next)
    },
    async 'the list of their wallet'(next) {
      await openUnheard()
      await mineWhatIsSent()
      expect(await owned()).to.include(next)
    },
  }
  for (const [teller, tell] of Object.entries(tellers))
    it(`are not gone after ${teller}, though their id was gone before and their block is taken back before anyone looks`, async () => {
      await stage.rpc('evm_setIntervalMining', 1)
      const next = String(BigInt(await open()) + 1n)
      await stage.rpc('evm_setIntervalMining', 0)
      expect(await statusOf(next)).to.equal(503)
      await stage.rpc('anvil_mine', manyBlocks)
      expect(await statusAfter(503, next)).to.equal(404)

      const before = Number(await stage.rpc('eth_blockNumber'))
      await tell(next)
      await loseBlocksAfter(before)
      for (let block = 0; block < manyBlocks; block += 1) {
        await stage.rpc('evm_mine')
        expect(await statusOf(next)).to.equal(503)
      }
      await stage.proxy.become(healthy)
      await stage.rpc('evm_setIntervalMining', 1)
      expect(await statusAfter(503, next)).to.equal(200)
    })

  it('stay gone when somebody asks again for the open that made them', async () => {
    await stage.rpc('evm_setIntervalMining', 1)
    const tokenId = await open()
    const { body } = await stage.server.client.get('/transactions', { ...local, kind: 'liquidity', limit: '1' })
    const [{ txHash }] = body.transactions
    await stage.rpc('evm_setIntervalMining', 0)
    const removed = done('/amm/liquidity/remove', { connector: 'uniswap', tokenId, burn: true })
    await mineWhatIsSent()
    await removed
    expect(await statusAfter(200, tokenId)).to.equal(503)
    await stage.rpc('anvil_mine', manyBlocks)
    expect(await statusAfter(503, tokenId)).to.equal(404)
    const { fill, final } = (await stage.server.client.post('/network/poll', { ...local, txHash })).body
    expect({ tokenId: fill.tokenId, final }).to.deep.equal({ tokenId, final: true })
    expect(await statusOf(tokenId)).to.equal(404)
  })

  /** `positions` of the manager, as it stands in a call of several. */
  const positionCall = '99fbab88'
  const refusals: Readonly<Record<string, (call: { method: string; params: readonly unknown[] }) => boolean>> = {
    'calls that ask for more than one of them': ({ method, params }) =>
      method === 'eth_call' && JSON.stringify(params).split(positionCall).length > 2,
    'to tell of changes': ({ method }) => method === 'eth_getLogs',
  }
  for (const [what, isRefused] of Object.entries(refusals))
    it(`are told one by one where the node refuses ${what}`, async () => {
      await stage.rpc('evm_setIntervalMining', 0)
      await lookAtAll()
      let refused = 0
      await stage.proxy.become(async ({ calls: asked, response, answer }) => {
        const text = await answer()
        const answers: unknown[] = [JSON.parse(text)].flat()
        const kept = answers.map((each, index) => {
          const call = asked[index]
          if (!call || !isRefused(call)) return each
          refused += 1
          const id: unknown = Reflect.get(Object(each), 'id')
          return { jsonrpc: '2.0', id, error: { code: -32_000, message: 'execution aborted (timeout = 5s)' } }
        })
        response.writeHead(200, json).end(JSON.stringify(text.startsWith('[') ? kept : kept[0]))
      })
      for (let block = 0; block < 3; block += 1) {
        await stage.rpc('evm_mine')
        // Until its server has heard of that block.
        for (let times = 0; times < 5; times += 1) {
          for (const position of own) expect(await look(position)).to.include({ address: position })
          await sleep(200)
        }
      }
      expect(refused).to.be.above(0)
    })

  it('are not gone where a node answers by blocks from before they were opened, for however many blocks', async () => {
    const opened = await open()
    const at = Number(await stage.rpc('eth_blockNumber'))
    let behind = at - manyBlocks
    // Its blocks come, too, and are never those of the network.
    await stage.proxy.become(async ({ calls: asked, response, answer }) => {
      const block = (each: unknown) => (each === 'latest' ? `0x${behind.toString(16)}` : each)
      const old = asked.map((call) => ({ ...call, params: call.method === 'eth_call' ? call.params.map(block) : call.params }))
      const found = await fetch(stage.proxy.target, { method: 'POST', headers: json, body: JSON.stringify(old) })
      const answers: unknown[] = JSON.parse(await found.text())
      response.writeHead(200, json).end(JSON.stringify((await answer()).startsWith('[') ? answers : answers[0]))
    })
    for (; behind < at - 1; behind += 1) {
      const { status, body } = await bot.refusal('GET', '/trading/clmm/position-info', { ...venue, positionAddress: opened })
      expect(status, body.message).to.equal(503)
    }
    await stage.proxy.become(healthy)
    expect(await look(opened)).to.include({ address: opened })
  })

  it('are not gone where the only node does not have them in its newest block, for however many blocks, while its final ones do', async () => {
    const positionAddress = await open()
    await stage.rpc('evm_setIntervalMining', 0)
    await stage.proxy.become(lyingAtNewest(manager, stage.proxy))
    for (let block = 0; block < manyBlocks; block += 1) {
      await stage.rpc('evm_mine')
      const { status, body } = await bot.refusal('GET', '/trading/clmm/position-info', { ...venue, positionAddress })
      expect(status, body.message).to.equal(503)
    }
    await stage.proxy.become(healthy)
    expect(await look(positionAddress)).to.include({ address: positionAddress })
  })

  describe('while the node refuses to read them', () => {
    let refused = 0
    const refuseReadings = refusing(({ method }) => method === 'eth_call' && (refused += 1) > 0, { code: -32_000, message: 'try later' })
    /** Asked as 2.16 asks, which takes any refusal for proof that a position is gone once it closes it. */
    const asked = (positionAddress: string) =>
      bot.answer('/connectors/uniswap/clmm/position-info', { network: 'local', positionAddress }).then(({ status }) => status)
    async function refuseAfterLook(positionAddress: string): Promise<void> {
      await stage.rpc('evm_setIntervalMining', 0)
      await look(positionAddress)
      refused = 0
      await stage.proxy.become(refuseReadings)
    }
    /** Until its server has heard of that block, and has tried to read it. */
    const readingFails = async (positionAddress: string) => {
      await stage.rpc('evm_mine')
      let status = 0
      await until('a reading failed', async () => {
        status = await asked(positionAddress)
        return refused > 0
      })
      return status
    }

    it('are told as they were a moment ago, with each block', async () => {
      const [positionAddress = ''] = own
      await refuseAfterLook(positionAddress)
      for (let block = 0; block < 3; block += 1) {
        expect(await readingFails(positionAddress)).to.equal(200)
        expect(await look(positionAddress)).to.include({ address: positionAddress })
      }
    })

    it('are 503 once their wallet has sent what the journal does not know', async () => {
      const [positionAddress = ''] = own
      await refuseAfterLook(positionAddress)
      expect(await readingFails(positionAddress)).to.equal(200)
      await stage.rpc('eth_sendTransaction', { from: admins, to: admins, value: '0x0' })
      await stage.rpc('evm_mine')
      await until('that is seen', async () => (await asked(positionAddress)) === 503)
    })

    it('are 503 once a close of them is signed, whatever became of that', async () => {
      const positionAddress = await open()
      await refuseAfterLook(positionAddress)
      await stage.proxy.become(healthy)
      const removed = done('/amm/liquidity/remove', { connector: 'uniswap', tokenId: positionAddress, burn: true })
      while (Number(Reflect.get(Object(await stage.rpc('txpool_status')), 'pending')) === 0) await sleep(20)
      refused = 0
      await stage.proxy.become(refuseReadings)
      await stage.rpc('evm_mine')
      await until('its block is known', async () => (await asked(positionAddress)) === 503)
      await stage.proxy.become(healthy)
      await stage.rpc('evm_setIntervalMining', 1)
      await removed
    })
  })

  describe('whose client was refused, so that it may take them for gone', () => {
    const away = faults('secret')['is away'] ?? expect.fail()
    let positionAddress = ''
    const refused = async (path: 'position-info' | 'close', by = bot) => {
      await stage.proxy.become(away)
      const { status, body } = await by.refusal(path === 'close' ? 'POST' : 'GET', `/trading/clmm/${path}`, { ...venue, positionAddress })
      expect(status, body.message).to.equal(503)
      await stage.proxy.become(healthy)
    }
    const shown = () => runCommand(stage.server, ['positions', '--orphaned'])
    const orphaned = async (): Promise<{ tokenId: string; refused?: object }[]> =>
      JSON.parse(await runCommand(stage.server, ['positions', '--orphaned', '--json']))
    const ids = async () => (await orphaned()).map(({ tokenId }) => tokenId)
    /** A position may be told as it was. */
    const isHealthyAgain = () =>
      until('the node is there again', async () => {
        const { status } = await stage.server.client.get('/evm/nonce', { ...local, address: admins })
        return status === 200
      })

    before(async () => {
      await stage.rpc('evm_setIntervalMining', 1)
      positionAddress = await open()
    })

    it('are among those that nobody follows, until it is answered', async () => {
      expect(await ids()).not.to.include(positionAddress)
      await refused('position-info')
      await isHealthyAgain()
      const found = (await orphaned()).find(({ tokenId }) => tokenId === positionAddress)
      expect(found).to.deep.include({ isFollowed: false })
      expect(found?.refused).to.include({ asked: 'position', client: 'client', error: 'NETWORK' })
      expect(await shown())
        .to.match(new RegExp(`asking for it was refused to client at 20.*NETWORK`))
        .and.to.contain(`"tokenId":"${positionAddress}"`)
      expect(await look(positionAddress)).to.include({ address: positionAddress })
      await until('that is stored', async () => !(await ids()).includes(positionAddress))
    })

    it('are not, where another client was refused that has never used them, and that is shown none but its own', async () => {
      await newClient(stage.server.certsDir, 'other')
      const clientsTold = async (by: Client) =>
        (await by.get('/amm/liquidity/refused')).body.positions.map((each: { client: string }) => each.client)
      const other = createClient(stage.server.url, stage.server.certsDir, 'other')
      await refused('close')
      expect(await clientsTold(other)).to.deep.equal([])
      const stranger = createClient(stage.server.interfaceUrls['hummingbot'] ?? '', stage.server.certsDir, 'other')
      await refused('close', new Bot(stranger))
      stranger.close()
      expect(await clientsTold(other)).to.deep.equal(['other'])
      expect(await clientsTold(stage.server.client)).to.include.members(['client', 'other'])
      other.close()
      await isHealthyAgain()
      await done('/amm/liquidity/collect_fees', { connector: 'uniswap', tokenId: positionAddress })
      expect(await ids()).not.to.include(positionAddress)
    })

    it('are among them after a close that was refused, until they are closed', async () => {
      await refused('close')
      await isHealthyAgain()
      expect(await look(positionAddress)).to.include({ address: positionAddress })
      expect(await shown()).to.match(/its close was refused to client at 20.*nothing closed it since/)
      expect(await ids()).to.include(positionAddress)
      await done('/amm/liquidity/remove', { connector: 'uniswap', tokenId: positionAddress, burn: true })
      expect(await ids()).not.to.include(positionAddress)
    })
  })

  for (const [index, trouble] of troubles.entries())
    it(`are neither gone nor a defect where the node ${trouble}`, async () => {
      const positionAddress = unseen[index] ?? expect.fail()
      await stage.proxy.become(faults('secret')[trouble] ?? expect.fail(trouble))
      for (let times = 0; times < 3; times += 1) {
        const { status, body } = await bot.refusal('GET', '/trading/clmm/position-info', { ...venue, positionAddress })
        expect(status, body.message).to.be.oneOf([429, 503])
        expect(body.message).not.to.match(/position not found|position closed|does not exist|not found/)
      }
    })
})

import { expect } from 'chai'
import * as fc from 'fast-check'
import { errorsOf, eventsEndpoint } from '../../core/api/index.ts'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { until } from '../../tools/hyperliquid-simulator/client.ts'
import { follow, type Door, type Follower, type ReceivedEvent } from './client.ts'
import { encode, queryValues } from '../http/fuzz/values.ts'
import { admins, local, mined, outcome, traders } from '../http/shared-server.ts'

const quickswap = { ...local, connector: 'quickswap' } as const
const sale = { base: 'WETH', quote: 'USDC', side: 'SELL', amount: '1.5' } as const
const asked = { topics: 'price', ...quickswap, ...sale }
/** Listed, and in no pool. */
const lonely = '0x00000000000000000000000000000000000000A1'
const list = { name: 'Lonely', tokens: [{ chainId: 31337, address: lonely, symbol: 'LONE', name: 'Lonely', decimals: 18 }] }

const readAll = async (response: AsyncIterable<Buffer>): Promise<string> => {
  let text = ''
  for await (const chunk of response) text += chunk.toString()
  return text
}

describe('prices in /events', function () {
  this.timeout(300_000)
  let server: TestServer
  let rpc: Rpc
  const followers: Follower[] = []
  const good = new URL('../fixtures/plugins/good/', import.meta.url).pathname
  before(async () => {
    server = await startServer({
      plugins: [good],
      trusted: ['fixture-chain', 'fixture-swap'],
      conf: { 'tokens/ethereum/local.json': JSON.stringify(list) },
    })
    rpc = rpcTo(server.rpcUrl)
    await newClient(server.settings.ssl.certsDir, 'visitor')
  })
  after(() => server?.stop())
  afterEach(async () => {
    for (const follower of followers.splice(0)) await follower.close()
  })
  const door = (name = 'client'): Door => ({ url: server.kernel.url, certsDir: server.settings.ssl.certsDir, name })
  const listen = async (query: Record<string, string> = asked, name?: string) => {
    const follower = await follow(door(name), query)
    followers.push(follower)
    return follower
  }
  const first = (follower: Follower) => follower.hears('a price', () => true)
  const changedBy = (follower: Follower, block: number) => follower.hears(`block ${block}`, ({ data }) => data.blockNumber >= block)
  const priceNow = async (fields: object = {}) => {
    const answer = await server.client.get('/amm/price', { ...quickswap, ...sale, ...fields })
    expect(answer.status, answer.text).to.equal(200)
    return answer.body
  }
  /** Gives the block of the trade. */
  const trade = async (fields: object = {}): Promise<number> => {
    const answer = await server.client.post('/amm/trade', { ...quickswap, ...sale, base: 'ETH', address: admins, ...fields })
    expect(answer.status, answer.text).to.equal(200)
    return (await mined(server.client, answer.body.txHash)).body.txBlock
  }

  it('equal /amm/price, and are sent again with each block that changes them, the same to every stream', async () => {
    const [one, other] = [await listen(), await listen(asked, 'visitor')]
    const before = await priceNow()
    const told = await first(one)
    expect(told.topic).to.equal('price')
    expect(told.data).to.deep.equal({
      asked: 'WETH:USDC:SELL:1.5',
      ...quickswap,
      base: before.base,
      quote: before.quote,
      side: 'SELL',
      amount: before.amount,
      price: before.price,
      expectedAmount: before.expectedAmount,
      route: before.route,
      blockNumber: told.data.blockNumber,
      timestamp: told.data.timestamp,
      source: 'memory',
    })
    const block = await trade()
    const next = await changedBy(one, block)
    // Where the machine is slow, several blocks are taken at once.
    expect(next.data.blockNumber).to.be.within(block, Number(await rpc('eth_blockNumber')))
    const { timestamp } = Object(await rpc('eth_getBlockByNumber', `0x${next.data.blockNumber.toString(16)}`, false))
    expect(next.data.timestamp).to.equal(Number(timestamp) * 1000)
    expect(next.data.expectedAmount)
      .to.equal((await priceNow()).expectedAmount)
      .and.not.equal(told.data.expectedAmount)
    expect((await changedBy(other, block)).data).to.deep.equal(next.data)
    expect(one.told).to.have.length(2)
  })

  it('come from the best connector for any, and change when another becomes the best', async () => {
    const fields = { connector: 'any', connectors: 'quickswap,pangolin', amount: '0.5', quote: 'USDC' }
    const follower = await listen({ ...asked, ...fields })
    const told = await first(follower)
    const now = await priceNow({ ...fields, candidates: 'true' })
    for (const field of ['connector', 'price', 'expectedAmount', 'gasCostInQuote', 'route'])
      expect(told.data[field], field).to.deep.equal(now[field])
    expect(told.data.source).to.equal('memory')
    // A sale moves the price of the best below that of the other.
    const block = await trade({ connector: told.data.connector, amount: '60' })
    const next = await changedBy(follower, block)
    const other = await follower.hears('the other', ({ data }) => data.connector !== told.data.connector)
    expect(other.data.expectedAmount).to.equal((await priceNow(fields)).expectedAmount)
    expect(next.data.connector).to.equal(other.data.connector)
    const blocks = follower.told.map(({ data }) => data.blockNumber)
    expect(blocks, 'one event of a block').to.deep.equal([...new Set(blocks)])
  })

  it('refuse any where nothing can be asked', async () => {
    const refused = async (fields: object) => outcome(await server.client.get('/events', { ...asked, ...fields }))
    expect(await refused({ connector: 'any', connectors: 'oasis' })).to.equal('501 UNSUPPORTED')
    expect(await refused({ connector: 'any', connectors: 'nobody' })).to.equal('404 UNKNOWN_CONNECTOR')
    expect(await refused({ connectors: 'quickswap' })).to.equal('400 INCOMPLETE_PARAMS')
  })

  it('do not come again after blocks that do not change them', async () => {
    const follower = await listen({ ...asked, topics: 'price,blocks' })
    const { data } = await follower.hears('a price', ({ topic }) => topic === 'price')
    for (let i = 0; i < 3; i++) await rpc('anvil_mine', '0x1')
    const number = Number(await rpc('eth_blockNumber'))
    await follower.hears('the last block', (told) => told.topic === 'blocks' && told.data.number >= number)
    const block = await trade()
    await changedBy(follower, block)
    const blocks = follower.told.filter(({ topic }) => topic === 'price').map((told) => told.data.blockNumber)
    expect(blocks).to.have.length(2)
    expect(blocks[0]).to.equal(data.blockNumber)
  })

  it('go back with a reorganisation', async () => {
    const follower = await listen()
    const { data } = await first(follower)
    // What the chain takes back keeps its wallet busy.
    const block = await trade({ address: traders })
    const there = await changedBy(follower, block)
    expect(there.data.expectedAmount).to.not.equal(data.expectedAmount)
    const count = follower.told.length
    // No block comes between what is counted and what is taken back, and the trade is in none again before it is heard.
    await rpc('evm_setIntervalMining', 0)
    try {
      // One that was being made is there before this one.
      await rpc('evm_mine')
      await rpc('anvil_reorg', Number(await rpc('eth_blockNumber')) - block + 1, [])
      await rpc('anvil_mine', '0x2')
      await follower.hears('that it went back', (told) => follower.told.indexOf(told) >= count && told.data.price === data.price)
    } finally {
      await rpc('evm_setIntervalMining', 1)
    }
    // What was taken back is sent again: the next ask for prices when it is in a block for good.
    await until(async () => {
      const { body } = await server.client.get('/transactions', { address: traders, limit: '1' })
      return body.transactions[0].txState === 'CONFIRMED'
    })
  })

  it('can be many in one stream, each with the text of its request', async () => {
    const questions = ['WETH:USDC:SELL:1.5', 'weth:usdc:buy:0.25', 'USDC:ETH:BUY:1e3', 'ETH:USDC:SELL:1.50']
    const follower = await listen({ topics: 'price', ...quickswap, price: questions.join(','), ...sale, amount: '7' })
    for (const question of [...questions, 'WETH:USDC:SELL:7']) {
      const { data } = await follower.hears(question, (told) => told.data.asked === question)
      const [base = '', quote = '', side = '', amount = ''] = question.split(':')
      const { price, expectedAmount, base: address } = await priceNow({ base, quote, side, amount })
      expect([data.base, data.price, data.expectedAmount]).to.deep.equal([address, price, expectedAmount])
    }
    await trade()
    await follower.hears('ten', () => follower.told.length === 10)
    const ids = follower.told.map(({ id }) => id.split('-').map(Number))
    expect(ids).to.deep.equal(ids.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d))
    expect(new Set(ids.map(String)).size).to.equal(ids.length)
  })

  it('reach a client that reconnects only as they are now', async () => {
    const follower = await listen()
    const { id } = await first(follower)
    await trade()
    const last = await changedBy(follower, await trade())
    const again = await listen({ ...asked, lastEventId: id })
    expect((await first(again)).data).to.deep.equal(last.data)
    expect(again.told).to.have.length(1)
  })

  it('can be a thousand in one query, and no more', async () => {
    const questions = Array.from({ length: 1_000 }, (_, index) => `WETH:USDC:${index % 2 ? 'SELL' : 'BUY'}:${index + 1}e-3`)
    const follower = await listen({ topics: 'price', ...quickswap, price: questions.join(',') })
    await follower.hears('all of them', () => follower.told.length === 1_000)
    expect(new Set(follower.told.map(({ data }) => data.asked))).to.deep.equal(new Set(questions))
    const more = await server.client.get('/events', { topics: 'price', ...quickswap, price: [...questions, 'WETH:USDC:SELL:9'] })
    expect(outcome(more)).to.equal('400 INCOMPLETE_PARAMS')
  })

  it('come as an error if the exchange gives none, beside the others', async () => {
    const follower = await listen({ topics: 'price', ...quickswap, price: 'LONE:USDC:SELL:1,WETH:USDC:BUY:1e9,WETH:USDC:SELL:1' })
    const of = (question: string) => follower.hears(question, ({ data }: ReceivedEvent) => data.asked === question)
    const { data: none } = await of('LONE:USDC:SELL:1')
    const answer = await server.client.get('/amm/price', { ...quickswap, ...sale, base: 'LONE', amount: '1' })
    const { errorCode, name, message } = answer.body
    expect(none)
      .to.deep.include({ base: lonely, amount: `1.${'0'.repeat(18)}` })
      .and.not.have.any.keys('price', 'blockNumber', 'stale')
    expect(none.error).to.deep.equal({ errorCode, name, message })
    expect((await of('WETH:USDC:BUY:1e9')).data.error.name).to.equal('PRICE_FAILED')
    expect((await of('WETH:USDC:SELL:1')).data.expectedAmount).to.be.a('string')
  })

  it('come, or fail by an error of the table, for any query', async () => {
    const fields = ['price', 'price', 'price[]', 'base', 'quote', 'side', 'amount', 'version', 'connector'] as const
    const question = fc
      .array(fc.oneof(queryValues, fc.constantFrom('WETH', 'USDC', 'BUY', '1.5')), { minLength: 3, maxLength: 5 })
      .map((parts) => parts.join(encode(':')))
    const wild = fc.array(fc.tuple(fc.constantFrom(...fields), fc.oneof(queryValues, question)), { minLength: 1, maxLength: 3 })
    const ask = fc.asyncProperty(wild, async (pairs) => {
      const changed = new Set<string>(pairs.map(([name]) => name))
      const kept = Object.entries(asked).filter(([name]) => !changed.has(name))
      const query = [...kept.map(([name, value]) => [name, encode(value)]), ...pairs].map((pair) => pair.join('=')).join('&')
      const response = await server.client.open(`/events?${query}`)
      if (response.statusCode !== 200) {
        const body = JSON.parse(await readAll(response))
        expect(errorsOf(eventsEndpoint), `${query} ${JSON.stringify(body)}`).to.include(body.name)
      }
      response.destroy()
    })
    await fc.assert(ask, { numRuns: 300, endOnFailure: true })
  })

  for (const [what, query, expected, field] of [
    ['no connector', { connector: '' }, '400 INCOMPLETE_PARAMS', 'connector'],
    ['no question', { base: '', quote: '', side: '', amount: '' }, '400 INCOMPLETE_PARAMS', 'price'],
    ['half a question', { side: '', amount: '' }, '400 INCOMPLETE_PARAMS', 'side'],
    ['an amount that is none', { amount: 'much' }, '400 INCOMPLETE_PARAMS', 'amount'],
    ['an amount of nothing', { amount: '0' }, '400 INCOMPLETE_PARAMS', 'amount'],
    ['an amount with too many decimals', { base: 'USDC', quote: 'WETH', amount: '0.0000001' }, '400 INCOMPLETE_PARAMS', 'amount'],
    ['a side that is none', { side: 'HOLD' }, '400 INCOMPLETE_PARAMS', 'side'],
    ['a token for itself', { quote: 'WETH' }, '400 INCOMPLETE_PARAMS', 'quote'],
    ['a coin for its wrapped form', { base: 'ETH', quote: 'WETH' }, '400 INCOMPLETE_PARAMS', 'quote'],
    ['a version that there is not', { version: 'v9' }, '400 INCOMPLETE_PARAMS', 'version'],
    ['an entry that is no question', { price: 'WETH-USDC' }, '400 INCOMPLETE_PARAMS', 'price'],
    ['an entry of nothing', { price: 'WETH:USDC:SELL:0' }, '400 INCOMPLETE_PARAMS', 'price'],
    ['an unknown token', { base: 'WETHH' }, '404 TOKEN_NOT_SUPPORTED', undefined],
    ['an entry with an unknown token', { price: 'WETH:EUR:SELL:1' }, '404 TOKEN_NOT_SUPPORTED', undefined],
    ['an unknown connector', { connector: 'quikswap' }, '404 UNKNOWN_CONNECTOR', undefined],
    ['an unknown network', { network: 'goerli' }, '404 UNKNOWN_CHAIN_ERROR', undefined],
    ['a network that it does not serve', { network: 'mainnet' }, '404 UNKNOWN_CHAIN_ERROR', undefined],
    ['a connector without swaps', { connector: 'oasis' }, '501 UNSUPPORTED', undefined],
    [
      'a connector that can only be asked',
      { chain: 'fixture-chain', network: 'mainnet', connector: 'fixture-swap' },
      '501 UNSUPPORTED',
      undefined,
    ],
  ] as const)
    it(`refuse ${what}`, async () => {
      const answer = await server.client.get('/events', { ...asked, ...query })
      expect(outcome(answer), answer.text).to.equal(expected)
      if (field !== undefined) expect(answer.body.details[0].field).to.equal(field)
    })
})

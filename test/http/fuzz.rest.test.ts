import { once } from 'node:events'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Ajv } from 'ajv'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { endpoints, errorsOf, errorTable, type Endpoint, type ErrorName } from '../../core/api/index.ts'
import type { Answer } from '../../testkit/client.ts'
import { until } from '../../tools/hyperliquid-simulator/client.ts'
import {
  eventsRequests,
  fuzzOrder,
  fuzzPool,
  fuzzPosition,
  goodRequest,
  requests,
  withUnknownField,
  type FuzzedRequest,
  goodRight,
  goodShares,
} from './fuzz/requests.ts'
import { admins, local, mined, noted, others, sharedServer, uniswap, type SharedServer } from './shared-server.ts'
import { scrape } from './scrape.ts'

const seed = Number(process.env.SLUICE_FUZZ_SEED ?? Date.now() % 2 ** 31)
const atOnce = 8
/** Caches are bounded, but not full yet; a few kilobytes left behind by each request would be more. */
const slackBytes = 12 * 1024 * 1024

const ajv = new Ajv({ strict: false })
const answerOf = new Map(endpoints.map((each) => [each.name, ajv.compile(each.response)]))
/** What needs something pending is answered by chance alone, and takes no nonce of its own. */
const byChance = ['EVMCancel', 'EVMSpeedUp']
/** No chain of its family is here, no exchange that lends, has perpetuals on a book, or holds funds beside orders, no plugin that is quarantined, no request that waits, nobody who may stop or lift, and no `conf/alerts.yml`. */
const unserved = (endpoints as readonly Endpoint[])
  .filter(
    ({ set, name }) =>
      ['altchain', 'MARGIN_CLOB', 'PERP_CLOB'].includes(set) ||
      [
        'CLOBDeposit',
        'CLOBWithdraw',
        'PluginsLift',
        'StopsPost',
        'AlertsSilencesPost',
        'AlertsSilencesDelete',
        'AlertsTest',
        'StopsDelete',
        'ApprovalsPreview',
        'ApprovalsApprove',
        'ApprovalsDeny',
        'ApprovalsWithdraw',
      ].includes(name),
  )
  .map(({ name }) => name)
/** What HTTP has a number of its own for. */
const httpsOwn = [404, 405, 413, 415, 431]

describe(`any request (SLUICE_FUZZ_SEED=${seed})`, function () {
  this.timeout(300_000)
  let server: SharedServer
  /** Hashes that were answered: the same key twice gives the same. */
  const sent = new Set<string>()
  const seen = new Set<string>()
  before(async () => {
    server = await sharedServer()
    const { client } = server
    for (const token of ['WETH', 'USDC']) {
      const approved = await client.post('/evm/approve', { ...local, address: others, spender: 'uniswap/positions', token })
      await mined(client, approved.body.txHash)
    }
    const position = { token0: 'WETH', token1: 'USDC', fee: 'LOW', amount0: '1', amount1: '3000', lowerPrice: '2500', upperPrice: '3500' }
    const added = await client.post('/amm/liquidity/add', { ...uniswap, ...position, address: others })
    fuzzPosition((await mined(client, added.body.txHash)).body.fill.tokenId, added.body.pool)
    const swapped = await client.get('/amm/pools', { ...uniswap, base: 'ETH', quote: 'USDC', version: 'v2' })
    fuzzPool(swapped.body.pools[0].pool)
    const shares = { ...uniswap, address: others, tokens: goodShares.tokens }
    const { pool } = (await client.get('/amm/shares/position', shares)).body
    for (const token of ['DAI', pool]) {
      const { body } = await client.post('/evm/approve', { ...local, address: others, spender: 'uniswap/v2', token })
      await mined(client, body.txHash)
    }
    await mined(client, (await client.post('/amm/shares/add', { ...shares, amounts: ['1'] })).body.txHash)
    const given = await client.post('/evm/approve', { ...local, address: others, ...goodRight })
    await mined(client, given.body.txHash)
    const approved = await client.post('/evm/approve', { ...local, address: others, spender: 'perp', token: 'USDC' })
    await mined(client, approved.body.txHash)
    const collateral = { ...local, connector: 'perp', address: others, token: 'USDC', amount: '10000' }
    await mined(client, (await client.post('/perpAMM/deposit', collateral)).body.txHash)
    for (const token of ['WETH', 'USDC']) {
      const { body } = await client.post('/evm/approve', { ...local, address: others, spender: 'oasis', token })
      await mined(client, body.txHash)
    }
    const order = { market: 'WETH-USDC', side: 'BUY', orderType: 'LIMIT', price: '700', amount: '0.01' }
    const placed = await client.post('/clob/orders', { ...local, connector: 'oasis', address: others, ...order })
    await noted(client, placed.body.txHash)
    const asked = { ...local, connector: 'oasis', address: others, clientOrderId: placed.body.clientOrderId }
    fuzzOrder((await client.get('/clob/orders', asked)).body.orders[0].orderId)
  })

  const send = ({ method, path, headers, raw }: FuzzedRequest): Promise<Answer> =>
    server.client.request(method, path, { headers, ...(raw !== undefined && { raw }) })
  /** Of the wallets that the fuzz knows. */
  const nonces = async (): Promise<number> => {
    const counts = await Promise.all([admins, others].map((wallet) => server.rpc('eth_getTransactionCount', wallet, 'pending')))
    return counts.reduce<number>((sum, count) => sum + Number(count), 0)
  }

  async function run(numRuns: number, offset: number): Promise<void> {
    const property = fc.asyncProperty(fc.array(requests, { minLength: atOnce, maxLength: atOnce }), async (batch) => {
      const answers = await Promise.all(batch.map(send))
      for (const [index, answer] of answers.entries()) {
        const request = batch[index]
        if (request) judge(request, answer)
      }
    })
    await fc.assert(property, { seed: seed + offset, numRuns, endOnFailure: true })
  }

  function judge({ endpoint, path, raw }: FuzzedRequest, { status, body, text }: Omit<Answer, 'headers'>): void {
    const about = `${endpoint.name} ${path.slice(0, 300)} ${raw?.slice(0, 300) ?? ''} -> ${status} ${text.slice(0, 500)}`
    seen.add(`${endpoint.name} ${status === 200 ? 'answered' : 'refused'}`)
    if (status === 200) {
      expect(answerOf.get(endpoint.name as (typeof endpoints)[number]['name'])?.(body), about).to.equal(true)
      const { transactions = [body], created = transactions, cancelled = [] } = body
      // What has ended is not cancelled again.
      if (endpoint.acts && !byChance.includes(endpoint.name))
        for (const { txHash } of [...created, ...cancelled]) {
          // A dry run sends nothing: its hash is empty.
          if (txHash === '') expect(raw, about).to.contain('"dryRun":true')
          else if (txHash !== undefined) sent.add(txHash)
        }
      return
    }
    expect(body, about).to.be.an('object')
    expect(errorsOf(endpoint), about).to.include(body.name)
    expect(body.httpErrorCode, about).to.equal(status)
    const { code, http } = errorTable[body.name as ErrorName]
    expect(body.errorCode, about).to.equal(code)
    if (status !== http) expect([body.name, httpsOwn.includes(status)], about).to.deep.equal(['INCOMPLETE_PARAMS', true])
    expect(body.message, about).to.be.a('string').and.to.have.length.within(10, 20_000)
    expect(text, about).not.to.match(/\bat .+\.[tj]s:\d+|node_modules/)
  }

  it('gets a documented answer, and sends no transaction if it is an error', async () => {
    const before = await nonces()
    // What is good is answered and what is not is refused, whatever the dice say: they come to an endpoint a few times only.
    for (const endpoint of endpoints) {
      const unknown = withUnknownField(endpoint)
      judge(unknown, await send(unknown))
      // The close before it has closed what was open.
      const first = endpoint.name === 'PerpClose' ? endpoints.filter(({ name }) => name === 'PerpOpen') : []
      for (const each of [...first, endpoint]) {
        const request = goodRequest(each)
        const answer = await send(request)
        judge(request, answer)
        if (request.endpoint.set === 'PERP_AMM' && request.endpoint.acts && answer.status === 200)
          await mined(server.client, answer.body.txHash)
      }
    }
    await run(250, 0)
    // The last ones may be on their way to the node.
    for (let tries = 0; (await nonces()) < before + sent.size && tries < 600; tries += 1) await sleep(50)
    expect(await nonces()).to.equal(before + sent.size)
    // A fuzz that never gets past the first check, or is never refused, shows nothing.
    const expected = endpoints.flatMap(({ name }) => [
      `${name} refused`,
      ...([...byChance, ...unserved].includes(name) ? [] : [`${name} answered`]),
    ])
    expect(expected.filter((each) => !seen.has(each))).to.deep.equal([])
  })

  it('opens an event stream or gets a documented error', async () => {
    let opened = 0
    const property = fc.asyncProperty(eventsRequests, async (request) => {
      const incoming = await server.client.open(request.path)
      if (incoming.statusCode !== 200) {
        const text = await textOf(incoming)
        judge(request, { status: incoming.statusCode ?? 0, body: JSON.parse(text), text })
        return
      }
      const [first] = await once(incoming, 'data')
      expect(String(first), request.path).to.contain('event: ready')
      incoming.destroy()
      opened += 1
    })
    await fc.assert(property, { seed, numRuns: 200, endOnFailure: true })
    expect(opened).to.be.above(0)
    expect([...seen]).to.include('Events refused')
    const streams = async () => /^sluice_event_streams.* (\d+)$/m.exec((await scrape(server.client)).text)?.[1]
    await until(async () => (await streams()) === '0')
  })

  it('leaks no memory', async () => {
    setFlagsFromString('--expose_gc')
    const gc: unknown = runInNewContext('gc')
    const heapUsed = () => {
      if (typeof gc === 'function') gc()
      return process.memoryUsage().heapUsed
    }
    const before = heapUsed()
    await run(200, 1)
    let left = heapUsed() - before
    // What is still being closed is gone a moment later.
    for (let tries = 0; left >= slackBytes && tries < 240; tries += 1) {
      await sleep(250)
      left = heapUsed() - before
    }
    expect(left).to.be.below(slackBytes)
    expect((await server.client.get('/health/ready')).body).to.deep.equal({ status: 'ok' })
    expect((await scrape(server.client)).text).not.to.contain('code="1099"')
  })
})

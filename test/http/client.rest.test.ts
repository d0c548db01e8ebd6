import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { newClient, revoke } from '../../core/tls/certificates.ts'
import { createClient, type SluiceClient, type SluiceEvent } from '../../client/index.ts'
import { until } from '../transactions/site.ts'
import { startLine, type Line } from './faulty-line.ts'
import { refusalOf } from './refused-certificate.ts'
import { sharedServer, traders, type SharedServer } from './shared-server.ts'

const local = { chain: 'ethereum', network: 'local' } as const
const swap = { ...local, connector: 'uniswap', base: 'ETH', quote: 'USDC', side: 'SELL', amount: '0.1' } as const

describe('the client for bots', function () {
  this.timeout(300_000)
  let server: SharedServer
  let line: Line
  let client: SluiceClient
  before(async () => {
    server = await sharedServer()
    line = await startLine(server.url)
    client = createClient({ url: line.url, certs: server.settings.ssl.certsDir, timeoutMs: 20_000 })
    await client.get('/', {})
  })
  after(() => {
    client?.close()
    line?.stop()
  })
  afterEach(() => void (line.state = 'open'))

  const errorOf = async (work: Promise<unknown>) =>
    work.then(() => expect.fail('It was answered.')).catch((error: unknown) => Object(error))

  it('quotes and trades, and waits for the fill', async () => {
    const { slippagePrice, expectedAmount } = await client.get('/amm/price', swap)
    const { txHash } = await client.post('/amm/trade', { ...swap, address: traders, limitPrice: slippagePrice })
    const { txState, fill } = await client.waitFor({ ...local, txHash })
    expect([txState, fill]).to.deep.equal([
      'CONFIRMED',
      { amountIn: '0.100000000000000000', amountOut: expectedAmount, price: fill && 'price' in fill ? fill.price : '' },
    ])
  })

  it('sends lists', async () => {
    const { balances } = await client.get('/network/balances', { ...local, address: traders, tokenSymbols: ['ETH', 'USDC'] })
    expect(Object.keys(balances)).to.deep.equal(['ETH', 'USDC'])
  })

  it('throws what the server refuses, by its name and code, with details', async () => {
    const error = await errorOf(client.get('/amm/price', { ...swap, base: 'NOPE' }))
    expect(error).to.include({ name: 'TOKEN_NOT_SUPPORTED', code: 1006, status: 404 })
    expect(error.requestId).to.be.a('string')
    const missing = await errorOf(Reflect.apply(client.get, client, ['/amm/price', local]))
    expect(missing).to.include({ name: 'INCOMPLETE_PARAMS', status: 400 })
    expect(missing.details.map(({ field }: { field: string }) => field)).to.include('connector')
  })

  it('refuses amounts that are floating-point numbers before anything is sent', async () => {
    const error = await errorOf(Reflect.apply(client.post, client, ['/amm/trade', { ...swap, address: traders, amount: 0.1 + 0.2 }]))
    expect(error).to.be.instanceOf(TypeError)
    expect(error.message).to.equal(
      'amount: 0.30000000000000004 is a floating-point number. Give amounts and prices as strings, such as "0.30000000000000004".',
    )
  })

  it('trades once where the answer is lost', async () => {
    const idempotencyKey = `lost ${String(Math.random())}`.replaceAll(' ', '-')
    line.state = 'no answers'
    const trading = client.post('/amm/trade', { ...swap, address: traders }, { idempotencyKey })
    const signed = await untilJournaled(idempotencyKey)
    line.state = 'open'
    line.cut()
    const { txHash } = await trading
    expect(signed).to.equal(txHash)
    expect((await client.post('/amm/trade', { ...swap, address: traders }, { idempotencyKey })).txHash).to.equal(txHash)
    const { nonce } = await client.get('/evm/nonce', { ...local, address: traders })
    await client.waitFor({ ...local, txHash })
    expect((await client.get('/evm/nonce', { ...local, address: traders })).nonce).to.equal(nonce)
  })

  it('names the key of a request without an answer, and goes on with it', async () => {
    line.state = 'closed'
    line.cut()
    const request = { ...swap, address: traders }
    const error = await errorOf(client.post('/amm/trade', request, { timeoutMs: 500 }))
    expect(error).to.include({ name: 'NO_ANSWER' })
    expect(error.message).to.match(
      /did not answer POST \/amm\/trade within 0\.5 s: .*send the same request again with the idempotency key [\w-]{36}/,
    )
    line.state = 'open'
    const { txHash } = await client.post('/amm/trade', request, { idempotencyKey: error.idempotencyKey })
    expect(await client.waitFor({ ...local, txHash })).to.include({ txState: 'CONFIRMED' })
  })

  it('waits for a transaction while the server is away', async () => {
    const { txHash } = await client.post('/amm/trade', { ...swap, address: traders })
    line.state = 'closed'
    line.cut()
    const waiting = client.waitFor({ ...local, txHash })
    await new Promise((resolve) => setTimeout(resolve, 300))
    line.state = 'open'
    expect(await waiting).to.include({ txHash, txState: 'CONFIRMED' })
  })

  it('says that a transaction is unknown in place of waiting for it', async () => {
    const error = await errorOf(client.waitFor({ ...local, txHash: `0x${'12'.repeat(32)}` }))
    expect(error).to.include({ name: 'UNKNOWN_TRANSACTION', code: 1020 })
  })

  it('follows events, and after a cut goes on after the last one', async () => {
    const ending = new AbortController()
    const [told, seen]: [string[], SluiceEvent[]] = [[], []]
    let isReady: () => void = () => {}
    const ready = new Promise<void>((resolve) => void (isReady = resolve))
    const following = (async () => {
      for await (const event of client.events({ topics: ['transactions'], address: traders }, { signal: ending.signal })) {
        seen.push(event)
        if (event.topic === 'ready') isReady()
        if (event.topic === 'transactions') told.push(`${event.data.nonce} ${event.data.txState}`)
      }
    })().catch((error: unknown) => error)
    await ready
    const { txHash, nonce } = await client.post('/amm/trade', { ...swap, address: traders })
    line.cut()
    await client.waitFor({ ...local, txHash })
    await until('its end is told', async () => told.includes(`${nonce} CONFIRMED`))
    ending.abort()
    expect(await following).to.have.property('name', 'AbortError')
    const own = told.filter((each) => each.startsWith(`${nonce} `)).map((each) => each.split(' ')[1])
    expect(own[0]).to.equal('QUEUED')
    expect(own.at(-1)).to.equal('CONFIRMED')
    const ids = seen.filter(({ topic }) => topic === 'transactions').map(({ id }) => Number(id))
    expect(ids).to.deep.equal([...new Set(ids)].toSorted((a, b) => a - b))
    expect(seen.filter(({ topic }) => topic === 'ready')).to.have.length(2)
  })

  it('throws what a stream is refused for', async () => {
    const error = await errorOf(client.events({ topics: ['blocks'], chain: 'nowhere' }).next())
    expect(error).to.include({ name: 'UNKNOWN_CHAIN_ERROR' })
  })

  it('says that its certificate is refused, and does not try again', async () => {
    const { certsDir } = server.settings.ssl
    await newClient(certsDir, 'leaver')
    const leaver = createClient({ url: line.url, certs: certsDir, name: 'leaver' })
    try {
      await leaver.get('/', {})
      const refusal = refusalOf(server.url, certsDir, 'leaver')
      await revoke(certsDir, 'leaver')
      line.cut()
      await refusal.heard()
      const before = line.connections
      const error = await errorOf(leaver.get('/amm/price', swap))
      expect(error).to.include({ name: 'CERTIFICATE' })
      expect(line.connections - before).to.be.at.most(4)
    } finally {
      leaver.close()
    }
  })

  it('sends nothing to a server of another interface', async () => {
    const pem = (name: string) => readFileSync(path.join(server.settings.ssl.certsDir, name))
    const asked: string[] = []
    const other = https.createServer({ cert: pem('server_cert.pem'), key: pem('server_key.pem') }, (request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.writeHead(200, { 'sluice-api-version': '2.0.0' }).end('{}')
    })
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve))
    const ofOther = createClient({
      url: `https://localhost:${(other.address() as AddressInfo).port}`,
      certs: server.settings.ssl.certsDir,
    })
    try {
      expect(await errorOf(ofOther.post('/amm/trade', { ...swap, address: traders }))).to.include({ name: 'INTERFACE_VERSION' })
      expect(asked).to.deep.equal(['GET /'])
    } finally {
      ofOther.close()
      other.close()
    }
  })

  /** @returns the hash under the key, by another connection */
  async function untilJournaled(key: string): Promise<string> {
    let signed: unknown
    await until('it is journaled', async () => {
      const { body } = await server.client.get('/transactions', { idempotencyKey: key })
      signed = body.transactions[0]?.txHash
      return typeof signed === 'string'
    })
    return String(signed)
  }
})

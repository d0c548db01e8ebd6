import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { admins, local, mined, withoutBlocks } from '../../http/shared-server.ts'
import { newDeliveryRow } from '../../transactions/journal/entries.ts'
import { until } from '../../transactions/site.ts'
import { chainNetwork } from './bot.ts'
import { tradingServer, type TradingServer } from './trading-server.ts'

/** A client on a thread of its own: it goes on while this one, which has the server, stands still. */
const client = `
const { parentPort, workerData: { url, files, text } } = require('node:worker_threads')
const https = require('node:https')
const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
let leaving
// Who has an answer, as soon as it can be read, leaves no more: what it would send then is another swap.
const send = () => {
  const request = https.request(url, { method: 'POST', agent: false, ...files, headers })
  request.on('error', () => {}).on('response', async (answer) => {
    clearTimeout(leaving)
    let body = ''
    for await (const part of answer) body += part
    parentPort.postMessage(JSON.parse(body))
  })
  return request.end(text)
}
let sent = send()
parentPort.on('message', ({ leavings, everyMs }) => {
  const leave = (left) => {
    sent.destroy()
    sent = send()
    if (left > 1) leaving = setTimeout(leave, everyMs, left - 1)
  }
  leave(leavings)
})
`

describe('a swap whose client leaves while the server is busy, and sends it again at once', function () {
  this.timeout(300_000)
  let server: TradingServer
  const workers: Worker[] = []
  before(async () => {
    server = await tradingServer()
  })
  after(async () => {
    await Promise.all(workers.map((worker) => worker.terminate()))
  })

  const hashes = async (): Promise<string[]> =>
    (await server.client.get('/transactions', { kind: 'trade', limit: '200' })).body.transactions.flatMap(
      ({ txHash }: { txHash: string | null }) => txHash ?? [],
    )

  function startClient(amount: number): Worker {
    const read = (file: string) => readFileSync(path.join(server.certsDir, file))
    const files = { ca: read('ca_cert.pem'), cert: read('client_cert.pem'), key: read('client_key.pem') }
    const url = new URL('/trading/router/execute-swap', server.kernel.interfaceUrls['hummingbot']).href
    const text = JSON.stringify({
      chainNetwork,
      walletAddress: admins,
      baseToken: 'WETH',
      quoteToken: 'USDC',
      amount,
      side: 'SELL',
      slippagePct: 1,
    })
    const worker = new Worker(client, { eval: true, workerData: { url, files, text } })
    workers.push(worker)
    return worker
  }

  const answered = (worker: Worker) => new Promise<{ signature: string }>((resolve) => worker.once('message', resolve))
  const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

  it('is one where it was signed before, and the end of its connection is read late', async () => {
    const before = await hashes()
    await withoutBlocks(server.rpc, async () => {
      const worker = startClient(0.31)
      await until('it is signed', async () => (await hashes()).length === before.length + 1)
      const answer = answered(worker)
      worker.postMessage({ leavings: 1, everyMs: 0 })
      standStill(800)
      const [first] = await hashes()
      expect((await answer).signature).to.equal(first)
      expect(await hashes()).to.have.length(before.length + 1)
    })
  })

  it('is one however early it leaves, again and again', async () => {
    for (const [index, everyMs] of [5, 40, 90, 150].entries()) {
      const before = await hashes()
      const worker = startClient(0.32 + index / 100)
      const answer = answered(worker)
      worker.postMessage({ leavings: 6, everyMs })
      await new Promise((resolve) => setTimeout(resolve, 100))
      standStill(300)
      const { signature } = await answer
      const traded = await hashes()
      expect(traded, `each ${everyMs} ms`).to.have.length(before.length + 1)
      expect(traded).to.include(signature)
    }
  })

  it('is not signed where its client has left before its turn, and is for one with the same key that is still there', async () => {
    const key = 'once-of-a-client'
    const follow = (isThere: boolean) => {
      const delivered = isThere ? new Promise<boolean>(() => {}) : Promise.resolve(false)
      const followed = server.requests.follow({ interface: 'hummingbot', client: 'client', requestId: 'all-alike', delivered }, key)
      followed.hold(newDeliveryRow(key))
      return followed
    }
    const wrap = async () => {
      const headers = { 'idempotency-key': key, 'x-request-id': 'all-alike' }
      return server.client.post('/evm/wrap', { ...local, address: admins, amount: '0.1' }, { headers })
    }
    const left = follow(false)
    const refusal = await left.during(wrap)
    expect(refusal.body.name).to.equal('TIMEOUT')
    const { body } = await left.during(async () => follow(true).during(wrap))
    await mined(server.client, body.txHash)
  })
})

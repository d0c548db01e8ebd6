// A trade that happens once, whatever dies: this program, the connection, the server. Run it again with the same name, as often
// as you like: node examples/once.mjs order-1. Nothing but Node; run it in the folder that holds certs/.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import { homedir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const url = process.env.SLUICE_URL ?? 'https://localhost:15888'
const certs = process.env.SLUICE_CERTS ?? 'certs'
const pem = (name) => readFileSync(`${certs}/${name}.pem`)
const agent = new https.Agent({ keepAlive: true, ca: pem('ca_cert'), cert: pem('client_cert'), key: pem('client_key') })

const name = process.argv[2] ?? 'order-1'
const network = { chain: 'ethereum', network: 'local' }
const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** The response, or a rejection where there is none. */
function send(method, path, fields = {}, headers = {}) {
  const query = method === 'GET' ? `?${new URLSearchParams(fields)}` : ''
  return new Promise((resolve, reject) => {
    const options = { method, agent, headers: { 'content-type': 'application/json', ...headers } }
    https
      .request(`${url}${path}${query}`, options, resolve)
      .on('error', reject)
      .end(method === 'GET' ? undefined : JSON.stringify(fields))
  })
}

/** The answer, asked for until there is one. What is no answer: nobody there, 409 IN_FLIGHT, 429, 503, 504. */
async function call(...request) {
  for (;;) {
    let waitSeconds = 1
    try {
      const response = await send(...request)
      const answer = JSON.parse((await response.setEncoding('utf8').toArray()).join(''))
      if (response.statusCode === 200) return answer
      const again = answer.name === 'IN_FLIGHT' || [429, 503, 504].includes(response.statusCode)
      // A definite error: nothing was sent, and nothing will be.
      if (!again) throw Object.assign(new Error(`${answer.name}: ${answer.message}`), { definite: true })
      waitSeconds = Number(response.headers['retry-after'] ?? 1)
    } catch (error) {
      if (error.definite) throw error
    }
    await sleep(waitSeconds * 1000)
  }
}

/** Events for ever: after a cut it goes on where it was. */
async function* events(query, lastId) {
  for (;;) {
    try {
      const response = await send('GET', '/events', query, lastId === undefined ? {} : { 'last-event-id': lastId })
      let event = {}
      for await (const line of createInterface({ input: response })) {
        const [, field, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
        if (field !== undefined) event[field] = value
        else if (line === '' && event.data !== undefined) {
          lastId = event.id
          yield { topic: event.event, data: JSON.parse(event.data) }
          event = {}
        }
      }
    } catch {
      // Nobody there: the next try will tell.
    }
    await sleep(500)
  }
}

// The request is kept before it is sent, so that whoever repeats it sends the very same.
const folder = path.join(process.env.XDG_STATE_HOME ?? path.join(homedir(), '.local/state'), 'sluice-examples')
mkdirSync(folder, { recursive: true })
const file = path.join(folder, `${name}.json`)
if (!existsSync(file)) {
  const order = { ...network, connector: 'uniswap', base: 'ETH', quote: 'USDC', amount: '0.5', side: 'SELL', address }
  const { slippagePrice } = await call('GET', '/amm/price', order)
  writeFileSync(`${file}.new`, JSON.stringify({ ...order, limitPrice: slippagePrice }), { flush: true })
  renameSync(`${file}.new`, file)
}
const order = JSON.parse(readFileSync(file, 'utf8'))
const { txHash } = await call('POST', '/amm/trade', order, { 'idempotency-key': name })
console.log(`${name} is ${txHash}`)

// First the stream, then how it stands: what happens in between is told.
for await (const { topic, data } of events({ topics: 'transactions', address })) {
  // Higher fees give it another hash: it is known by any of them.
  const told = topic === 'ready' ? (await call('GET', '/transactions', { txHash })).transactions[0] : data
  if (!told?.attempts.some((attempt) => attempt.txHash === txHash) || !told.final) continue
  const { fill } = await call('GET', '/network/poll', { ...network, txHash })
  console.log(`${told.txState}: ${fill ? `${fill.amountIn} ETH for ${fill.amountOut} USDC` : (told.reason ?? 'no trade')}`)
  break
}
agent.destroy()
process.exit()

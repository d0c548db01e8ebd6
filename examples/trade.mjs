// A quote, an approval, a trade and its fill, with nothing but Node. Run it in the folder that holds certs/.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import https from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'

const url = process.env.SLUICE_URL ?? 'https://localhost:15888'
const certs = process.env.SLUICE_CERTS ?? 'certs'
const pem = (name) => readFileSync(`${certs}/${name}.pem`)
const agent = new https.Agent({ keepAlive: true, ca: pem('ca_cert'), cert: pem('client_cert'), key: pem('client_key') })

function call(method, path, fields, headers = {}) {
  const query = method === 'GET' ? `?${new URLSearchParams(fields)}` : ''
  const body = method === 'GET' ? undefined : JSON.stringify(fields)
  return new Promise((resolve, reject) => {
    const options = { method, agent, headers: { 'content-type': 'application/json', ...headers } }
    const request = https.request(`${url}${path}${query}`, options, (response) => {
      let text = ''
      response
        .setEncoding('utf8')
        .on('data', (chunk) => (text += chunk))
        .on('error', reject)
        .on('end', () => {
          const answer = JSON.parse(text)
          if (response.statusCode === 200) resolve(answer)
          else reject(new Error(`${answer.name}: ${answer.message}`))
        })
    })
    request.on('error', reject).end(body)
  })
}

async function mined(txHash) {
  for (;;) {
    const poll = await call('GET', '/network/poll', { ...network, txHash })
    if (poll.txStatus === 1) return poll
    if (poll.txStatus === -1) throw new Error(`${txHash} will never be mined (${poll.txState})`)
    await sleep(250)
  }
}

const network = { chain: 'ethereum', network: 'local' }
const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const swap = { ...network, connector: 'uniswap', base: 'WETH', quote: 'USDC', amount: '1', side: 'SELL' }

const quote = await call('GET', '/amm/price', { ...swap, address })
console.log(`quote: ${quote.expectedAmount} USDC for ${quote.amount} WETH at block ${quote.blockNumber}`)

if (!quote.allowance.sufficient) {
  const { txHash } = await call('POST', '/evm/approve', { ...network, address, spender: 'uniswap', token: 'WETH', amount: '10' })
  await mined(txHash)
}
// Keep the key with the order: when the answer is lost, the same request with the same key gives it again.
const key = { 'idempotency-key': randomUUID() }
const trade = await call('POST', '/amm/trade', { ...swap, address, limitPrice: quote.slippagePrice }, key)
console.log(`sent: ${trade.txHash}, worst price ${trade.limitPrice}`)

const { txReceipt, fill } = await mined(trade.txHash)
if (txReceipt.status === 0) throw new Error('The trade was reverted: it cost its gas and nothing else.')
console.log(`fill: ${fill.amountIn} WETH for ${fill.amountOut} USDC, price ${fill.price}`)
agent.destroy()

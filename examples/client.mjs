// @ts-check
// A quote, a trade and its fill with the client of the package sluice. Run it in the folder that holds certs/.
import { createClient } from 'sluice/client'

const sluice = createClient({ url: process.env.SLUICE_URL, certs: process.env.SLUICE_CERTS })
const network = { chain: 'ethereum', network: 'local' }
const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const swap = { ...network, connector: 'uniswap', base: 'ETH', quote: 'USDC', amount: '1', side: /** @type {const} */ ('SELL') }

const quote = await sluice.get('/amm/price', swap)
console.log(`quote: ${quote.expectedAmount} USDC for ${quote.amount} ETH`)

// Keep the key with the order: whoever sends the same request with it again trades once.
const key = { idempotencyKey: process.argv[2] ?? crypto.randomUUID() }
const { txHash } = await sluice.post('/amm/trade', { ...swap, address, limitPrice: quote.slippagePrice }, key)
console.log(`sent: ${txHash}`)
const { txState, fill } = await sluice.waitFor({ ...network, txHash })
if (fill && 'amountIn' in fill) console.log(`${txState}: ${fill.amountIn} ETH for ${fill.amountOut} USDC`)
else console.log(`${txState}: nothing was sold`)
sluice.close()

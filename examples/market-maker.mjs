// @ts-check
// A market maker: a bid and an ask around the price of an AMM, within a limit of inventory. Ctrl-C cancels its orders. After a crash of this
// program or the server run it again with the same file: no order is lost, and none is placed twice. The file is the first argument, or one for
// the wallet in ~/.local/state/sluice-examples.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, NoAnswerError, RefusedError } from 'sluice/client'

const sluice = createClient({ url: process.env.SLUICE_URL, certs: process.env.SLUICE_CERTS })
const local = { chain: 'ethereum', network: 'local' }
const address = process.env.WALLET ?? '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const book = { ...local, connector: 'oasis', market: 'WETH-USDC', address }
const pool = { ...local, connector: 'uniswap', base: 'WETH', quote: 'USDC', amount: '1', side: /** @type {const} */ ('SELL') }
const [amount, spread, tolerance] = ['0.1', 0.004, 0.001]
const [least, most] = [1, 1000] // WETH that it holds
/** What the book may take of the wallet: a new approval comes when less than a tenth is left. */
const allowances = { WETH: '100', USDC: '300000' }
/** @type {readonly string[]} */
const over = ['FILLED', 'CANCELED', 'EXPIRED', 'REJECTED', 'FAILED']

// An order is kept before it is sent: whoever goes on sends the very same.
const states = path.join(process.env.XDG_STATE_HOME ?? path.join(homedir(), '.local/state'), 'sluice-examples')
const file = path.resolve(process.argv[2] ?? path.join(states, `market-maker-${address}.json`))
mkdirSync(path.dirname(file), { recursive: true })
const state = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { run: Date.now(), orders: 0 }
/** @param {import('sluice/client').RequestAt<'POST', '/clob/orders'>} [next] the order that is sent now */
function keep(next) {
  state.next = next
  writeFileSync(`${file}.new`, JSON.stringify(state), { flush: true })
  renameSync(`${file}.new`, file)
}
async function place() {
  const { side, price, clientOrderId } = state.next
  // Its name is its idempotency key: it is placed once, however often it is sent.
  const answer = await sluice.post('/clob/orders', state.next, { idempotencyKey: clientOrderId }).catch(refusal)
  console.log(`${clientOrderId}: ${side} at ${price}: ${'state' in answer ? answer.state : answer.message}`)
  keep()
}
async function openOrders() {
  const { orders } = await sluice.get('/clob/orders', book)
  return orders.filter((each) => each.clientOrderId?.startsWith(`${state.run}-`) && !over.includes(each.state))
}
/** @param {{ clientOrderId?: string | undefined }} order */
const cancel = ({ clientOrderId }) => sluice.delete('/clob/orders', { ...book, clientOrderId }).catch(refusal)
/** @param {unknown} error */
function refusal(error) {
  if (error instanceof RefusedError) return error
  throw error
}

async function approve() {
  const { approvals } = await sluice.get('/evm/allowances', {
    ...local,
    address,
    spender: book.connector,
    tokenSymbols: Object.keys(allowances),
  })
  for (const [token, allowance] of Object.entries(allowances)) {
    if (Number(approvals[token]) >= Number(allowance) / 10) continue
    const { txHash } = await sluice.post('/evm/approve', { ...local, address, spender: book.connector, token, amount: allowance })
    const { txState } = await sluice.waitFor({ ...local, txHash })
    console.log(`${book.connector} may take ${allowance} ${token}: ${txState}`)
  }
}

async function quote() {
  await approve()
  if (state.next) await place()
  const mid = Number((await sluice.get('/amm/price', pool)).expectedAmount)
  const held = Number((await sluice.get('/network/balances', { ...local, address, tokenSymbols: ['WETH'] })).balances.WETH)
  const open = await openOrders()
  const wanted = /** @type {const} */ ([
    ['BUY', mid * (1 - spread), held < most],
    ['SELL', mid * (1 + spread), held > least],
  ])
  for (const [side, price, isAllowed] of wanted) {
    const own = open.find((order) => order.side === side)
    if (own && Math.abs(Number(own.price) / price - 1) > tolerance) await cancel(own)
    if (own || !isAllowed) continue
    keep({ ...book, orderType: 'LIMIT', side, amount, price: price.toFixed(2), clientOrderId: `${state.run}-${(state.orders += 1)}` })
    await place()
  }
}
/** @returns whether none is left */
async function withdraw() {
  if (state.next) await place()
  const open = await openOrders()
  for (const order of open) await cancel(order)
  return open.length === 0
}

let isEnding = false
process.once('SIGINT', () => void (isEnding = true))
for (let isOver = false; !isOver; await sleep(1_000)) {
  try {
    if (isEnding) isOver = await withdraw()
    else await quote()
  } catch (error) {
    if (!(error instanceof NoAnswerError || error instanceof RefusedError)) throw error
    console.log(error.message)
  }
}
console.log('No order is left.')
sluice.close()

// Writes the examples of the OpenAPI document, core/http/openapi-examples.json: requests, and what a server on the devnet answers to them.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { endpoints, type Endpoint, type EndpointName } from '../core/api/index.ts'
import { rpcTo } from '../core/devnet/anvil.ts'
import captured from '../core/http/openapi-examples.json' with { type: 'json' }
import { isObject } from '../core/base/json.ts'
import { startServer } from '../testkit/server.ts'

const file = fileURLToPath(new URL('../core/http/openapi-examples.json', import.meta.url))

type Fields = Record<string, unknown>

const nobody = { rpcUrls: ['http://127.0.0.1:1'] }
const chains = { 'chains/ethereum.yml': { mainnet: nobody, sepolia: nobody, local: { required: true } } }
const cold = '0x00000000000000000000000000000000C01d5700'
const mayUseAll = { permissions: ['read', 'trade', 'send', 'admin'], wallets: 'all' }
const clients = { client: { ...mayUseAll, sendTo: { '0x70997970C51812dc3A010C7d01b50e0d17dc79C8': [cold] } } }
const server = await startServer({ conf: { ...chains, 'clients.yml': { clients } } })
const { client } = server
const rpc = rpcTo(server.rpcUrl)
const examples: Record<string, { request: Fields; response?: unknown }> = {}

const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
/** Its account at hyperliquid/local has a portfolio margin. */
const borrower = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const chain = { chain: 'ethereum', network: 'local' }
const wallet = { ...chain, address }
const uniswap = { ...chain, connector: 'uniswap' }
const perp = { ...chain, connector: 'perp' }
const site = { chain: 'hyperliquid', network: 'local', connector: 'hyperliquid' }

/** Of long lists and records the first three are enough. */
function short(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 3).map(short)
  if (!isObject(value)) return value
  const entries = Object.entries(value)
  const isRecord = entries.length > 8 && entries.every(([, each]) => isObject(each))
  return Object.fromEntries((isRecord ? entries.slice(0, 3) : entries).map(([name, each]) => [name, short(each)]))
}

async function ask({ method, path }: Pick<Endpoint, 'method' | 'path'>, request: Fields) {
  const { status, body, text } = await client.request(method, method === 'GET' ? `${path}?${query(request)}` : path, {
    ...(method !== 'GET' && { headers: { 'content-type': 'application/json' }, raw: JSON.stringify(request) }),
  })
  if (status !== 200) throw new Error(`${method} ${path} ${JSON.stringify(request)}: ${text}`)
  return body
}

const query = (request: Fields) =>
  new URLSearchParams(Object.entries(request).map(([name, value]): [string, string] => [name, String(value)])).toString()

/** Asks, and keeps request and answer. */
async function shown(name: EndpointName, request: Fields = {}) {
  const endpoint = endpoints.find((each) => each.name === name)
  if (!endpoint) throw new Error(`There is no endpoint ${name}.`)
  const body = await ask(endpoint, request)
  examples[name] = { request, response: short(body) }
  return body
}

async function landed(txHash: string) {
  for (;;) {
    const { txState, ...rest } = await ask({ method: 'GET', path: '/network/poll' }, { ...chain, txHash })
    if (txState === 'CONFIRMED' || txState === 'REVERTED') return { txState, ...rest }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function sent(name: EndpointName, request: Fields) {
  const body = await shown(name, request)
  return (await landed(body.txHash ?? body.id)) as Fields
}

async function service(): Promise<void> {
  for (const name of ['Status', 'Connectors', 'Plugins', 'HealthLive', 'HealthReady', 'Wallet'] as const) await shown(name)
  await shown('NetworkStatus', chain)
  await shown('NetworkChainConfig', { chain: 'ethereum' })
  await shown('NetworkTokens', { ...chain, tokenSymbols: ['WETH', 'USDC'] })
  const [dai] = await ask({ method: 'GET', path: '/network/tokens' }, { ...chain, tokenSymbols: 'DAI' })
  await shown('NetworkToken', { ...chain, token: dai.address })
  await shown('NetworkTokensAdd', { ...chain, token: dai.address })
  await shown('NetworkBalances', { ...wallet, tokenSymbols: ['ETH', 'USDC'] })
  await shown('Caller', {})
  await shown('Portfolio', wallet)
  await shown('Allowances', wallet)
  await shown('ConnectorConfig', { connector: 'uniswap' })
  await shown('EVMAllowances', { ...wallet, spender: 'uniswap', tokenSymbols: ['USDC'] })
  await shown('EVMNonce', wallet)
  await shown('EVMGas', chain)
  await sent('EVMWrap', { ...wallet, amount: '1' })
  await sent('EVMUnwrap', { ...wallet, amount: '0.5' })
  await sent('EVMSend', { ...wallet, token: 'USDC', to: cold, amount: '250' })
}

async function swaps(): Promise<void> {
  const swap = { ...uniswap, base: 'ETH', quote: 'USDC', amount: '0.1', side: 'SELL' }
  const { slippagePrice } = await shown('AMMPrice', swap)
  const listed = await shown('AMMPools', { ...uniswap, base: 'WETH', quote: 'USDC' })
  await shown('AMMPool', { ...uniswap, pool: listed.pools[0].pool, base: 'WETH', quote: 'USDC' })
  await shown('AMMEstimateGas', uniswap)
  const { txHash } = await shown('AMMTrade', { ...swap, address, limitPrice: slippagePrice })
  examples['AMMTrade'] = { request: { ...swap, address }, response: examples['AMMTrade']?.response }
  await landed(txHash)
  await shown('NetworkPoll', { ...chain, txHash })
  await shown('Transactions', { ...wallet, limit: 1 })
  await shown('TransactionsPrune', { olderThanDays: 30, dryRun: true })
  await shown('BooksVerify', wallet)
}

async function ranges(): Promise<void> {
  const pair = { token0: 'WETH', token1: 'USDC' }
  const { fill } = await sent('AMMLiquidityAdd', {
    ...uniswap,
    address,
    ...pair,
    amount0: '0.1',
    amount1: '300',
    lowerPrice: '2800',
    upperPrice: '3200',
  })
  const { tokenId } = Object(fill)
  await shown('AMMLiquidityPrice', { ...uniswap, ...pair })
  await shown('AMMLiquidityQuote', { ...uniswap, ...pair, amount0: '0.1', lowerPrice: '2800', upperPrice: '3200' })
  await shown('AMMLiquidityPosition', { ...uniswap, tokenId })
  await shown('AMMLiquidityPositions', { ...uniswap, address })
  await sent('AMMLiquidityCollectFees', { ...uniswap, address, tokenId })
  await sent('AMMLiquidityRemove', { ...uniswap, address, tokenId, decreasePercent: '50' })
}

async function shares(): Promise<void> {
  const pool = { ...uniswap, address, tokens: ['ETH', 'USDC'] }
  await sent('AMMSharesAdd', { ...pool, amounts: ['0.1', '400'] })
  const { shareToken } = Object(await shown('AMMSharesPosition', pool))
  const { txHash } = await ask({ method: 'POST', path: '/evm/approve' }, { ...wallet, spender: 'uniswap/v2', token: shareToken })
  await landed(txHash)
  await sent('AMMSharesRemove', { ...pool, decreasePercent: '50' })
}

async function perpetuals(prefix: 'PerpAMM' | 'Perp'): Promise<void> {
  const market = { ...perp, base: 'ETH', quote: 'USD' }
  await sent(`${prefix}Deposit`, { ...perp, address, token: 'USDC', amount: '1000' })
  await shown(`${prefix}Price`, { ...market, side: 'LONG', amount: '0.5' })
  await sent(`${prefix}Open`, { ...market, address, side: 'LONG', amount: '0.5', margin: '500', leverage: '5' })
  await shown(`${prefix}Position`, { ...market, wallet_address: address })
  await shown(`${prefix}Margin`, { ...perp, wallet_address: address })
  await shown(`${prefix}Funding`, { ...perp, wallet_address: address })
  await sent(`${prefix}Close`, { ...market, address })
  await shown(`${prefix}MarketPrices`, market)
  await shown(`${prefix}MarketStatus`, market)
  await shown(`${prefix}Pairs`, perp)
  await shown(`${prefix}Balance`, { ...perp, address })
  await shown(`${prefix}EstimateGas`, perp)
  await sent(`${prefix}Withdraw`, { ...perp, address, token: 'USDC', amount: '1' })
}

async function books(prefix: 'CLOB' | 'CLOBMargin' | 'CLOBPerp', on: Fields, order: Fields, trader = address): Promise<void> {
  const own = { ...on, address: trader }
  const { market } = order
  await shown(`${prefix}Markets`, { ...on, market })
  await shown(`${prefix}Ticker`, { ...on, market })
  await shown(`${prefix}OrderBook`, { ...on, market, depth: 2 })
  await shown(`${prefix}Balances`, own)
  await shown(`${prefix}EstimateGas`, on)
  const bid = { side: 'BUY', orderType: 'LIMIT', ...order }
  const made = await shown(`${prefix}OrdersPost`, { ...own, ...bid, clientOrderId: 'order-1' })
  if (made.txHash) await landed(made.txHash)
  await shown(`${prefix}Orders`, { ...own, limit: 1 })
  const ended = await shown(`${prefix}OrdersDelete`, { ...own, market, clientOrderId: 'order-1' })
  if (ended.txHash) await landed(ended.txHash)
  const { created } = await shown(`${prefix}BatchOrders`, { ...own, create: [{ ...bid, clientOrderId: 'order-2' }] })
  if (created[0].txHash) await landed(created[0].txHash)
  await shown(`${prefix}Trades`, { ...on, market, limit: 1 })
}

/** Positions, and what they cost. */
async function positions(on: Fields): Promise<void> {
  const own = { ...on, address }
  const market = 'ETH-USD'
  await shown('CLOBPerpLeverage', { ...own, market, leverage: '5' })
  await ask({ method: 'POST', path: '/clob/perp/orders' }, { ...own, market, side: 'BUY', orderType: 'MARKET', amount: '0.1' })
  await shown('CLOBPerpPositions', own)
  await shown('CLOBPerpAccount', own)
  await shown('CLOBPerpFundingInfo', { ...on, market })
  await shown('CLOBPerpFundingPayments', own)
  await shown('CLOBPerpLastTradePrice', { ...on, market })
}

/** The account with a portfolio margin. */
async function debts(on: Fields): Promise<void> {
  const own = { ...on, address: borrower }
  await shown('CLOBMarginAccount', own)
  await shown('CLOBMarginDeposit', { ...own, token: 'HYPE', amount: '10' })
  await shown('CLOBMarginBorrow', { ...own, token: 'USDC', amount: '10' })
  await shown('CLOBMarginRepay', { ...own, token: 'USDC', amount: '5' })
  await shown('CLOBMarginWithdraw', { ...own, token: 'HYPE', amount: '1' })
}

/** No exchange of the devnet takes deposits into a book: these have a request alone. */
function unanswered(name: EndpointName, request: Fields): void {
  examples[name] = { request }
}

async function approvals(): Promise<void> {
  const liquidity = { 'uniswap/v2': ['USDC'], 'uniswap/positions': ['WETH', 'USDC'] }
  for (const [spender, tokens] of Object.entries({ ...liquidity, uniswap: ['WETH', 'USDC'], oasis: ['WETH', 'USDC'], perp: ['USDC'] }))
    for (const token of tokens) await sent('EVMApprove', { ...wallet, spender, token })
}

async function revocation(): Promise<void> {
  const { allowances } = await ask({ method: 'GET', path: '/allowances' }, wallet)
  const { spender } = allowances.find(({ connectors }: { connectors: readonly string[] }) => connectors.includes('perp'))
  await sent('EVMRevoke', { ...wallet, spender, token: 'USDC' })
}

/** What replaces a pending transaction, while none is mined. */
async function replacements(): Promise<void> {
  await rpc('evm_setIntervalMining', 0)
  await rpc('evm_setAutomine', false)
  const swap = { ...uniswap, address, base: 'ETH', quote: 'USDC', amount: '0.1', side: 'SELL' }
  await ask({ method: 'POST', path: '/amm/trade' }, swap)
  await shown('EVMSpeedUp', wallet)
  await shown('EVMCancel', wallet)
  await rpc('evm_mine')
  await rpc('evm_setAutomine', true)
  await rpc('evm_setIntervalMining', 1)
}

const failed: string[] = []
const steps: readonly (() => Promise<void>)[] = [
  approvals,
  service,
  swaps,
  ranges,
  shares,
  () => perpetuals('PerpAMM'),
  () => perpetuals('Perp'),
  revocation,
  () => books('CLOB', { ...chain, connector: 'oasis' }, { market: 'WETH-USDC', price: '1000', amount: '0.01' }),
  () => books('CLOBPerp', site, { market: 'ETH-USD', price: '1000', amount: '0.1' }),
  () => books('CLOBMargin', site, { market: 'HYPE-USDC', price: '30', amount: '1' }, borrower),
  () => positions(site),
  () => debts(site),
  async () => void (await shown('CLOBWithdraw', { ...site, address, token: 'USDC', amount: '10' })),
  async () => void (await shown('CLOBPerpWithdraw', { ...site, address, token: 'USDC', amount: '10' })),
  async () => {
    for (const name of ['CLOBDeposit', 'CLOBPerpDeposit'] as const) unanswered(name, { ...site, address, token: 'USDC', amount: '10' })
  },
  replacements,
]
// Of a plugin that broke the bounds of its plan: test/http/quarantine.rest.test.ts has one.
examples['PluginsLift'] = captured.PluginsLift
// Of a node that is away: test/plugins/hummingbot/watched-positions.rest.test.ts has one.
examples['AMMLiquidityRefused'] = captured.AMMLiquidityRefused
// Everything after it would be stopped, and the clients here have no limits: test/limits/one-server/stops.rest.test.ts and market-check.rest.test.ts have them. A book of
// trades is that of test/http/books.rest.test.ts, alerts need a conf/alerts.yml: those are of a server whose wallets have little of the coin.
const decided = [
  'Limits',
  'LimitsCheck',
  'Books',
  'Ledger',
  'Alerts',
  'AlertsSilencesPost',
  'AlertsSilencesDelete',
  'AlertsTest',
  'StopsPost',
  'Stops',
  'StopsDelete',
  'Approvals',
  'ApprovalsPreview',
  'ApprovalsApprove',
  'ApprovalsDeny',
  'ApprovalsWithdraw',
] as const
for (const name of decided) examples[name] = captured[name]
examples['Events'] = { request: { topics: ['transactions', 'blocks'], ...chain } }
for (const step of steps) await step().catch((error: unknown) => failed.push(String(error)))
await server.stop()
console.log(failed.join('\n'))
// The folder is one of this run alone.
const text = JSON.stringify(examples, undefined, 1).replaceAll(server.settings.home, '/srv/sluice')
writeFileSync(file, `${text}\n`)
spawnSync('npx', ['oxfmt', file])
process.exit(failed.length === 0 ? 0 : 1)

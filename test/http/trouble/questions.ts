// Requests of each endpoint that a network and its exchanges serve: what they are answered while its node fails is compared with what a healthy one gives.
import type { Answer, Client } from '../../../testkit/client.ts'

/** Wallets of the devnet, and where they may send to. */
export const admins = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
export const others = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
export const traders = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const coldStore = '0x00000000000000000000000000000000C01d5700'

/** The name of the endpoint, and what is asked. */
export type Question = readonly [name: string, ask: (client: Client) => Promise<Answer>]

export const proxied = { chain: 'proxied', network: 'local' }
export const order = { ...proxied, connector: 'proxyswap', base: 'ETH', quote: 'USDC', amount: '0.01', side: 'SELL' }
export const wallet = { ...proxied, address: admins }
const unknownHash = `0x${'ab'.repeat(32)}`
const unknownToken = `0x${'ab'.repeat(20)}`

/** What needs the node. */
export const questions: readonly Question[] = [
  ['NetworkBalances', (client) => client.get('/network/balances', { ...wallet, tokenSymbols: ['ETH', 'USDC'] })],
  ['NetworkPoll', (client) => client.get('/network/poll', { ...proxied, txHash: unknownHash })],
  ['NetworkTokens', (client) => client.get('/network/tokens', { ...proxied, tokenSymbols: unknownToken })],
  ['EVMAllowances', (client) => client.get('/evm/allowances', { ...wallet, spender: 'proxyswap', tokenSymbols: 'USDC' })],
  ['EVMNonce', (client) => client.get('/evm/nonce', wallet)],
  ['BooksVerify', (client) => client.post('/books/verify', { ...wallet, since: '2020-01-01' })],
  ['EVMApprove', (client) => client.post('/evm/approve', { ...wallet, spender: 'proxyswap', token: 'USDC' })],
  ['EVMCancel', (client) => client.post('/evm/cancel', { ...wallet, nonce: 999_999 })],
  ['AMMTrade', (client) => client.post('/amm/trade', { ...order, address: admins })],
]

/** What says nothing of the state of the chain, and what is answered from memory as long as that is not too old. */
export const mayAnswer: readonly Question[] = [
  ['AMMEstimateGas', (client) => client.post('/amm/estimateGas', { ...proxied, connector: 'proxyswap' })],
  ['AMMPrice', (client) => client.get('/amm/price', order)],
]

export const pair = { ...proxied, connector: 'proxyswap', base: 'WETH', quote: 'USDC' }
export const range = { ...proxied, connector: 'proxyswap', token0: 'WETH', token1: 'USDC' }
const book = { ...proxied, connector: 'proxybook' }
const ownBook = { ...book, address: admins }
export const market = 'WETH-DAI'
const limitOrder = { market, side: 'SELL', orderType: 'LIMIT', price: '3100', amount: '0.01' }
const perp = { ...proxied, connector: 'proxyperp' }
const ownPerp = { ...perp, address: admins }
const readPerp = { ...perp, wallet_address: admins }
export const perpMarket = { base: 'ETH', quote: 'USD' }
const shares = { ...wallet, connector: 'proxyswap' }

/** All that the network and its exchanges serve. */
export const everything: readonly Question[] = [
  ...questions,
  ['Status', (client) => client.get('/')],
  ['Connectors', (client) => client.get('/connectors')],
  ['Plugins', (client) => client.get('/plugins')],
  ['HealthLive', (client) => client.get('/health/live')],
  ['HealthReady', (client) => client.get('/health/ready')],
  ['Wallet', (client) => client.get('/wallet')],
  ['ConnectorConfig', (client) => client.get('/connector/config', { connector: 'proxyswap' })],
  ['NetworkChainConfig', (client) => client.get('/network/chain_config', { chain: 'proxied' })],
  ['TransactionsPrune by dry run', (client) => client.post('/transactions/prune', { olderThanDays: 1, dryRun: true })],
  ['NetworkStatus', (client) => client.get('/network/status', proxied)],
  ['NetworkToken', (client) => client.get('/network/token', { ...proxied, token: unknownToken })],
  ['NetworkTokensAdd', (client) => client.post('/network/tokens/add', { ...proxied, token: unknownToken })],
  ['Transactions', (client) => client.get('/transactions', { ...proxied, limit: '1' })],
  ['EVMGas', (client) => client.get('/evm/gas', proxied)],
  ['EVMApprove by dry run', (client) => client.post('/evm/approve', { ...wallet, spender: 'proxyswap', token: 'DAI', dryRun: true })],
  ['EVMApprove of nothing', (client) => client.post('/evm/approve', { ...wallet, spender: 'proxybook', token: 'DAI', amount: '0' })],
  ['EVMWrap', (client) => client.post('/evm/wrap', { ...wallet, amount: '0.001' })],
  ['EVMUnwrap', (client) => client.post('/evm/unwrap', { ...wallet, amount: '0.0001' })],
  ['EVMSend', (client) => client.post('/evm/send', { ...wallet, token: 'USDC', amount: '0.000001', to: coldStore })],
  ['EVMSend of the coin', (client) => client.post('/evm/send', { ...wallet, token: 'ETH', amount: '0.000001', to: coldStore })],
  ['EVMSpeedUp', (client) => client.post('/evm/speedUp', { ...wallet, nonce: 999_999 })],
  ['AMMPrice', (client) => client.get('/amm/price', order)],
  ['AMMPools', (client) => client.get('/amm/pools', pair)],
  ['AMMEstimateGas', (client) => client.post('/amm/estimateGas', { ...proxied, connector: 'proxyswap' })],
  ['AMMTrade of too much', (client) => client.post('/amm/trade', { ...order, base: 'WBTC', amount: '1000000', address: admins })],
  ['AMMLiquidityPrice', (client) => client.post('/amm/liquidity/price', range)],
  [
    'AMMLiquidityQuote',
    (client) => client.post('/amm/liquidity/quote', { ...range, amount0: '1', lowerPrice: '1000', upperPrice: '9000' }),
  ],
  ['AMMLiquidityPosition', (client) => client.post('/amm/liquidity/position', { ...proxied, connector: 'proxyswap', tokenId: '999999' })],
  ['AMMLiquidityPositions', (client) => client.get('/amm/liquidity/positions', { ...wallet, connector: 'proxyswap' })],
  ['AMMLiquidityRemove', (client) => client.post('/amm/liquidity/remove', { ...shares, tokenId: '999999' })],
  ['AMMLiquidityCollectFees', (client) => client.post('/amm/liquidity/collect_fees', { ...shares, tokenId: '999999' })],
  [
    'AMMLiquidityAdd',
    (client) =>
      client.post('/amm/liquidity/add', {
        ...shares,
        token0: 'WETH',
        token1: 'DAI',
        fee: '3000',
        lowerPrice: '1000',
        upperPrice: '5000',
        amount0: '0.001',
        amount1: '1',
      }),
  ],
  ['AMMSharesPosition', (client) => client.get('/amm/shares/position', { ...shares, tokens: 'WETH,USDC' })],
  ['AMMSharesAdd', (client) => client.post('/amm/shares/add', { ...shares, tokens: ['WETH', 'DAI'], amounts: ['0.001'] })],
  ['AMMSharesRemove', (client) => client.post('/amm/shares/remove', { ...shares, tokens: ['WETH', 'USDC'] })],

  ['CLOBMarkets', (client) => client.get('/clob/markets', book)],
  ['CLOBTicker', (client) => client.get('/clob/ticker', { ...book, market })],
  ['CLOBOrderBook', (client) => client.get('/clob/orderBook', { ...book, market })],
  ['CLOBTrades', (client) => client.get('/clob/trades', { ...book, market })],
  ['CLOBOrders', (client) => client.get('/clob/orders', ownBook)],
  ['CLOBOrders by id', (client) => client.get('/clob/orders', { ...ownBook, orderId: '999999' })],
  ['CLOBBalances', (client) => client.get('/clob/balances', ownBook)],
  ['CLOBEstimateGas', (client) => client.get('/clob/estimateGas', book)],
  ['CLOBOrdersPost', (client) => client.post('/clob/orders', { ...ownBook, ...limitOrder })],
  [
    'CLOBOrdersDelete',
    (client) => client.request('DELETE', `/clob/orders?${new URLSearchParams({ ...ownBook, orderId: '999999', market }).toString()}`),
  ],
  [
    'CLOBBatchOrders',
    (client) => client.post('/clob/batchOrders', { ...ownBook, create: [limitOrder], cancel: [{ orderId: '999999', market }] }),
  ],

  ['PerpAMMPairs', (client) => client.get('/perpAMM/pairs', perp)],
  ['PerpAMMPrice', (client) => client.get('/perpAMM/price', { ...perp, ...perpMarket, amount: '0.1', side: 'LONG' })],
  ['PerpAMMMarketPrices', (client) => client.get('/perpAMM/market-prices', { ...perp, ...perpMarket })],
  ['PerpAMMMarketStatus', (client) => client.get('/perpAMM/market-status', { ...perp, ...perpMarket })],
  ['PerpAMMPosition', (client) => client.get('/perpAMM/position', { ...readPerp, ...perpMarket })],
  ['PerpAMMMargin', (client) => client.get('/perpAMM/margin', readPerp)],
  ['PerpAMMFunding', (client) => client.get('/perpAMM/funding', readPerp)],
  ['PerpAMMBalance', (client) => client.get('/perpAMM/balance', ownPerp)],
  ['PerpAMMEstimateGas', (client) => client.post('/perpAMM/estimateGas', perp)],
  [
    'PerpAMMOpen',
    (client) => client.post('/perpAMM/open', { ...ownPerp, ...perpMarket, amount: '0.1', side: 'LONG', margin: '300', leverage: '2' }),
  ],
  ['PerpAMMClose', (client) => client.post('/perpAMM/close', { ...ownPerp, ...perpMarket })],
  ['PerpAMMDeposit', (client) => client.post('/perpAMM/deposit', { ...ownPerp, token: 'USDC', amount: '1' })],
  ['PerpAMMWithdraw', (client) => client.post('/perpAMM/withdraw', { ...ownPerp, token: 'USDC', amount: '1' })],
  [
    'NetworkBalances of others',
    (client) => client.get('/network/balances', { ...proxied, address: others, tokenSymbols: ['WETH', 'DAI'] }),
  ],
]

/** Those whose whole answer is the same each time, as long as nobody but these questions changes the chain. */
export const unchanging: ReadonlySet<string> = new Set([
  'AMMLiquidityPositions',
  'CLOBMarkets',
  'CLOBOrders',
  'CLOBBalances',
  'PerpAMMPairs',
  'PerpAMMMarketStatus',
  'PerpAMMPosition',
  'PerpAMMMargin',
  'PerpAMMBalance',
  'NetworkBalances of others',
])

// The process behind hyperliquid/local beside the devnet: the simulator with money for some wallets, and others' orders in its books.
// local.js <wallets>. It prints one line of JSON once it listens; core/devnet/local-sites.ts starts and ends it.
import { networks } from '../../plugins/hyperliquid-chain/networks.ts'
import list from '../../plugins/hyperliquid-chain/tokens.json' with { type: 'json' }
import { startExchange } from './exchange/start-exchange.ts'

const { chainId } = networks.local
const multicall3 = '0xcA11bde05977b3631167028862bE2a173976CA11'
const maker = '0x3a4e5742a9000000000000000000000000000000'

const exchange = await startExchange({ testnet: true })
exchange.lend('USDC', '1000000000')
const wallets = process.argv.slice(2)
for (const wallet of wallets) {
  exchange.deposit(wallet, '50000')
  for (const [token, amount] of Object.entries({ USDC: '50000', HYPE: '1000', PURR: '100000', UBTC: '1' }))
    exchange.credit(wallet, token, amount)
}
// As accounts are with loans.
const [, , third] = wallets
if (third) exchange.setMode(third, 'portfolioMargin')

/** Some levels on both sides of a price. */
const books = [
  { coin: '@107', price: 40, step: 0.1, size: '50' },
  { coin: 'PURR/USDC', price: 0.2, step: 0.0005, size: '5000' },
  { coin: '@142', price: 100_000, step: 50, size: '0.1' },
  { coin: 'BTC', price: 100_000, step: 50, size: '0.01' },
  { coin: 'ETH', price: 4000, step: 2, size: '0.5' },
  { coin: 'HYPE', price: 40, step: 0.1, size: '100' },
]
for (const { coin, price, step, size } of books)
  for (const level of [1, 2, 3]) {
    exchange.place(maker, { coin, side: 'BUY', price: String(Number((price - level * step).toFixed(6))), size })
    exchange.place(maker, { coin, side: 'SELL', price: String(Number((price + level * step).toFixed(6))), size })
  }

const contracts = [multicall3, ...list.tokens.filter((token) => token.chainId === chainId).map(({ address }) => address)]
console.log(JSON.stringify({ port: Number(new URL(exchange.apiUrl).port), chainId, contracts }))

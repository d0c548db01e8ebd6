import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** Any contract that can be called without an effect: the factory of an exchange on the devnet, asked how many pairs it has. */
const contract = '0x45A862bbe3001Ac4018dE978EA960f160f240A8C'

/** What a verb says instead: it is given what it would have said, as a function, and what it is asked. */
// eslint-disable-next-line typescript/no-explicit-any -- lies are of any shape
export type Lie = (usual: (...args: any[]) => any, ...args: any[]) => unknown

const place = Symbol.for('sluice.test.told-exchange')

/** The server runs in the test's own process: what its plugin says is said by the test. By verb. */
export const say = (lies: Readonly<Record<string, Lie>>): void => void Object.assign(globalThis, { [place]: lies })

/**
 * An exchange of all three kinds of books that is not there: orders are transactions without an effect, two of them by one plan, and what
 * it says is constant, so that one verb at a time can say something else.
 */
const source = `
import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'

const market = {
  id: 'eth', base: 'ETH', quote: 'USD', prices: { significantFigures: 5, maxDecimals: 2 }, lotSize: '0.001', minNotional: '10',
  takes: { LIMIT: ['GTC', 'IOC'], LIMIT_MAKER: ['GTC'], MARKET: ['IOC'] }, makerFee: '-0.0001', takerFee: '0.0005', status: 'open',
  maxLeverage: '50',
}
const other = { ...market, id: 'btc', base: 'BTC' }
const markets = [market, other]
const book = { buys: [{ price: '1999', quantity: '3' }], sells: [{ price: '2001', quantity: '2' }] }
const trade = { tradeId: 't', market, side: 'BUY', price: '2000', amount: '1', fee: '-0.2', feeToken: 'USD', timestamp: 1_700_000_000_000 }

const told = (verb, usual) => (...args) => (globalThis[Symbol.for('sluice.test.told-exchange')]?.[verb] ?? ((as, ...rest) => as(...rest)))(usual, ...args)

function exchange(call, kind) {
  const plan = (memo) => ({ steps: [{ ...call, value: '0' }], needs: [], memo })
  const verbs = {
    markets: async () => markets,
    orders: async () => [],
    trades: async ({ market: asked, before = Infinity, limit }) =>
      Array.from({ length: 7 }, (_, i) => ({ ...trade, market: asked, tradeId: String(i), timestamp: trade.timestamp - Math.floor(i / 3) }))
        .filter(({ timestamp }) => timestamp < before).slice(0, limit),
    balances: async () => [{ symbol: 'USD', total: '10.50', available: '10', locked: '0.5' }],
    act: async (owner, actions) => {
      const plans = []
      for (let i = 0; i < actions.length; i += 2) {
        const covers = i + 1 < actions.length ? [i, i + 1] : [i]
        plans.push({ covers, plan: plan(covers.map((each) => actions[each].do === 'create' ? actions[each].order.clientOrderId : 'cancel')) })
      }
      return plans
    },
    outcome: (receipt, memo) => memo.map((id) => ({ state: id === 'cancel' ? 'CANCELED' : 'OPEN', orderId: 'on-exchange-' + id, filledAmount: '0' })),
    transferCollateral: async () => plan('move'),
    account: async () => kind === 'MARGIN_CLOB'
      ? {
        mode: 'portfolio', sharedWith: ['perpetuals'], equity: '100', collateral: '120', borrowed: '20', freeCollateral: '80', initialMargin: '20',
        maintenanceMargin: '10', tokens: [{ symbol: 'USD', deposited: '120', borrowed: '20', available: '80', borrowRate: '0.05', borrowCap: '500' }],
      }
      : { accountValue: '1000', freeCollateral: '500', collateral: '900', initialMargin: '300', maintenanceMargin: '187.5', notional: '3000' },
    positions: async () => [
      {
        market, side: 'SHORT', amount: '1.50', entryPrice: '2000', markPrice: '2100', unrealizedProfit: '-150', pendingFunding: '0', leverage: '3',
        marginMode: 'cross', liquidationPrice: '2500',
      },
      { market: other, side: 'LONG', amount: '0.01', entryPrice: '60000', markPrice: '60000', unrealizedProfit: '0', pendingFunding: '0.1', leverage: '1', marginMode: 'isolated' },
    ],
    leverage: async () => plan('leverage'),
    prices: async () => ({ indexPrice: '2000', markPrice: '2001', fundingRate: '-0.00001', nextFundingTimestamp: 2_000_000_000_000 }),
    fundingPayments: async () => [{ market, amount: '-0.01', rate: '0.00001', timestamp: 1_700_000_000_000 }],
  }
  const said = Object.fromEntries(Object.entries(verbs).map(([verb, usual]) => [verb, told(verb, usual)]))
  const news = () => ({ is: 'snapshot', book, sequence: 1, timestamp: Date.now() })
  const books = {
    async watch(asked, sink, signal) {
      sink(news())
      sink({ is: 'traded', lastPrice: '2000' })
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
    snapshot: async () => news(),
  }
  return { ...said, books }
}

export default defineConnector({
  family: evm,
  manifest: {
    name: 'told-exchange', apiVersion: '1.0', version: '0.1.0', trading_type: ['CLOB', 'MARGIN_CLOB', 'PERP_CLOB'],
    available_networks: [{ chain: 'ethereum', networks: ['local'] }], schema: singleRouterSchema,
  },
  create(venue) {
    const call = { to: venue.contracts.routerAddress, data: '0x574f2ba3' }
    return Object.fromEntries(['CLOB', 'MARGIN_CLOB', 'PERP_CLOB'].map((kind) => [kind, exchange(call, kind)]))
  },
})
`
const defaults = `{ allowedSlippage: 1/100, ttl: 300, contractAddresses: { local: { routerAddress: '${contract}' } } }`

/** Writes the plugin into a folder of plugins. */
export async function inventExchange(folder: string): Promise<void> {
  await mkdir(path.join(folder, 'told-exchange'))
  await writeFile(path.join(folder, 'told-exchange', 'index.ts'), source)
  await writeFile(path.join(folder, 'told-exchange', 'defaults.yml'), defaults)
}

import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** Any contract that can be called without an effect: the factory of an exchange on the devnet, asked how many pairs it has. */
const contract = '0x45A862bbe3001Ac4018dE978EA960f160f240A8C'

/**
 * A perpetual exchange that is not there: one market of other decimals than all others have, one wallet's position, funding at a
 * fixed time. What it says is constant, so that one verb at a time can say something else.
 */
const source = (name: string, verbs: string) => `
import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'

const market = {
  id: 'eth', base: 'ETH', quote: 'USD', baseDecimals: 4, quoteDecimals: 6, status: 'open',
  maxLeverage: { numerator: 10n, denominator: 1n }, maintenanceRatio: { numerator: 625n, denominator: 10_000n },
}
const other = { ...market, id: 'btc', base: 'BTC' }
const mark = { numerator: 3_001n, denominator: 1n }
const prices = { mark, index: { numerator: 6_001n, denominator: 2n }, indexTwap: { numerator: 9_001n, denominator: 3n } }
const account = {
  decimals: 6, valueRaw: 1_000_000_000n, freeCollateralRaw: 500_000_000n, collateralRaw: 900_000_000n,
  initialMarginRaw: 300_000_000n, maintenanceMarginRaw: 187_562_500n, notionalRaw: 3_001_000_000n,
}
const position = { market, sizeRaw: 10_000n, openNotionalRaw: -2_901_000_000n, unrealizedProfitRaw: 100_000_000n, pendingFundingRaw: -1n, mark }

export default defineConnector({
  family: evm,
  manifest: {
    name: '${name}', apiVersion: '1.0', version: '0.1.0', trading_type: ['PERP_AMM'], available_networks: [{ chain: 'ethereum', networks: ['local'] }],
    schema: singleRouterSchema,
  },
  create(venue) {
    const call = { to: venue.contracts.routerAddress, data: '0x574f2ba3' }
    const head = async (at) => (await venue.reader.read([call], at)).head
    const settlement = venue.tokens.find(({ symbol }) => symbol === 'USDC')
    const quoted = { market, quoteRaw: 3_003_000_000n, feeRaw: 3_000_000n, prices, gasUnits: 300_000n, account, position }
    const plan = { steps: [{ ...call, value: '0' }], needs: [], memo: null }
    const perp = {
      typicalGasUnits: 400_000n,
      listMarkets: async () => ({ markets: [market, other], settlement }),
      prices: async (market_, at) => ({ head: await head(at), market, prices }),
      position: async (owner, market_, at) => ({ head: await head(at), position, account }),
      account: async (owner, at) => ({ head: await head(at), account }),
      funding: async (owner, at) => ({
        head: await head(at),
        funding: [{ market, rate: { numerator: -1n, denominator: 8n }, periodSeconds: 28_800, index: prices.index, mark, pendingRaw: -1n, nextAt: 2_000_000_000 }],
      }),
      quote: async (order, owner, at) => ({ ...quoted, order, head: await head(at) }),
      quoteClose: async (owner, market_, at) => ({ ...quoted, order: { market, side: 'SHORT', sizeRaw: 10_000n }, head: await head(at) }),
      open: (quote, { deadline }) => ({ ...plan, deadline }),
      close: (closing, { deadline }) => ({ ...plan, deadline }),
      collateral: async (owner, token, at) => ({ token, depositedRaw: 900_000_000n, withdrawableRaw: 500_000_000n, head: await head(at) }),
      transferCollateral: () => plan,
      perpFill: () => ({ market, sizeRaw: 10_000n, quoteRaw: 3_003_000_000n, feeRaw: 3_000_000n, realizedProfitRaw: -2_000_000n, closedRatio: { numerator: 1n, denominator: 2n } }),
      liquidations: async () => [],
    }
    return { PERP_AMM: { ...perp, ${verbs} } }
  },
})
`
const defaults = `{ allowedSlippage: 1/100, ttl: 300, contractAddresses: { local: { routerAddress: '${contract}' } } }`

/** Writes a plugin for each: its name → the verbs that say something else. */
export async function inventExchanges(folder: string, verbsOf: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, verbs] of Object.entries(verbsOf)) {
    await mkdir(path.join(folder, name))
    await writeFile(path.join(folder, name, 'index.ts'), source(name, verbs))
    await writeFile(path.join(folder, name, 'defaults.yml'), defaults)
  }
}

// GET /portfolio: what wallets have, owe and have allowed, over all networks that run.
import type { PortfolioResponse } from '../../api/index.ts'
import { fromRaw } from '../../base/decimal.ts'
import type { Handlers } from '../context.ts'
import { readAllowances } from './allowances.ts'
import { readExchangeBalances, readLiquidity, readMargin, readPerpetuals, readShares } from './exchanges.ts'
import { readGas } from './gas-runway.ts'
import { readWallets, type WalletReading } from './reading.ts'
import { showMicros, showWorth, type Worth } from './values.ts'

type Wallet = PortfolioResponse['networks'][number]['wallets'][number]

async function readWallet(of: WalletReading): Promise<Wallet> {
  const each = async <T>(read: (venue: WalletReading['venues'][number], of: WalletReading) => Promise<readonly T[]>): Promise<T[]> =>
    (await Promise.all(of.venues.map((venue) => read(venue, of)))).flat()
  const [{ balances, gas }, allowances, liquidity, shares, exchangeBalances, margin, perpetuals] = await Promise.all([
    readBalances(of),
    readAllowances(of),
    each(readLiquidity),
    readShares(of),
    each(readExchangeBalances),
    each(readMargin),
    each(readPerpetuals),
  ])
  const shown = <T extends object>(all: readonly { readonly shown: T; readonly worth: Worth }[]) =>
    all.map((one) => ({ ...one.shown, ...showWorth(one.worth) }))
  const worths = [balances, liquidity, shares, exchangeBalances].flatMap((all) => all.map(({ worth }) => worth))
  const priced = worths.flatMap((worth) => ('micros' in worth ? worth.micros : []))
  return {
    address: of.owner,
    ...(of.values.reference !== undefined && { value: showMicros(priced.reduce((sum, micros) => sum + micros, 0n)) }),
    withoutValue: worths.length - priced.length,
    balances: shown(balances),
    ...(gas && { gas }),
    allowances,
    liquidity: shown(liquidity),
    shares: shown(shares),
    exchangeBalances: shown(exchangeBalances),
    margin,
    perpetuals,
  }
}

/** By which wallets have something in an exchange. */
const types = ['AMM_RANGE', 'AMM_SHARES', 'CLOB', 'MARGIN_CLOB', 'PERP_AMM', 'PERP_CLOB'] as const

/** Of the native coin and of listed tokens, and how long the coin lasts. */
async function readBalances(of: WalletReading) {
  const { network, owner, signal, values } = of
  const { impl, tokens } = network
  const coin = impl.nativeCurrency
  const asked = [coin, ...tokens.listed.filter(({ address }) => address !== coin.address)]
  const raws = await of.part({ part: 'balances' }, () => impl.balances(owner, asked, { signal }), undefined)
  if (!raws) return { balances: [], gas: undefined }
  const coinRaw = raws[0]
  const gas = coinRaw === undefined ? undefined : await of.part({ part: 'gas' }, () => readGas(of, coinRaw), undefined)
  const balances = asked.flatMap(({ address, symbol, decimals }, index) => {
    const raw = raws[index] ?? 0n
    if (raw === 0n) return []
    return { shown: { token: address, symbol, amount: fromRaw(raw, decimals) }, worth: values.worth([{ token: address, raw }], 'held') }
  })
  return { balances, gas }
}

export const portfolioHandlers = {
  Portfolio: async (request, context) => {
    const { networks, missing } = await readWallets(request, context, { types, read: readWallet })
    return {
      timestamp: Date.now(),
      networks: networks.map(({ network, values: { reference }, blockNumber, wallets }) => ({
        chain: network.chain,
        network: network.network,
        blockNumber,
        ...(reference !== undefined && { reference }),
        wallets: [...wallets],
      })),
      ...(missing.length > 0 && { unavailable: missing.map((each) => ({ ...each })) }),
    }
  },
} satisfies Partial<Handlers>

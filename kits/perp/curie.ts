import { getAddress } from 'ethers'
import {
  type At,
  type Head,
  type PerpMarketName,
  type Token,
  SluiceError,
  type UnlistedMarket,
  type Venue,
} from '../../core/contracts/index.ts'
import type { EvmReader, Evm } from '../evm/types.ts'
import { readFlag, runRead, readNumber, deferred, combine, type BatchRead, readText, combineAll, orUndefined } from './batch-read.ts'

/** Addresses of the exchange's contracts on one network. */
export interface Contracts {
  readonly house: string
  readonly vault: string
  readonly exchange: string
  readonly balances: string
  readonly config: string
  readonly registry: string
  readonly quoteToken: string
  /** The zero address where the settlement token is the only collateral. */
  readonly collateralManager: string
}

export interface CurieMarket extends PerpMarketName {
  /** The Uniswap v3 pool of its base token and the quote token. */
  readonly pool: string
}

/** The parameters of all markets at one block. Ratios in millionths (ClearingHouseConfig). */
export interface Terms {
  readonly imRatio: bigint
  readonly mmRatio: bigint
  readonly twapSeconds: bigint
  readonly maxFundingRate: bigint
  readonly paused: boolean
}

/** Perpetual Protocol v2 on one network, as it was found at start. */
export interface Curie {
  readonly reader: EvmReader
  readonly contracts: Contracts
  readonly markets: readonly CurieMarket[]
  readonly unlisted: readonly UnlistedMarket[]
  readonly settlement: Token
  /** The parameters when they were last read. Some calls need them as arguments. */
  terms: Terms
}

/** Ratios of the contracts are in millionths. */
export const wholeRatio = 1_000_000n
/** Decimals of sizes, quote amounts and prices. */
export const curieDecimals = 18
export const wad = 10n ** BigInt(curieDecimals)

const readTerms = ({ config, house }: Pick<Contracts, 'config' | 'house'>): BatchRead<Terms> =>
  combine({
    imRatio: readNumber(config, 'getImRatio'),
    mmRatio: readNumber(config, 'getMmRatio'),
    twapSeconds: readNumber(config, 'getTwapInterval'),
    maxFundingRate: readNumber(config, 'getMaxFundingRate'),
    paused: readFlag(house, 'paused'),
  })

/** One batch. It is repeated only where the parameters differ from those that its calls were made with. */
export async function readWithTerms<T>(
  curie: Curie,
  make: (terms: Terms) => BatchRead<T>,
  at: At,
): Promise<{ head: Head; answer: T; terms: Terms }> {
  for (;;) {
    const { terms } = curie
    const { head, answer } = await runRead(curie.reader, combine({ terms: readTerms(curie.contracts), rest: deferred(make(terms)) }), at)
    if (isSame(answer.terms, terms)) return { head, answer: answer.rest(), terms }
    curie.terms = answer.terms
  }
}

const isSame = (a: Terms, b: Terms) =>
  a.imRatio === b.imRatio &&
  a.mmRatio === b.mmRatio &&
  a.twapSeconds === b.twapSeconds &&
  a.maxFundingRate === b.maxFundingRate &&
  a.paused === b.paused

/** Addresses from the configuration and base tokens from the plugin. @throws where they lack the network */
export function deploymentOf({ chain, network, contracts }: Venue<Evm>, { markets }: PerpOptions) {
  const here = markets[`${chain}/${network}`]
  if (!here)
    throw new Error(`The plugin has no markets for ${chain}/${network}: add them, or take the network out of its available_networks.`)
  const { routerAddress, vaultAddress } = contracts
  if (!routerAddress || !vaultAddress)
    throw new Error(
      `The configuration lacks routerAddress (ClearingHouse) or vaultAddress (Vault) for ${chain}/${network}: add it to the network's entry of contractAddresses.`,
    )
  return { house: routerAddress, vault: vaultAddress, bases: here.map((base) => getAddress(base)) }
}

/**
 * Reads the addresses of the other contracts and the markets, and checks that all belong to one exchange.
 * @throws SluiceError SERVICE_UNINITIALIZED where they do not
 */
export async function findCurie(
  { reader, tokens, log }: Venue<Evm>,
  { house, vault, bases }: ReturnType<typeof deploymentOf>,
  at: At,
): Promise<Curie> {
  const { answer: found } = await runRead(
    reader,
    combine({
      vault: orUndefined(readText(house, 'getVault')),
      exchange: orUndefined(readText(house, 'getExchange')),
      balances: orUndefined(readText(house, 'getAccountBalance')),
      config: orUndefined(readText(house, 'getClearingHouseConfig')),
      quoteToken: orUndefined(readText(house, 'getQuoteToken')),
      house: orUndefined(readText(vault, 'getClearingHouse')),
      settlement: orUndefined(readText(vault, 'getSettlementToken')),
      collateralManager: orUndefined(readText(vault, 'getCollateralManager')),
    }),
    at,
  )
  const { exchange, balances, config, quoteToken, settlement, collateralManager } = found
  const isOne = found.vault === vault && found.house === house
  if (Object.values(found).includes(undefined))
    throw notAsConfigured(
      `routerAddress ${house} or vaultAddress ${vault} reverts or returns nothing where a view of the exchange is read`,
      "If the exchange is paused, wait; else correct them in the connector's configuration of this network.",
    )
  if (!exchange || !balances || !config || !quoteToken || !settlement || !collateralManager || !isOne)
    throw notAsConfigured(
      `routerAddress ${house} is not the ClearingHouse of the Vault ${vault}`,
      "Correct them in the connector's configuration of this network.",
    )
  const { answer: parts } = await runRead(
    reader,
    combine({ registry: readText(exchange, 'getMarketRegistry'), terms: readTerms({ config, house }) }),
    at,
  )
  const contracts: Contracts = { house, vault, exchange, balances, config, quoteToken, collateralManager, registry: parts.registry }
  const { answer: named } = await runRead(
    reader,
    combine({
      quote: readText(quoteToken, 'symbol'),
      bases: combineAll(
        bases.map((base) =>
          combine({
            symbol: orUndefined(readText(base, 'symbol')),
            listed: readFlag(parts.registry, 'hasPool', base),
            pool: orUndefined(readText(parts.registry, 'getPool', base)),
          }),
        ),
      ),
      symbol: readText(settlement, 'symbol'),
      decimals: readNumber(settlement, 'decimals'),
    }),
    at,
  )
  const quote = withoutV(named.quote)
  const unlisted: UnlistedMarket[] = []
  const markets = named.bases.flatMap(({ symbol, listed, pool }, index): CurieMarket[] => {
    const id = bases[index] ?? ''
    if (symbol && listed && pool)
      return [{ id, base: withoutV(symbol), quote, baseDecimals: curieDecimals, quoteDecimals: curieDecimals, pool }]
    const reason = listed ? 'its base token or pool does not answer' : 'it is not the base token of a market of this exchange'
    unlisted.push({ market: symbol ? `${withoutV(symbol)}${quote}` : id, reason })
    log.warn({ baseToken: id, symbol, reason }, "market left out: correct the plugin's markets")
    return []
  })
  if (markets.length === 0) throw notAsConfigured('none of its base tokens is that of a market', "Correct the plugin's markets.")
  const known = tokens.find(({ address }) => address === settlement)
  const token: Token = known ?? { symbol: named.symbol, address: settlement, decimals: Number(named.decimals) }
  return { reader, contracts, markets, unlisted, settlement: token, terms: parts.terms }
}

/** Symbols of the exchange's virtual tokens begin with a v: vETH, vUSD. */
const withoutV = (symbol: string) => symbol.replace(/^v/, '')

const notAsConfigured = (what: string, remedy: string) =>
  new SluiceError('SERVICE_UNINITIALIZED', `Perpetual Protocol v2 is not as configured on this network: ${what}. ${remedy}`)

/** In what one exchange of this kind differs from another. */
export interface PerpOptions {
  /**
   * The base tokens of its markets by `<chain>/<network>`. The contracts have no list of markets, but say of each token whether it is one of
   * theirs. Paused and closed markets belong here, too, as long as somebody has a position in them.
   */
  readonly markets: Readonly<Record<string, readonly string[]>>
}

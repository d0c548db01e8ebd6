import { getAddress } from 'ethers'
import { type At, type Head, type PerpMarketName, type Token, SluiceError, type Venue } from '../../core/contracts/index.ts'
import type { EvmReader, Evm } from '../evm/types.ts'
import { readFlag, runRead, readNumber, deferred, combine, type BatchRead, readText, combineAll, orUndefined } from './batch-read.ts'

/** Its contracts on one network, as they name each other. */
export interface Contracts {
  readonly house: string
  readonly vault: string
  readonly exchange: string
  readonly balances: string
  readonly config: string
  readonly registry: string
  readonly quoteToken: string
  /** The zero address where accounts take the settlement token only. */
  readonly collateralManager: string
}

export interface CurieMarket extends PerpMarketName {
  /** Of its base token and the quote token. */
  readonly pool: string
}

/** What holds for all markets at one block. Ratios in millionths (ClearingHouseConfig). */
export interface Terms {
  readonly imRatio: bigint
  readonly mmRatio: bigint
  readonly twapSeconds: bigint
  readonly maxFundingRate: bigint
  readonly paused: boolean
}

/** Perpetual Protocol v2 on one network, as it was found at the start. */
export interface Curie {
  readonly reader: EvmReader
  readonly contracts: Contracts
  readonly markets: readonly CurieMarket[]
  readonly settlement: Token
  /** As they were last seen: calls take some of them as arguments. */
  terms: Terms
}

export const wholeRatio = 1_000_000n
/** Sizes, quote amounts and prices of its contracts. */
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

/** One batch; again only where the exchange's terms are others than those that it was made with. */
export async function readWithTerms<T>(
  curie: Curie,
  make: (terms: Terms) => BatchRead<T>,
  at: At,
): Promise<{ head: Head; answer: T; terms: Terms }> {
  for (;;) {
    const { terms } = curie
    const { head, answer } = await runRead(curie.reader, combine({ terms: readTerms(curie.contracts), rest: deferred(make(terms)) }), at)
    if (same(answer.terms, terms)) return { head, answer: answer.rest(), terms }
    curie.terms = answer.terms
  }
}

const same = (a: Terms, b: Terms) =>
  a.imRatio === b.imRatio &&
  a.mmRatio === b.mmRatio &&
  a.twapSeconds === b.twapSeconds &&
  a.maxFundingRate === b.maxFundingRate &&
  a.paused === b.paused

/** What the configuration and the plugin say of the exchange on this network. Throws where they lack it, with what to do. */
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
 * Asks the exchange for its other contracts and its markets, and checks that they are of one exchange.
 * @throws SluiceError SERVICE_UNINITIALIZED where they are not
 */
export async function findCurie(
  { reader, tokens }: Venue<Evm>,
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
  if (
    !exchange ||
    !balances ||
    !config ||
    !quoteToken ||
    !settlement ||
    !collateralManager ||
    found.vault !== vault ||
    found.house !== house
  )
    throw notHere(
      `routerAddress ${house} is no ClearingHouse of the Vault ${vault}`,
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
  const markets = named.bases.map(({ symbol, listed, pool }, index) => {
    const id = bases[index] ?? ''
    if (!symbol || !listed || !pool) throw notHere(`${id} is no base token of a market of this exchange`, "Correct the plugin's markets.")
    return { id, base: withoutV(symbol), quote, baseDecimals: curieDecimals, quoteDecimals: curieDecimals, pool }
  })
  const known = tokens.find(({ address }) => address === settlement)
  const token: Token = known ?? { symbol: named.symbol, address: settlement, decimals: Number(named.decimals) }
  return { reader, contracts, markets, settlement: token, terms: parts.terms }
}

/** Its tokens are virtual, and called vETH and vUSD. */
const withoutV = (symbol: string) => symbol.replace(/^v/, '')

const notHere = (what: string, cure: string) =>
  new SluiceError('SERVICE_UNINITIALIZED', `Perpetual Protocol v2 is not as configured on this network: ${what}. ${cure}`)

/** In what one exchange of this kind differs from another. */
export interface PerpOptions {
  /**
   * The base tokens of its markets, by `<chain>/<network>`: its contracts list none, and know of each whether it is theirs. Those that
   * are paused or closed belong here, too, as long as somebody has a position in them.
   */
  readonly markets: Readonly<Record<string, readonly string[]>>
}

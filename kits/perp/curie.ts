import { getAddress } from 'ethers'
import { type At, type Head, type PerpMarketName, type Token, SluiceError, type Venue } from '../../core/contracts/index.ts'
import type { EvmReader, Evm } from '../evm/types.ts'
import { asFlag, askAt, asNumber, late, together, type Asked, asText, each, orNothing } from './batch-read.ts'

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
export const one = 10n ** BigInt(curieDecimals)

const termsOf = ({ config, house }: Pick<Contracts, 'config' | 'house'>): Asked<Terms> =>
  together({
    imRatio: asNumber(config, 'getImRatio'),
    mmRatio: asNumber(config, 'getMmRatio'),
    twapSeconds: asNumber(config, 'getTwapInterval'),
    maxFundingRate: asNumber(config, 'getMaxFundingRate'),
    paused: asFlag(house, 'paused'),
  })

/** One batch; again only where the exchange's terms are others than those that it was made with. */
export async function readBy<T>(curie: Curie, make: (terms: Terms) => Asked<T>, at: At): Promise<{ head: Head; answer: T; terms: Terms }> {
  for (;;) {
    const { terms } = curie
    const { head, answer } = await askAt(curie.reader, together({ terms: termsOf(curie.contracts), rest: late(make(terms)) }), at)
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
export function placeOf({ chain, network, contracts }: Venue<Evm>, { markets }: PerpOptions) {
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
  { house, vault, bases }: ReturnType<typeof placeOf>,
  at: At,
): Promise<Curie> {
  const { answer: found } = await askAt(
    reader,
    together({
      vault: orNothing(asText(house, 'getVault')),
      exchange: orNothing(asText(house, 'getExchange')),
      balances: orNothing(asText(house, 'getAccountBalance')),
      config: orNothing(asText(house, 'getClearingHouseConfig')),
      quoteToken: orNothing(asText(house, 'getQuoteToken')),
      house: orNothing(asText(vault, 'getClearingHouse')),
      settlement: orNothing(asText(vault, 'getSettlementToken')),
      collateralManager: orNothing(asText(vault, 'getCollateralManager')),
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
  const { answer: parts } = await askAt(
    reader,
    together({ registry: asText(exchange, 'getMarketRegistry'), terms: termsOf({ config, house }) }),
    at,
  )
  const contracts: Contracts = { house, vault, exchange, balances, config, quoteToken, collateralManager, registry: parts.registry }
  const { answer: named } = await askAt(
    reader,
    together({
      quote: asText(quoteToken, 'symbol'),
      bases: each(
        bases.map((base) =>
          together({
            symbol: orNothing(asText(base, 'symbol')),
            listed: asFlag(parts.registry, 'hasPool', base),
            pool: orNothing(asText(parts.registry, 'getPool', base)),
          }),
        ),
      ),
      symbol: asText(settlement, 'symbol'),
      decimals: asNumber(settlement, 'decimals'),
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

import { getAddress } from 'ethers'
import { SluiceError, type At, type Token, type Venue } from '../../contracts/index.ts'
import type { Evm } from '../../../kits/evm/types.ts'
import { askAt, asFlag, asNumber, asText, each, orNothing, together } from '../../../kits/perp/batch-read.ts'
import { curieDecimals, termsOf, type Contracts, type Curie } from '../../../kits/perp/curie.ts'
import type { PerpOptions } from './options.ts'

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

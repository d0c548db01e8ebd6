import { getAddress, solidityPackedKeccak256 } from 'ethers'
import { SluiceError, type BookMarket, type BookSide, type Token, type Venue } from '../../core/contracts/index.ts'
import type { Evm } from '../evm/types.ts'
import type { OasisOptions } from '../../core/kits/oasis/options.ts'

/** A market of the exchange: two tokens, and which of them is priced in the other. */
export interface Pair {
  readonly id: string
  readonly base: Token
  readonly quote: Token
  /** By what its events name the offers of each side: SimpleMarket hashes what an offer pays with what it wants. */
  readonly hashes: Readonly<Record<BookSide, string>>
}

/** The exchange on one network. */
export interface Place {
  /** The contract. */
  readonly market: string
  readonly pairs: readonly Pair[]
}

/** Throws where the plugin or its configuration lacks the network, with what to do. */
export function placeOf({ chain, network, contracts, tokens }: Venue<Evm>, { markets }: OasisOptions): Place {
  const here = markets[`${chain}/${network}`]
  if (!here)
    throw new Error(`The plugin has no markets for ${chain}/${network}: add them, or take the network out of its available_networks.`)
  const { routerAddress } = contracts
  if (!routerAddress)
    throw new Error(
      `The configuration lacks routerAddress (the matching market) for ${chain}/${network}: add it to the network's entry of contractAddresses.`,
    )
  const listed = (address: string): Token => {
    const token = tokens.find((each) => each.address === getAddress(address))
    if (token) return token
    throw new Error(`${address} of the plugin's markets is not in the token list of ${chain}/${network}: add it to the list.`)
  }
  return { market: routerAddress, pairs: here.map(([base, quote]) => pairOf(listed(base), listed(quote))) }
}

function pairOf(base: Token, quote: Token): Pair {
  const hash = (pays: Token, wants: Token) => solidityPackedKeccak256(['address', 'address'], [pays.address, wants.address])
  return { id: `${base.address}/${quote.address}`, base, quote, hashes: { sells: hash(base, quote), buys: hash(quote, base) } }
}

/** Nodes write addresses in small letters. */
export const isSameAddress = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

export function pairOfMarket({ pairs }: Place, { id, base, quote }: BookMarket): Pair {
  const pair = pairs.find((each) => each.id === id)
  if (pair) return pair
  throw new SluiceError('PAIR_NOT_FOUND', `The exchange has no market ${base}-${quote}; /clob/markets lists them.`)
}

/** What the offers of a side pay, and what they want for it. */
export const tokensOf = ({ base, quote }: Pair, side: BookSide): readonly [pays: Token, wants: Token] =>
  side === 'sells' ? [base, quote] : [quote, base]

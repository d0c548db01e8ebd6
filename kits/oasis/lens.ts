import { AbiCoder } from 'ethers'
import { SluiceError, type BookSide } from '../../core/contracts/index.ts'
import type { CallResult, Probe } from '../evm/types.ts'
import artifact from './artifacts/OfferLens.json' with { type: 'json' }
import { tokensOf, type Pair } from './contract.ts'

/** An offer as the market keeps it: what is left of it. */
export interface Offer {
  readonly id: bigint
  readonly payRaw: bigint
  readonly buyRaw: bigint
}

export type ListedOffer = Offer & { readonly timestamp: number }

/** `whole`: nothing is behind the last one. */
interface SideOffers {
  readonly offers: readonly ListedOffer[]
  readonly whole: boolean
}

export type PairOffers = Readonly<Record<BookSide, SideOffers>>

/** How many offers of a side are looked at, which costs some 15,000 gas each; half as many where a node allows less than 50 million. */
const maxOffers = 1000

const nobody = '0x0000000000000000000000000000000000000000'

/** The sorted offers of pairs (contracts/OfferLens.sol), those of one owner where one is named. */
export function offerLens(market: string, pairs: readonly Pair[], owner = nobody, most = maxOffers): Probe {
  const sides = pairs.flatMap((pair) => [tokensOf(pair, 'sells'), tokensOf(pair, 'buys')].map((side) => side.map(({ address }) => address)))
  const types = ['address', 'address', 'uint256', 'address[2][]']
  return { code: artifact.bytecode, args: AbiCoder.defaultAbiCoder().encode(types, [market, owner, most, sides]) }
}

/**
 * What the lens saw of each pair, in order.
 * @throws SluiceError NETWORK where the node did not run it to its end
 */
export function readLens({ ok, data }: CallResult, pairs: readonly Pair[]): readonly PairOffers[] {
  let digits = ok ? data.slice(2) : ''
  const take = (bytes: number): bigint => {
    if (digits.length < 2 * bytes) throw unread()
    const value = BigInt(`0x${digits.slice(0, 2 * bytes)}`)
    digits = digits.slice(2 * bytes)
    return value
  }
  const side = (): SideOffers => {
    const whole = take(1) === 1n
    const count = Number(take(4))
    const offers = Array.from({ length: count }, () => ({ id: take(8), payRaw: take(16), buyRaw: take(16), timestamp: Number(take(8)) }))
    return { whole, offers }
  }
  return pairs.map(() => ({ sells: side(), buys: side() }))
}

const unread = () =>
  new SluiceError(
    'NETWORK',
    'The node did not read the order book to the end: try again, and see in rpcUrls that the node allows calls of 50 million gas if this stays.',
  )

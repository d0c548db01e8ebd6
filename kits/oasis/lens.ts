import { AbiCoder } from 'ethers'
import { SluiceError, type At, type BookSide, type Head } from '../../core/contracts/index.ts'
import type { CallResult, EvmReader, Probe } from '../evm/types.ts'
import artifact from './artifacts/OfferLens.json' with { type: 'json' }
import { decodeView, oasisAbi, tokensOf, type Pair } from './contract.ts'

/** An offer as the market stores it: what is left of it. */
export interface Offer {
  readonly id: bigint
  readonly payRaw: bigint
  readonly buyRaw: bigint
}

export type ListedOffer = Offer & { readonly timestamp: number }

interface SideOffers {
  readonly offers: readonly ListedOffer[]
  /** Whether there are no offers behind the last one. */
  readonly isComplete: boolean
}

export type PairOffers = Readonly<Record<BookSide, SideOffers>>

/** The number of offers that are read of a side, at some 15,000 gas each. The lens reads half as many where a node allows less than 50 million. */
const maxOffersOfSide = 1000

const nobody = '0x0000000000000000000000000000000000000000'

/** Reads the sorted offers of pairs (contracts/OfferLens.sol), or those of one owner. */
export function offerLens(market: string, pairs: readonly Pair[], owner = nobody, maxOffers = maxOffersOfSide): Probe {
  const sides = pairs.flatMap((pair) => [tokensOf(pair, 'sells'), tokensOf(pair, 'buys')].map((side) => side.map(({ address }) => address)))
  const types = ['address', 'address', 'uint256', 'address[2][]']
  return { code: artifact.bytecode, args: AbiCoder.defaultAbiCoder().encode(types, [market, owner, maxOffers, sides]) }
}

/**
 * The offers of each pair, as `readLens`. The lens takes a market that does not answer for one without offers, so each side's best offer is asked for
 * beside it.
 * @throws SluiceError SERVICE_UNINITIALIZED where the market does not answer for a pair
 */
export async function readOffers(
  reader: EvmReader,
  market: string,
  pairs: readonly Pair[],
  owner: string | undefined,
  at: At,
  { after, maxOffers }: { after?: Head; maxOffers?: number } = {},
): Promise<{ head: Head; offers: readonly PairOffers[] }> {
  const sides = pairs.flatMap((pair) => [tokensOf(pair, 'sells'), tokensOf(pair, 'buys')])
  const best = sides.map(([pays, wants]) => ({
    to: market,
    data: oasisAbi.encodeFunctionData('getBestOffer', [pays.address, wants.address]),
  }))
  const { head, results } = await reader.read([offerLens(market, pairs, owner, maxOffers), ...best], at, after)
  for (const index of best.keys()) decodeView(market, 'getBestOffer', results[index + 1])
  return { head, offers: readLens(results[0] ?? { ok: false, data: '0x' }, pairs) }
}

/**
 * The offers of each pair, in the order of the pairs.
 * @throws SluiceError NETWORK where the node did not run the lens to its end
 */
export function readLens({ ok, data }: CallResult, pairs: readonly Pair[]): readonly PairOffers[] {
  let digits = ok ? data.slice(2) : ''
  const take = (bytes: number): bigint => {
    if (digits.length < 2 * bytes) throw incomplete()
    const value = BigInt(`0x${digits.slice(0, 2 * bytes)}`)
    digits = digits.slice(2 * bytes)
    return value
  }
  const side = (): SideOffers => {
    const isComplete = take(1) === 1n
    const count = Number(take(4))
    const offers = Array.from({ length: count }, () => ({ id: take(8), payRaw: take(16), buyRaw: take(16), timestamp: Number(take(8)) }))
    return { isComplete, offers }
  }
  return pairs.map(() => ({ sells: side(), buys: side() }))
}

const incomplete = () =>
  new SluiceError(
    'NETWORK',
    'The node did not read the whole order book: try again. If it fails again, check that the nodes in rpcUrls allow calls of 50 million gas.',
  )

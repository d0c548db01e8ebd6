import type { At, Head, PerpMarketName, Token } from '../../core/contracts/index.ts'
import type { EvmReader } from '../evm/types.ts'
import { asFlag, askAt, asNumber, late, together, type Asked } from './batch-read.ts'

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

export const termsOf = ({ config, house }: Pick<Contracts, 'config' | 'house'>): Asked<Terms> =>
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

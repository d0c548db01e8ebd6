// Which of an exchange's contracts trades for a wallet: several carry out the same route, and a wallet need approve one of them only.
import { dropOldest } from '../../base/oldest.ts'
import type { Quote } from '../../contracts/index.ts'
import type { NetworkEntry, VenueEntry } from '../../plugins/index.ts'

const maxRemembered = 10_000

interface Approver {
  readonly network: Pick<NetworkEntry, 'chain' | 'network'>
  readonly venue: Pick<VenueEntry, 'connector'>
  readonly wallet: string
}

const keyOf = ({ network, venue, wallet }: Approver, { swap }: Quote): string =>
  [network.chain, network.network, venue.connector, wallet, swap.tokenIn.address].join(' ')

/** The same quote by another contract, which takes its route as well. */
export const quoteBy = (quote: Quote, spender: string): Quote => {
  const { spender: preferred, otherSpenders = [] } = quote
  if (spender === preferred) return quote
  return Object.freeze({ ...quote, spender, otherSpenders: [preferred, ...otherSpenders].filter((each) => each !== spender) })
}

/** Of one server: by wallet and token, the spender that a wallet had approved when the preferred one was refused. What is forgotten is found again. */
export interface ApprovedSpenders {
  /** The quote by the contract that the wallet had approved at its last trade, where that takes its route. */
  quoteBy(quote: Quote, approver: Approver): Quote
  remember(quote: Quote, approver: Approver): void
}

export function createApprovedSpenders(): ApprovedSpenders {
  const spenders = new Map<string, string>()
  return {
    quoteBy(quote, approver) {
      if (!quote.otherSpenders) return quote
      const known = spenders.get(keyOf(approver, quote))
      return known !== undefined && quote.otherSpenders.includes(known) ? quoteBy(quote, known) : quote
    },
    remember(quote, approver) {
      const key = keyOf(approver, quote)
      spenders.delete(key)
      spenders.set(key, quote.spender)
      dropOldest(spenders, maxRemembered)
    },
  }
}

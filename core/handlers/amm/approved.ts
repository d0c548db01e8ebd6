// Which of an exchange's contracts trades for a wallet: several carry out the same route, and a wallet need approve one of them only.
import type { Quote } from '../../contracts/index.ts'
import type { NetworkEntry, VenueEntry } from '../registry.ts'

const maxRemembered = 10_000

/** By wallet and token, the spender that a wallet had approved when the preferred one was refused. What is forgotten is found again. */
const approvedSpenders = new Map<string, string>()

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

/** The quote by the contract that the wallet had approved at its last trade, where that takes its route. */
export function quoteByApproved(quote: Quote, approver: Approver): Quote {
  if (!quote.otherSpenders) return quote
  const known = approvedSpenders.get(keyOf(approver, quote))
  return known !== undefined && quote.otherSpenders.includes(known) ? quoteBy(quote, known) : quote
}

export function rememberApproved(quote: Quote, approver: Approver): void {
  const key = keyOf(approver, quote)
  approvedSpenders.delete(key)
  approvedSpenders.set(key, quote.spender)
  const oldest = approvedSpenders.keys().next().value
  if (approvedSpenders.size > maxRemembered && oldest !== undefined) approvedSpenders.delete(oldest)
}

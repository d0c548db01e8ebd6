// The approvals that a wallet lacks for what connectors quote, and what they cost.
import type { At, Quote } from '../../contracts/index.ts'
import { permit2On } from '../spenders.ts'
import { readAllowances } from '../evm.ts'
import { tradeRules } from '../slippage.ts'
import type { NetworkEntry, Registry, VenueEntry } from '../../plugins/index.ts'
import { quoteBy } from './approved.ts'
import type { AskScope } from './ask-each.ts'
import type { Candidate } from './candidates.ts'
import { costOf, type CoinRate } from './coin-rate.ts'

/** Of the transaction of one approval. A permit that a trade carries costs about as much. */
const approvalGas = 60_000n

/** Says of each candidate whether it is approved, and what its approvals would cost. */
export async function withApprovals(
  candidates: readonly Candidate[],
  wallet: string,
  rate: CoinRate | undefined,
  { network, services }: AskScope,
  at: At,
) {
  const lacking = await lackingApprovals(candidates, wallet, network, services.registry, at)
  const one = rate ? costOf(await network.impl.gas(approvalGas, undefined, at), rate) : 0n
  // By the one of the contracts that take the route for which the wallet lacks the least.
  const byApproved = candidates.map((candidate) => {
    const { venue, sourced } = candidate
    const spenders = [sourced.quote.spender, ...(sourced.quote.otherSpenders ?? [])]
    const [best = { spender: sourced.quote.spender, lacked: 0 }] = spenders
      .map((spender) => ({ spender, lacked: lacking(venue, spender) }))
      .toSorted((one, other) => one.lacked - other.lacked)
    const quote = quoteBy(sourced.quote, best.spender)
    return { ...candidate, sourced: { ...sourced, quote }, approved: best.lacked === 0, lacked: best.lacked }
  })
  const penalties = new Map(byApproved.map((each) => [each.venue, BigInt(each.lacked) * one]))
  const penalty = ({ venue }: Candidate) => penalties.get(venue) ?? 0n
  return { candidates: byApproved.map(({ lacked: _lacked, ...candidate }) => candidate), penalty }
}

/**
 * How many approvals the spenders of the candidates' connectors lack to take what their swaps need: by Permit2 up to two, the token's and that
 * within it. One round trip, and one for Permit2, beside each other.
 */
export async function lackingApprovals(
  candidates: readonly Pick<Candidate, 'venue' | 'sourced' | 'boundRaw'>[],
  wallet: string,
  network: NetworkEntry,
  registry: Registry,
  at: At,
): Promise<(venue: VenueEntry, spender: string) => number> {
  const tokenIn = candidates[0]?.sourced.quote.swap.tokenIn
  const { evm } = network.impl
  if (!evm || !tokenIn || tokenIn.native) return () => 0
  const addresses = [
    ...new Set(candidates.flatMap(({ venue, sourced }) => [sourced.quote.spender, ...Object.values(venue.impl.spenders ?? {})])),
  ]
  const permit2 = permit2On(network, registry)
  const contracts = addresses.flatMap((spender) => permit2.get(spender) ?? [])
  const asked = { addresses: [...new Set([...addresses, ...contracts])], permit2 }
  const [plain, byPermit2] = await readAllowances(evm, wallet, asked, [tokenIn], at)
  const needs = new Map(
    candidates.map(({ venue, sourced: { quote }, boundRaw }) => {
      const until = quote.head.timestamp + tradeRules(venue.config, quote.route).ttlSeconds
      return [venue, { neededRaw: neededOf(quote, boundRaw), until }]
    }),
  )
  return (venue, spender) => {
    const { neededRaw = 0n, until = 0 } = needs.get(venue) ?? {}
    const allowance = byPermit2.get(spender)?.[0]
    const isAllowed = (contract: string) => (plain.get(contract)?.[0] ?? 0n) >= neededRaw
    if (!allowance) return isAllowed(spender) ? 0 : 1
    if (allowance.amountRaw >= neededRaw && allowance.expires >= until) return 0
    return isAllowed(permit2.get(spender) ?? '') ? 1 : 2
  }
}

/** The most that a swap may take. */
const neededOf = ({ swap }: Quote, boundRaw: bigint) => (swap.exact === 'in' ? swap.amountRaw : boundRaw)

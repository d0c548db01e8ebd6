// A swap asked of all connectors of a network (`connector=any`): what each gives, and which is the best after the cost of gas.
import { anyConnector } from '../../api/endpoint.ts'
import type { At, Head } from '../../contracts/index.ts'
import { after } from '../../base/async.ts'
import { fromRaw } from '../../base/decimal.ts'
import { badFields, errorFields, SluiceError } from '../../base/errors.ts'
import { refuseQuarantined } from '../mined-bounds.ts'
import type { NetworkEntry, VenueEntry } from '../../plugins/index.ts'
import { withApprovals } from './approvals-lacked.ts'
import { allOf, askEach, isLeftOut, isOfStates, venuesOf, withVersion, type AskScope, type LeftOutConnector } from './ask-each.ts'
import { askLikely, type ConnectorAnswer } from './ask-likely.ts'
import { ranked, withTerms, type Candidate, type Candidates, type WithTerms } from './candidates.ts'
import { blockOf, coinRate, costOf, newestOf, type CoinRate } from './coin-rate.ts'
import { quoteFromChain, quoteSwap, swapPrice, type SourcedQuote, type SwapRequest } from './quote.ts'

export interface AnyRequest {
  readonly swap: SwapRequest
  /** Names; undefined: those that are built in. */
  readonly connectors: readonly string[] | undefined
  readonly allowedSlippage: string | undefined
  /** Whose allowances count; undefined: nobody's. */
  readonly wallet?: string
  /** Ask the chain, whatever is in memory. */
  readonly fromChain?: boolean
  /** Nobody looks at the others: those that cannot be the best are not asked. */
  readonly onlyBest?: boolean
}

/** @throws SluiceError INCOMPLETE_PARAMS where a request to one connector has a field of requests to any */
export function refuseChoice(request: { readonly connector: string; readonly connectors?: unknown; readonly candidates?: unknown }): void {
  const field = (['connectors', 'candidates'] as const).find((each) => request[each] !== undefined)
  if (field && request.connector !== anyConnector)
    throw badFields([{ field, problem: `is for requests with connector=${anyConnector}: leave it out, or ask all connectors` }])
}

/**
 * The prices of all connectors, the best first; or of those that may be the best (`onlyBest`). At once where all come from memory.
 * @throws SluiceError what stands against a price, where no connector has one
 */
export function askConnectors(request: AnyRequest, scope: AskScope, at: At): Candidates | Promise<Candidates> {
  const { swap, connectors, allowedSlippage, onlyBest, fromChain, wallet } = request
  const venues = withVersion(swap.version, venuesOf(connectors, scope), scope.network)
  const what = `price of ${swap.base.symbol}/${swap.quote.symbol}`
  const { network, services, block } = scope
  const quoteBy = (venue: VenueEntry) => {
    // Nothing would be signed at its price.
    refuseQuarantined(venue.connector, scope.services.registry)
    return fromChain ? quoteFromChain(swap, venue, at) : quoteSwap(swap, { network, services, venue, ...(block && { block }) }, at)
  }
  let source: SourcedQuote['source'] = wallet === undefined ? 'memory' : 'rpc'
  const waitForNode = <T>(value: T | Promise<T>): T | Promise<T> => {
    if (value instanceof Promise) source = 'rpc'
    return value
  }
  const ask = (each: readonly VenueEntry[]): readonly ConnectorAnswer[] | Promise<readonly ConnectorAnswer[]> =>
    after(askEach(each, scope, what, quoteBy, at), (answers) => {
      if (answers.some((one) => (isLeftOut(one) ? one.hasWaited : one.answer.source === 'rpc'))) source = 'rpc'
      return allOf(answers.map((one) => (isLeftOut(one) ? one : waitForNode(withTerms(one, allowedSlippage, scope.network, at)))))
    })
  const placeOf = ({ connector }: LeftOutConnector) => venues.findIndex((venue) => venue.connector === connector)
  /** For one answer once for each block, also where it is not kept. */
  let last: { readonly block: string | undefined; readonly rate: CoinRate | undefined } | undefined
  const rateBy = (found: readonly WithTerms[]): CoinRate | undefined | Promise<CoinRate | undefined> => {
    const newest = newestOf(found)
    const block = newest && blockOf(newest)
    if (last && last.block === block) return last.rate
    return after(coinRate(swap.quote, found, scope, at), (rated) => {
      if (rated.source === 'rpc') source = 'rpc'
      last = { block, rate: rated.rate }
      return rated.rate
    })
  }
  const gasOf = (units: bigint, head: Head) => waitForNode(scope.network.impl.gas(units, head, at))
  const compare = (answers: readonly ConnectorAnswer[], rate: CoinRate | undefined): Candidates | Promise<Candidates> => {
    const leftOut = answers.filter(isLeftOut).toSorted((one, other) => placeOf(one) - placeOf(other))
    const found = answers.filter((each): each is WithTerms => !isLeftOut(each))
    if (found.length === 0) throw noPrice(leftOut, swap.pool, scope.network)
    const candidates = found.map((each) => ({ rate, costRaw: rate && costOf(each.gas, rate), ...each }))
    if (wallet === undefined) return ranked(candidates, leftOut, source, () => 0n)
    return withApprovals(candidates, wallet, rate, scope, at).then((each) => ranked(each.candidates, leftOut, source, each.penalty))
  }
  if (onlyBest && wallet === undefined && !fromChain)
    return after(askLikely(venues, { swap, ask, rateBy, gasOf }, scope, at), ({ answers, rate }) => compare(answers, rate))
  return after(ask(venues), (answers) => {
    const found = answers.filter((each): each is WithTerms => !isLeftOut(each))
    return found.length === 0 ? compare(answers, undefined) : after(rateBy(found), (rate) => compare(answers, rate))
  })
}

/** That a connector has no pool, or not enough in it, says the least of why there is no price; that the request is wrong says the most. */
const telling = ({ error: { name } }: LeftOutConnector): number =>
  name === 'INCOMPLETE_PARAMS' ? 0 : name === 'PRICE_FAILED' ? 2 : name === 'PAIR_NOT_FOUND' ? 3 : 1

function noPrice(leftOut: readonly LeftOutConnector[], pool: string | undefined, { chain, network }: NetworkEntry): SluiceError {
  const [first] = leftOut.toSorted((one, other) => telling(one) - telling(other))
  const details = { leftOut: showLeftOut(leftOut, true) }
  if (first === undefined || first.error.name === 'PAIR_NOT_FOUND') {
    const names = leftOut.map(({ connector }) => connector).join(', ')
    const what = pool === undefined ? 'a pool of these tokens' : `the pool ${pool} of these tokens`
    const remedy = pool === undefined ? '' : ` GET /amm/pools?connector=${anyConnector} lists the pools.`
    return new SluiceError('PAIR_NOT_FOUND', `No connector on ${chain}/${network} has ${what} (asked: ${names}).${remedy}`, { details })
  }
  const { connector, error } = first
  const message = error.message.startsWith(`${connector}: `) ? error.message : `${connector}: ${error.message}`
  return new SluiceError(error.name, `No connector on ${chain}/${network} has a price. ${message}`, {
    details: error.name === 'INCOMPLETE_PARAMS' ? error.details : details,
    ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
    cause: error,
  })
}

/** @param all also those without a pool that has enough */
export const showLeftOut = (leftOut: readonly LeftOutConnector[], all: boolean) =>
  leftOut.filter((each) => all || !isOfStates(each)).map(({ connector, error }) => ({ connector, error: errorFields(error) }))

/** The cost of gas in the quote token. */
export const showCost = ({ costRaw }: Candidate, { quote }: SwapRequest) =>
  costRaw === undefined ? {} : { gasCostInQuote: fromRaw(costRaw, quote.decimals) }

/** The fields of an answer that say whose price it is. */
export function showChoice(candidate: Candidate, leftOut: readonly LeftOutConnector[], swapRequest: SwapRequest, isAll = false) {
  const shown = showLeftOut(leftOut, isAll)
  return { connector: candidate.venue.connector, ...showCost(candidate, swapRequest), ...(shown.length > 0 && { leftOut: shown }) }
}

export const showCandidates = (candidates: readonly Candidate[], swapRequest: SwapRequest, { impl }: NetworkEntry) =>
  candidates.map((candidate) => {
    const { venue, sourced, gas, approved } = candidate
    return {
      connector: venue.connector,
      price: swapPrice(swapRequest, sourced.quote.amountRaw),
      expectedAmount: fromRaw(sourced.quote.amountRaw, swapRequest.quote.decimals),
      gasCost: fromRaw(gas.gasCostRaw, impl.nativeCurrency.decimals),
      ...showCost(candidate, swapRequest),
      blockNumber: Number(sourced.quote.head.number),
      ...(approved !== undefined && { approved }),
    }
  })

// A swap asked of all connectors of a network (`connector=any`): what each gives, and which is the best after the cost of gas.
import { withTimeout } from '../../base/async.ts'
import { anyConnector } from '../../api/endpoint.ts'
import type { At, GasTerms, Quote, Token } from '../../contracts/index.ts'
import { divideRaw, fromRaw } from '../../base/decimal.ts'
import { payerOf, type Payer } from '../../base/fair-turns.ts'
import { badFields, errorFields, SluiceError } from '../../base/errors.ts'
import { after, type Services } from '../context.ts'
import { quoteBy } from './approved.ts'
import { readAllowances } from '../evm.ts'
import { refuseQuarantined } from '../mined-bounds.ts'
import { permit2On } from '../spenders.ts'
import { tradingOf, type NetworkEntry, type Registry, type VenueEntry } from '../../plugins/index.ts'
import { effectiveSlippage, slippageBound, tradeRules, type Slippage } from '../slippage.ts'
import { quoteFromChain, quoteSwap, swapPrice, type QuoteScope, type SourcedQuote, type SwapRequest } from './quote.ts'
import { bestReference } from './reference.ts'

interface Scope {
  readonly network: NetworkEntry
  readonly services: Pick<Services, 'registry' | 'turns'> & QuoteScope['services']
  readonly block?: QuoteScope['block']
}

/** What one connector gives. */
export interface Candidate {
  readonly venue: VenueEntry
  readonly sourced: SourcedQuote
  readonly gas: GasTerms
  readonly slippage: Slippage
  /** The worst amount that the slippage allows. */
  readonly boundRaw: bigint
  /** Of gas, in the quote token; undefined where the native coin has no price in it. */
  readonly costRaw: bigint | undefined
  /** Whether the wallet allows its spender that much; undefined where no wallet was given. */
  readonly approved?: boolean
}

/** A connector without a price, or whose trade failed its checks. */
export interface LeftOutConnector {
  readonly connector: string
  readonly error: SluiceError
}

export interface Candidates {
  /** The best first. */
  readonly candidates: readonly [Candidate, ...Candidate[]]
  readonly leftOut: readonly LeftOutConnector[]
}

export interface AnyRequest {
  readonly swap: SwapRequest
  /** Names; undefined: those that are built in. */
  readonly connectors: readonly string[] | undefined
  readonly allowedSlippage: string | undefined
  /** Whose allowances count; undefined: nobody's. */
  readonly wallet?: string
  /** Ask the chain, whatever is in memory. */
  readonly fromChain?: boolean
}

/** @throws SluiceError INCOMPLETE_PARAMS where a request to one connector has a field of requests to any */
export function refuseChoice(request: { readonly connector: string; readonly connectors?: unknown; readonly candidates?: unknown }): void {
  const field = (['connectors', 'candidates'] as const).find((each) => request[each] !== undefined)
  if (field && request.connector !== anyConnector)
    throw badFields([{ field, problem: `is for requests with connector=${anyConnector}: leave it out, or ask all connectors` }])
}

/** For each connector. One that is later is left out, and is not asked again for a while. */
export const answerMs = 3_000
const lateMs = 30_000
/** For each caller apart: what one asks for may wait behind others of its own. */
const lateUntil = new WeakMap<VenueEntry, WeakMap<Payer, number>>()
const nobody: Payer = {}
const callerOf = ({ signal }: At): Payer => payerOf(signal) ?? nobody

/**
 * The prices of all connectors, the best first. At once where all come from memory.
 * @throws SluiceError what stands against a price, where no connector has one
 */
export function askConnectors(asked: AnyRequest, scope: Scope, at: At): Candidates | Promise<Candidates> {
  const { swap, connectors, allowedSlippage } = asked
  const venues = withVersion(swap.version, venuesOf(connectors, scope), scope.network)
  const priced = askEach(
    venues,
    scope,
    `price of ${swap.base.symbol}/${swap.quote.symbol}`,
    (venue) => {
      // Nothing would be signed at its price.
      refuseQuarantined(venue.connector, scope.services.registry)
      return asked.fromChain ? quoteFromChain(swap, venue, at) : quoteSwap(swap, { ...scope, venue }, at)
    },
    at,
  )
  const quoted = after(priced, (answers) =>
    allOf(answers.map((each) => (isLeftOut(each) ? each : withTerms(each, allowedSlippage, scope.network, at)))),
  )
  return after(quoted, (answers) => {
    const leftOut = answers.filter(isLeftOut)
    const found = answers.filter((each): each is WithTerms => !isLeftOut(each))
    if (found.length === 0) throw noPrice(leftOut, swap.pool, scope.network)
    return after(coinRate(swap.quote, found, scope, at), (rate) => {
      const candidates = found.map((each) => ({ ...each, costRaw: rate && costOf(each.gas, rate) }))
      if (asked.wallet === undefined) return ranked(candidates, leftOut, () => 0n)
      return withApprovals(candidates, asked.wallet, rate, scope, at).then((each) => ranked(each.candidates, leftOut, each.penalty))
    })
  })
}

/** @throws SluiceError UNSUPPORTED where no connector that is built in swaps on the network */
export const requireAny = (scope: Scope): void => void venuesOf(undefined, scope)

/** @throws SluiceError UNKNOWN_CONNECTOR, UNKNOWN_CHAIN_ERROR, UNSUPPORTED, … of a connector that the request names */
export function venuesOf(connectors: readonly string[] | undefined, { network: { chain, network }, services: { registry } }: Scope) {
  const all = registry.venuesOn(chain, network)
  if (connectors === undefined) {
    const builtIn = all.filter((venue) => venue.builtIn && venue.impl.AMM)
    if (builtIn.length === 0)
      throw new SluiceError(
        'UNSUPPORTED',
        `No built-in connector on ${chain}/${network} has the trading type AMM; name others in connectors.`,
      )
    return builtIn
  }
  return [...new Set(connectors)].map((name) => {
    const venue = all.find(({ connector }) => connector === name) ?? registry.venue(name, chain, network)
    tradingOf('AMM', venue)
    return venue
  })
}

/** @throws SluiceError INCOMPLETE_PARAMS where none has the version */
export function withVersion(
  version: string | undefined,
  venues: readonly VenueEntry[],
  { chain, network }: NetworkEntry,
): readonly VenueEntry[] {
  if (version === undefined) return venues
  const having = venues.filter(({ impl }) => impl.AMM?.versions.includes(version))
  if (having.length > 0) return having
  const known = [...new Set(venues.flatMap(({ impl }) => impl.AMM?.versions ?? []))].join(', ') || 'none to choose from'
  throw badFields([{ field: 'version', problem: `no connector on ${chain}/${network} has a version "${version}" (${known})` }])
}

/** What one connector answered. */
export interface Answer<T> {
  readonly venue: VenueEntry
  readonly answer: T
}

/**
 * Asks each connector beside the others; at once where none has to wait, and all together take no longer than a turn of the event loop may. @param what is asked for, for the error of one that is late
 */
export function askEach<T>(
  venues: readonly VenueEntry[],
  { network: { chain, network }, services: { registry, turns } }: Scope,
  what: string,
  ask: (venue: VenueEntry) => T | Promise<T>,
  at: At,
): readonly (Answer<T> | LeftOutConnector)[] | Promise<readonly (Answer<T> | LeftOutConnector)[]> {
  const askOne = (venue: VenueEntry): Answer<T> | LeftOutConnector | Promise<Answer<T> | LeftOutConnector> => {
    const { connector } = venue
    const left = (error: unknown): LeftOutConnector => {
      if (!(error instanceof SluiceError)) throw error
      return { connector, error }
    }
    const isLate = (lateUntil.get(venue)?.get(callerOf(at)) ?? 0) > performance.now()
    if (isLate) return left(lateError(connector, what))
    const answered = (answer: T) => {
      lateUntil.get(venue)?.delete(callerOf(at))
      return { venue, answer }
    }
    const wakened = async () => {
      await venue.wake()
      return ask(registry.venue(connector, chain, network))
    }
    try {
      const answer = venue.notReady() === undefined ? ask(venue) : wakened()
      if (!(answer instanceof Promise)) return answered(answer)
      const late = () => {
        const known = lateUntil.get(venue) ?? new WeakMap<Payer, number>()
        lateUntil.set(venue, known.set(callerOf(at), performance.now() + lateMs))
        throw lateError(connector, what)
      }
      // An answer that comes late says that it can be asked again.
      return withTimeout(answer.then(answered), answerMs, late).catch(left)
    } catch (error) {
      return left(error)
    }
  }
  const asked: (Answer<T> | LeftOutConnector | Promise<Answer<T> | LeftOutConnector>)[] = []
  function askFrom(first: number): void | Promise<void> {
    for (let index = first; index < venues.length; index += 1) {
      if (turns.isOver() && index > first) return turns.next(payerOf(at.signal)).then(() => askFrom(index))
      const venue = venues[index]
      if (venue) asked.push(askOne(venue))
    }
  }
  return after(askFrom(0), () => allOf(asked))
}

export const isLeftOut = (each: LeftOutConnector | object): each is LeftOutConnector => 'error' in each

const lateError = (connector: string, what: string) =>
  new SluiceError(
    'TIMEOUT',
    `${connector} gave no ${what} within ${answerMs / 1000} s; it is asked again when it has answered, or after ${lateMs / 1000} s.`,
    { retryAfterSeconds: lateMs / 1000 },
  )

/** At once where there is no promise among them. */
const allOf = <T>(all: readonly (T | Promise<T>)[]): readonly T[] | Promise<readonly T[]> =>
  all.some((each) => each instanceof Promise) ? Promise.all(all) : (all as readonly T[])

type WithTerms = Omit<Candidate, 'costRaw'>

function withTerms(
  { venue, answer: sourced }: Answer<SourcedQuote>,
  allowedSlippage: string | undefined,
  { impl }: NetworkEntry,
  at: At,
): WithTerms | LeftOutConnector | Promise<WithTerms | LeftOutConnector> {
  const { quote } = sourced
  try {
    const slippage = effectiveSlippage(venue.config, quote.route, allowedSlippage)
    const boundRaw = slippageBound(quote, slippage)
    return after(impl.gas(quote.gasUnits, quote.head, at), (gas) => ({ venue, sourced, gas, slippage, boundRaw }))
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    return { connector: venue.connector, error }
  }
}

/** What an amount of the native coin is worth in a token. */
interface Rate {
  readonly coinRaw: bigint
  readonly tokenRaw: bigint
}

interface KnownRate {
  readonly blockNumber: bigint
  readonly rate: Rate | undefined
}

const mostRates = 1_000
const knownRates = new WeakMap<NetworkEntry, Map<string, KnownRate>>()

const costOf = ({ gasCostRaw }: Pick<GasTerms, 'gasCostRaw'>, { coinRaw, tokenRaw }: Rate) =>
  divideRaw(gasCostRaw * tokenRaw, coinRaw, 'up')

/** The marginal price of the native coin by the best of the built-in connectors, once a block. Undefined where they have none. */
function coinRate(token: Token, candidates: readonly WithTerms[], scope: Scope, at: At): Rate | undefined | Promise<Rate | undefined> {
  const { network, services } = scope
  const { nativeCurrency, evm } = network.impl
  const coinRaw = 10n ** BigInt(nativeCurrency.decimals) / 10n
  if ([nativeCurrency.address, evm?.wrapped?.token.address].includes(token.address)) return { coinRaw, tokenRaw: coinRaw }
  const blockNumber = candidates.reduce((newest, { sourced: { quote } }) => (quote.head.number > newest ? quote.head.number : newest), 0n)
  const rates = knownRates.get(network) ?? new Map<string, KnownRate>()
  knownRates.set(network, rates)
  const known = rates.get(token.address)
  if (known?.blockNumber === blockNumber) return known.rate
  const swap: SwapRequest = { base: nativeCurrency, quote: token, side: 'SELL', amountRaw: coinRaw }
  const venues = services.registry
    .venuesOn(network.chain, network.network)
    .filter((venue) => venue.builtIn && venue.impl.AMM && venue.notReady() === undefined)
  const answers = askEach(venues, scope, `price of ${nativeCurrency.symbol}`, (venue) => quoteSwap(swap, { ...scope, venue }, at), at)
  return after(answers, (each) => {
    const quotes = each.flatMap((one) => (isLeftOut(one) ? [] : [{ connector: one.venue.connector, quote: one.answer.quote }]))
    const best = bestReference(quotes)?.quote
    const rate = best && { coinRaw, tokenRaw: best.spotAmountRaw }
    rates.delete(token.address)
    rates.set(token.address, { blockNumber, rate })
    const oldest = rates.keys().next().value
    if (rates.size > mostRates && oldest !== undefined) rates.delete(oldest)
    return rate
  })
}

/** Of the transaction of one approval. A permit that a trade carries costs about as much. */
const approvalGas = 60_000n

async function withApprovals(
  candidates: readonly Candidate[],
  wallet: string,
  rate: Rate | undefined,
  { network, services }: Scope,
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

function ranked(
  found: readonly Candidate[],
  leftOut: readonly LeftOutConnector[],
  penaltyOf: (candidate: Candidate) => bigint,
): Candidates {
  // What the wallet has left: what it gets, or less than nothing where it pays.
  const worth = new Map(
    found.map((each) => {
      const { swap, amountRaw } = each.sourced.quote
      return [each, (swap.exact === 'in' ? amountRaw : -amountRaw) - (each.costRaw ?? 0n) - penaltyOf(each)]
    }),
  )
  const worthOf = (each: Candidate) => worth.get(each) ?? 0n
  const [best, ...others] = found.toSorted(
    (one, other) =>
      compare(worthOf(other), worthOf(one)) ||
      compare(one.gas.gasCostRaw, other.gas.gasCostRaw) ||
      compare(one.venue.connector, other.venue.connector),
  )
  if (!best) throw new Error('there is no candidate to rank')
  return { candidates: [best, ...others], leftOut }
}

const compare = <T extends bigint | string>(one: T, other: T): number => (one < other ? -1 : one > other ? 1 : 0)

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
  leftOut
    .filter(({ error }) => all || !['PAIR_NOT_FOUND', 'PRICE_FAILED'].includes(error.name))
    .map(({ connector, error }) => ({ connector, error: errorFields(error) }))

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

// Holds the worst outcome that signed bytes permit against the market, whatever limit price, slippage or pool the request has: those are the caller's words.
import { SluiceError } from '../base/errors.ts'
import { divideRaw, formatRatio, type Fraction } from '../base/decimal.ts'
import type { Comparison, ExchangedAmounts } from '../market/exchange-values.ts'
import type { Commitment, MadeAtPrice, PoolTerms } from '../transactions/budgets.ts'
import type { NetworkContext } from './context.ts'

type Context = Omit<NetworkContext, 'signal'>

/**
 * What a request commits its wallet to, valued by the market where there is one.
 * @throws SluiceError LIMIT_EXCEEDED where its worst outcome is far below the market, FORBIDDEN where no market tells; not for callers who may use
 * thin markets, nor on networks that are not checked
 */
export function heldAgainstMarket(exchanged: ExchangedAmounts, context: Context): Commitment {
  const { network, services } = context
  if (!isCompared(context)) return exchanged
  followHoldings(context)
  const compared = services.market.compare(network, exchanged, context.caller.id)
  if (compared.is !== 'priced') {
    if (allowedImpact(context) === undefined) return exchanged
    throw needsThin(compared, context)
  }
  requireNear(compared, context)
  return valued(exchanged, compared.mostLostMicros, context)
}

/**
 * An allowance of a spender that may use it at any time: all of it counts as lost until it is revoked, and no trade makes up for it.
 * @throws SluiceError FORBIDDEN where no market tells what that is, but for callers who may use thin markets
 */
export function heldApproval(gives: Readonly<Record<string, bigint>>, context: Context): Commitment {
  const { network, services, caller } = context
  const given = { gives, gets: {} }
  if (!services.market.isChecked(network)) return given
  followHoldings(context)
  const compared = services.market.compare(network, given, caller.id)
  if (compared.is === 'priced') return valued(given, compared.mostLostMicros, context)
  if (mayUseThin(caller)) return given
  throw needsThin(compared, context)
}

export interface DepositPool extends Pick<PoolTerms, 'prices'> {
  readonly address: string
  /** As of `PoolTerms`, by each of the prices that it may have when the deposit is mined. */
  readonly leastGot: readonly NonNullable<PoolTerms['leastGot']>[]
  readonly made?: Omit<MadeAtPrice, 'lossMicros'>
}

/** The same of a deposit into a pool, whose price it takes: the pool itself has to be deep, its price near to the market, and the least shares worth what is given. */
export function heldDeposit(
  gives: Readonly<Record<string, bigint>>,
  { address, prices, leastGot, made }: DepositPool,
  context: Context,
): Commitment {
  const { network, services, caller } = context
  const { market } = services
  const [first, ...others] = leastGot.map((each): PoolTerms => ({ prices, leastGot: each }))
  let pool: PoolTerms = first ?? { prices }
  const deposit = () => ({ gives, gets: {}, pool, mayLoseLater: true }) as const
  if (!isCompared(context)) return deposit()
  followHoldings(context)
  const isBounded = allowedImpact(context) !== undefined
  const compare = (terms: PoolTerms) => compareDeposit(gives, terms, (exchanged) => market.compare(network, exchanged, caller.id))
  let compared = compare(pool)
  if (compared.is !== 'priced') {
    if (!isBounded) return deposit()
    throw needsThin(compared, context)
  }
  for (const terms of others) {
    const other = compare(terms)
    if (other.is === 'priced' && other.mostLostMicros > compared.mostLostMicros) [compared, pool] = [other, terms]
  }
  const atPrice = made && compare({ prices })
  if (made && atPrice?.is === 'priced') pool = { ...pool, made: { ...made, lossMicros: compared.mostLostMicros - atPrice.mostLostMicros } }
  if (isBounded && !market.isDeep(network, address)) throw needsThin({ is: 'thin pool', pool: address }, context)
  requireNear(compared, context)
  return valued(deposit(), compared.mostLostMicros, context)
}

/**
 * A deposit against the market: what an exchange of all of it at the pool's price would lose, either way, is what others could take of it; and what is exchanged
 * where it gets less than it gives.
 */
export function compareDeposit(
  gives: Readonly<Record<string, bigint>>,
  { prices, leastGot }: PoolTerms,
  compare: (exchanged: ExchangedAmounts) => Comparison,
): Comparison {
  const whole = compare({ gives, gets: {} })
  if (whole.is !== 'priced') return whole
  const exchanged = leastGot && compare(differenceOf(gives, leastGot))
  if (exchanged && exchanged.is !== 'priced') return exchanged
  let worst = { lostMicros: 0n, givenMicros: 1n }
  for (const [token, price] of Object.entries(prices))
    for (const [other, otherPrice] of Object.entries(prices)) {
      if (token === other) continue
      const givesRaw = exampleRaw
      const getsRaw = (givesRaw * price.numerator * otherPrice.denominator) / (price.denominator * otherPrice.numerator)
      const compared = compare({ gives: { [token]: givesRaw }, gets: { [other]: getsRaw } })
      if (compared.is === 'priced' && compared.lostMicros * worst.givenMicros > worst.lostMicros * compared.givenMicros) worst = compared
    }
  const lostOf = (givenMicros: bigint, lostByExchange = 0n): bigint =>
    divideRaw(givenMicros * worst.lostMicros, worst.givenMicros, 'up') + (lostByExchange > 0n ? lostByExchange : 0n)
  return {
    ...whole,
    lostMicros: lostOf(whole.givenMicros, exchanged?.lostMicros),
    mostLostMicros: lostOf(whole.mostGivenMicros, exchanged?.mostLostMicros),
  }
}

/** What is exchanged of tokens that are on both sides. */
function differenceOf(gives: Readonly<Record<string, bigint>>, gets: Readonly<Record<string, bigint>>): ExchangedAmounts {
  const more = (one: Readonly<Record<string, bigint>>, other: Readonly<Record<string, bigint>>) =>
    Object.fromEntries(
      Object.entries(one).flatMap(([token, raw]) => (raw > (other[token] ?? 0n) ? [[token, raw - (other[token] ?? 0n)]] : [])),
    )
  return { gives: more(gives, gets), gets: more(gets, gives) }
}

/** The default of maxDailyLoss is a share of what its wallets hold. */
function followHoldings({ network, services, caller }: Context): void {
  if (!mayUseThin(caller)) services.holdings.follow(caller.id, network)
}

/** So much that no price of a token makes it too little for an exact ratio. */
const exampleRaw = 10n ** 30n

/** @param allowed in percent */
export const isBeyond = ({ givenMicros, lostMicros }: { givenMicros: bigint; lostMicros: bigint }, allowed: number): boolean =>
  // In millionths of a percent.
  lostMicros * 100_000_000n > givenMicros * BigInt(Math.round(allowed * 1e6))

/** @throws SluiceError LIMIT_EXCEEDED */
function requireNear({ givenMicros, lostMicros }: { givenMicros: bigint; lostMicros: bigint }, context: Context): void {
  const allowed = allowedImpact(context)
  if (allowed === undefined || !isBeyond({ givenMicros, lostMicros }, allowed)) return
  const worse = givenMicros === 0n ? 'without end' : formatRatio(lostMicros * 100n, givenMicros, 'up', 4)
  throw tooFar(worse, allowed, context.caller.id)
}

interface ImpactContext {
  readonly services: {
    readonly settings: { readonly limits: { readonly maxPriceImpact: number } }
    readonly allowLists: Pick<Context['services']['allowLists'], 'maxPriceImpact'>
  }
  readonly caller: Pick<Context['caller'], 'id' | 'permissions'>
}

/**
 * How far below the market the worst outcome may be, in percent: the stricter of the server's and the client's own. Undefined: any distance, with the
 * permission thin and none of its own.
 */
export function allowedImpact({ services, caller }: ImpactContext): number | undefined {
  const own = services.allowLists.maxPriceImpact(caller.id)
  if (mayUseThin(caller)) return own
  const { maxPriceImpact } = services.settings.limits
  return own === undefined ? maxPriceImpact : Math.min(own, maxPriceImpact)
}

/** @throws SluiceError LIMIT_EXCEEDED where the client has a limit that only a market could tell */
function isCompared({ network, services, caller }: Context): boolean {
  if (services.market.isChecked(network)) return true
  if (services.allowLists.maxPriceImpact(caller.id) === undefined) return false
  throw new SluiceError(
    'LIMIT_EXCEEDED',
    'The client has a limits.maxPriceImpact in conf/clients.yml, and nothing is compared with the market on a local network without limits.onLocalNetworks: nothing was signed.',
    { details: { limit: 'maxPriceImpact', reason: 'no market' } },
  )
}

const whoDecides =
  'Or the operator decides: the stricter of the setting limits.maxPriceImpact and of limits.maxPriceImpact of the client in conf/clients.yml holds. With the permission thin only the latter does.'

const tooFar = (worse: string, allowed: number, client: string) =>
  new SluiceError(
    'LIMIT_EXCEEDED',
    `At worst this is ${worse} % below the market, and maxPriceImpact allows the client certificate "${client}" ${allowed} %: nothing was signed. Tighten limitPrice or allowedSlippage, trade less, or through deeper pools. ${whoDecides}`,
    { details: { limit: 'maxPriceImpact', allowedPercent: String(allowed), worstPercent: worse } },
  )

const mayUseThin = ({ permissions }: Pick<Context['caller'], 'permissions'>): boolean => permissions.has('thin')

function valued(exchanged: ExchangedAmounts, lostMicros: bigint, { network, services: { market } }: Context): Commitment {
  const coin = network.impl.nativeCurrency.address
  // As it is compared: what is given, and the coin of its fees, counts at most, and what comes at least, also where that is the coin.
  const [given, got] = [Object.keys(exchanged.gives), Object.keys(exchanged.gets)]
  const worst = (values: typeof market.valuesNow | typeof market.medianValues) => ({
    ...values(network, [coin], 'highX'),
    ...values(network, got, 'lowX'),
    ...values(network, given, 'highX'),
  })
  const [now, medianPrices] = [worst(market.valuesNow), worst(market.medianValues)]
  // By the price of now alone nothing is settled: that may be pushed.
  const prices = Object.fromEntries(Object.entries(now).filter(([token]) => token in medianPrices))
  return { ...exchanged, market: { lossMicros: lostMicros > 0n ? lostMicros : 0n, prices, medianPrices } }
}

/**
 * Holds the worst price of a perpetual against the exchange's index, and no other: what it is traded at, others can push. What it may lose is a part
 * of what is at stake: of the notional, or of what the account is worth where that is less.
 * @param worst quote per base, at most for a long, at least for a short
 * @param stake of an order that opens: what the account is worth, as a part of the notional
 * @throws SluiceError LIMIT_EXCEEDED
 */
export function requireNearIndex(
  {
    side,
    worst,
    index,
    stake = whole,
  }: { readonly side: 'LONG' | 'SHORT'; readonly worst: Fraction; readonly index: Fraction; readonly stake?: Fraction | undefined },
  context: Context,
): void {
  const allowed = allowedImpact(context)
  if (allowed === undefined || !isHeldToIndex(context)) return
  const isPart = stake.numerator < stake.denominator
  const { lost, staked } = lostAgainst(index, side, worst, isPart ? stake : whole)
  if (isWithin(lost, staked, allowed)) return
  const worse = staked > 0n ? formatRatio(lost * 100n, staked, 'up', 4) : 'more than 100'
  throw isPart ? tooMuchOfMargin(worse, allowed, context.caller.id) : tooFar(worse, allowed, context.caller.id)
}

/** Whether a close at this price would pass the check, also where the client is not held to it. */
export const closesNearIndex = (
  { side, worst, index }: { readonly side: 'LONG' | 'SHORT'; readonly worst: Fraction; readonly index: Fraction },
  context: Pick<Context, 'services' | 'caller'>,
): boolean => {
  const { lost, staked } = lostAgainst(index, side, worst, whole)
  return isWithin(lost, staked, allowedImpact(context) ?? context.services.settings.limits.maxPriceImpact)
}

function lostAgainst(index: Fraction, side: 'LONG' | 'SHORT', worst: Fraction, { numerator, denominator }: Fraction) {
  const [worstX, indexX] = [worst.numerator * index.denominator, index.numerator * worst.denominator]
  return { lost: (side === 'LONG' ? worstX - indexX : indexX - worstX) * denominator, staked: indexX * numerator }
}

/** @param allowed in percent */
const isWithin = (lost: bigint, staked: bigint, allowed: number): boolean =>
  lost <= 0n || (staked > 0n && lost * 100_000_000n <= staked * BigInt(Math.round(allowed * 1e6)))

const whole: Fraction = { numerator: 1n, denominator: 1n }

const tooMuchOfMargin = (worse: string, allowed: number, client: string) =>
  new SluiceError(
    'LIMIT_EXCEEDED',
    `At worst this loses ${worse} % of what the account is worth against the index, and maxPriceImpact allows the client certificate "${client}" ${allowed} %: nothing was signed. Tighten limitPrice or allowedSlippage, trade less, or deposit more. ${whoDecides}`,
    { details: { limit: 'maxPriceImpact', allowedPercent: String(allowed), worstPercent: worse } },
  )

/** The index is the exchange's: a client's own limit needs no market for it. */
export const isHeldToIndex = (context: Context): boolean =>
  allowedImpact(context) !== undefined &&
  (context.services.market.isChecked(context.network) || context.services.allowLists.maxPriceImpact(context.caller.id) !== undefined)

type NoMarket = Exclude<Comparison, { is: 'priced' }> | { readonly is: 'thin pool'; readonly pool: string }

const namesOf = (tokens: readonly string[], { tokens: book }: NetworkContext['network']): readonly string[] =>
  tokens.map((token) => book.listedAt(token)?.symbol ?? token)

function needsThin(why: NoMarket, { network, services, caller }: Context): SluiceError {
  const { marketDepth, referenceTokens, marketMinutes } = services.settings.limits
  const where = `${network.chain}/${network.network}`
  const needs = `Without a market this takes the permission thin, and no maxPriceImpact or maxDailyLoss in conf/clients.yml; the client certificate "${caller.id}" is held to a market: nothing was signed.`
  const depth = `a depth of ${marketDepth} ${referenceTokens[0]} (limits.marketDepth)`
  switch (why.is) {
    case 'too short': {
      const seconds = Math.ceil(why.leftMs / 1000)
      return new SluiceError(
        'FORBIDDEN',
        `The market of these tokens on ${where} has been read for less than ${marketMinutes / 4} minutes. ${needs} Send it again in ${seconds} s.`,
        { retryAfterSeconds: seconds, details: { reason: 'market too short', seconds } },
      )
    }
    case 'too new': {
      const seconds = Math.ceil(why.leftMs / 1000)
      const named = namesOf(why.tokens, network)
      return new SluiceError(
        'FORBIDDEN',
        `${named.join(', ')} ${named.length === 1 ? 'has' : 'have'} had a market on ${where} for less than a day, as far as Sluice has read it: whoever made it may be alone in it. ${needs} Or wait: it counts in ${seconds} s, if it has a market until then.`,
        { retryAfterSeconds: seconds, details: { reason: 'market too new', tokens: why.tokens, seconds } },
      )
    }
    case 'thin pool':
      return new SluiceError('FORBIDDEN', `The pool ${why.pool} on ${where} has not ${depth}. ${needs}`, {
        details: { reason: 'thin pool', pool: why.pool },
      })
    case 'no market': {
      if (services.market.referenceOf(network) === undefined)
        return new SluiceError(
          'FORBIDDEN',
          `There is no market on ${where}, as it lists none of the tokens that values are counted in (limits.referenceTokens: ${referenceTokens.join(', ')}). List one, or add one that it lists. ${needs}`,
          { details: { reason: 'no reference token', tokens: why.tokens } },
        )
      const named = namesOf(why.tokens, network)
      return new SluiceError(
        'FORBIDDEN',
        `${named.join(', ')} ${named.length === 1 ? 'has' : 'have'} no market on ${where}: that takes a listed token and two sources of built-in connectors that agree, pools, order books or their indexes, with ${depth}. ${needs}`,
        { details: { reason: 'no market', tokens: why.tokens } },
      )
    }
  }
}

// Which limits of a client a request has to keep, and how it is refused. Pure.
import { formatRaw, parseDecimal, rescale } from '../base/decimal.ts'
import { SluiceError } from '../base/errors.ts'
import type { AmountLimits, ClientLimits } from '../config/clients.ts'
import type { PlannedSpending, SpendingStep } from '../transactions/budgets.ts'
import type { Entry } from '../transactions/entry.ts'
import { strictest } from './server-limits.ts'
import { freesAt, usedIn, type Account, type Amounts, type Measure, type Window } from './account.ts'
import type { NetworkName } from '../base/networks.ts'

/** A listed token. */
export interface LimitedToken {
  readonly address: string
  readonly symbol: string
  readonly decimals: number
}

/** What the market says of what a request gives. */
export type GivenValue =
  | { readonly is: 'priced'; readonly micros: bigint }
  /** @param seconds until the market has been read for long enough, where that is all */
  | { readonly is: 'no market'; readonly seconds?: number }

export type DefaultLimit = 'maxFee' | 'maxDailyGas' | 'maxDailyLoss'

/** What bounds a client on one network. Amounts are decimal strings. */
export interface NetworkLimits extends Omit<ClientLimits, 'maxFee' | 'maxDailyGas'> {
  readonly maxFee?: string
  readonly maxDailyGas?: string
  /** Those that the client does not have of its own, by what they are shares of. */
  readonly defaults?: ReadonlyMap<DefaultLimit, DefaultBasis>
}

/** In the smallest units of the limit. */
export interface DefaultBasis {
  readonly percent: number
  readonly ofRaw: bigint
  readonly atLeastRaw?: bigint
}

/** Values of the reference token are in millionths of it. */
export const referenceDecimals = 6
/** Of `maxDailyGas`, one part of five is kept for what cancels or reduces. */
const gasShare = { ofTrades: 4n, ofAll: 5n }

export const gasMeasureOf = ({ chain, network }: NetworkName): Measure => `gas:${chain}/${network}`
export const tokenMeasureOf = ({ chain, network }: NetworkName, address: string): Measure => `token:${chain}/${network}/${address}`
export const isCancel = ({ kind }: Pick<Entry, 'kind'>): boolean => kind === 'cancel' || kind === 'fill' || kind === 'order-cancel'

/** An amount of a limit in smallest units: what is smaller is cut off. */
export const limitRaw = (amount: string, decimals: number): bigint => {
  const { digits, scale } = parseDecimal(amount)
  return rescale(digits, scale, decimals)
}

export const amountWindows = [
  ['perTransaction', undefined],
  ['perHour', 'hour'],
  ['perDay', 'day'],
] as const satisfies readonly (readonly [keyof AmountLimits, Window | undefined])[]

/** What a client may give of one token, by its address: those that the network lists. */
export type TokenLimits = ReadonlyMap<string, { readonly token: LimitedToken; readonly limits: AmountLimits }>

export function tokenLimitsOf(
  { tokens }: Pick<ClientLimits, 'tokens'>,
  on: NetworkName,
  tokenOf: (on: NetworkName, name: string) => LimitedToken | undefined,
): TokenLimits {
  const listed = tokens?.[`${on.chain}/${on.network}`] ?? noTokens
  const entries = Object.entries(listed).map(([name, limits]) => ({ limits, token: tokenOf(on, name) }))
  const known = madeTokens.get(listed)
  if (known?.of.every((token, index) => token === entries[index]?.token)) return known.made
  const found = new Map<string, { token: LimitedToken; limits: AmountLimits }>()
  for (const { limits, token } of entries) {
    const other = token && found.get(token.address)
    // By its symbol and by its address: the stricter of the two.
    if (token) found.set(token.address, { token, limits: other ? (strictest(other.limits, limits) as AmountLimits) : limits })
  }
  madeTokens.set(listed, { of: entries.map(({ token }) => token), made: found })
  return found
}

const noTokens: Readonly<Record<string, AmountLimits>> = {}
/** As they were made last: the same as long as their names stand for the same tokens. */
const madeTokens = new WeakMap<object, { readonly of: readonly (LimitedToken | undefined)[]; readonly made: TokenLimits }>()

/** What one request is held against. */
export interface LimitCheck {
  readonly spending: PlannedSpending
  readonly limits: NetworkLimits
  readonly tokens: TokenLimits
  /** The symbol of the reference token. */
  readonly reference: string
}

/** A token that has no limit is not given away. @throws SluiceError LIMIT_EXCEEDED */
export function requireListedTokens(
  { spending: { steps, commitment }, limits, tokens }: LimitCheck,
  tokenOf: (on: NetworkName, name: string) => LimitedToken | undefined,
): void {
  const [first] = steps
  if (!limits.tokens || !first) return
  const { chain, network } = first.entry
  const unlisted = Object.entries(commitment?.gives ?? {}).find(([token, raw]) => raw > 0n && !tokens.has(token))
  if (!unlisted) return
  const [address] = unlisted
  const symbol = tokenOf(first.entry, address)?.symbol ?? address
  throw new SluiceError(
    'LIMIT_EXCEEDED',
    `The client has limits by token, and none for ${symbol} on ${chain}/${network}, so it may give away none of it: nothing was signed. The operator writes one below limits.tokens["${chain}/${network}"] in conf/clients.yml.`,
    { details: { limit: 'tokens', token: symbol, left: '0' } },
  )
}

/** By value without a price is refused: nobody could say what is left. @throws SluiceError LIMIT_EXCEEDED */
export function requirePrices({ spending: { commitment }, limits }: LimitCheck, value: GivenValue | undefined): void {
  if (!commitment || Object.values(commitment.gives).every((raw) => raw === 0n)) return
  if (limits.maxDailyLoss !== undefined && commitment.gets && !commitment.market) throw withoutMarket('maxDailyLoss', 'may lose')
  if (limits.value && value?.is !== 'priced') throw withoutMarket('value', 'is worth', value?.seconds)
}

const withoutMarket = (limit: string, what: string, seconds?: number) =>
  new SluiceError(
    'LIMIT_EXCEEDED',
    seconds === undefined
      ? `The client has a limit ${limit}, and what this ${what} is not known: its tokens have no market now, or it is a local network without limits.onLocalNetworks. Nothing was signed.`
      : `The client has a limit ${limit}, and what this ${what} is not known yet: the market of its tokens has not been read for long enough. Nothing was signed. Send it again in ${seconds} s.`,
    { details: { limit, reason: 'no market' }, ...(seconds !== undefined && { retryAfterSeconds: seconds }) },
  )

/** @throws SluiceError LIMIT_EXCEEDED */
export function requireFees({ spending: { steps, coin }, limits: { maxFee, defaults } }: LimitCheck): void {
  if (maxFee === undefined) return
  const mostRaw = limitRaw(maxFee, coin.decimals)
  const over = steps.map(feeOf).find((feeRaw) => feeRaw > mostRaw)
  if (over === undefined) return
  throw new SluiceError(
    'LIMIT_EXCEEDED',
    `The transaction may cost ${formatRaw(over, coin.decimals)} ${coin.symbol} of fees, and maxFee of the client${defaultWord('maxFee', defaults)} allows ${maxFee}: nothing was signed. Wait for lower fees, or give lower ones; or the operator raises limits.maxFee in conf/clients.yml.`,
    { details: { limit: 'maxFee', allowed: maxFee, needed: formatRaw(over, coin.decimals) } },
  )
}

const defaultWord = (name: string, defaults: NetworkLimits['defaults']): string =>
  [...(defaults?.keys() ?? [])].some((each) => each === name) ? ' (a default)' : ''

const feeOf = ({ maxCostRaw, valueRaw }: Pick<SpendingStep, 'maxCostRaw' | 'valueRaw'>): bigint => maxCostRaw - valueRaw

/** A limit of what is counted. */
interface Limit {
  /** As in conf/clients.yml. */
  readonly name: string
  readonly measure: Measure
  /** Absent: of one request. */
  readonly window?: Window | undefined
  readonly mostRaw: bigint
  /** As it is set, where a part of it is for what cancels or reduces alone. */
  readonly wholeRaw?: bigint
  readonly decimals: number
  readonly unit: string
  /** Of a token: its symbol. */
  readonly token?: string
}

/** What a client's limits of a network are made of beside themselves. */
interface LimitTerms {
  readonly on: NetworkName
  readonly coin: PlannedSpending['coin']
  readonly tokens: TokenLimits
  readonly reference: string
  readonly cancels: boolean
  readonly reduces: boolean
  readonly closesNearIndex: boolean
}

/** As they were made last: a bot asks for the same ones again and again, until its file changes. */
const madeLists = new WeakMap<NetworkLimits, { readonly of: LimitTerms; readonly made: readonly Limit[] }>()

function limitsIn({ spending: { steps, coin, commitment }, limits, tokens, reference }: LimitCheck): readonly Limit[] {
  const [first] = steps
  if (!first) return []
  const terms: LimitTerms = {
    on: first.entry,
    coin,
    tokens,
    reference,
    cancels: steps.every(({ entry }) => isCancel(entry)),
    reduces: steps.every(({ entry }) => isCancel(entry) || entry.reduces === true),
    closesNearIndex: commitment?.closesNearIndex === true,
  }
  const known = madeLists.get(limits)
  if (known && isSameTerms(known.of, terms)) return known.made
  const made = listLimits(limits, terms)
  madeLists.set(limits, { of: { ...terms, on: { chain: first.entry.chain, network: first.entry.network } }, made })
  return made
}

const isSameTerms = (one: LimitTerms, other: LimitTerms): boolean =>
  one.on.chain === other.on.chain &&
  one.on.network === other.on.network &&
  one.coin.symbol === other.coin.symbol &&
  one.coin.decimals === other.coin.decimals &&
  one.tokens === other.tokens &&
  one.reference === other.reference &&
  one.cancels === other.cancels &&
  one.reduces === other.reduces &&
  one.closesNearIndex === other.closesNearIndex

function listLimits(
  limits: NetworkLimits,
  { on, coin, tokens, reference, cancels, reduces, closesNearIndex }: LimitTerms,
): readonly Limit[] {
  const { transactionsPerHour, maxDailyGas, maxDailyLoss, value } = limits
  const found: Limit[] = []
  // What reduces is bounded by its fees, where these are.
  if (transactionsPerHour !== undefined && !cancels && !(reduces && maxDailyGas !== undefined))
    found.push({
      name: 'transactionsPerHour',
      measure: 'count',
      window: 'hour',
      mostRaw: BigInt(transactionsPerHour),
      decimals: 0,
      unit: 'transactions',
    })
  if (maxDailyGas !== undefined) {
    const allRaw = limitRaw(maxDailyGas, coin.decimals)
    const mostRaw = reduces ? allRaw : (allRaw * gasShare.ofTrades) / gasShare.ofAll
    found.push({
      name: 'maxDailyGas',
      ...(!reduces && { wholeRaw: allRaw }),
      measure: gasMeasureOf(on),
      window: 'day',
      mostRaw,
      decimals: coin.decimals,
      unit: coin.symbol,
    })
  }
  if (cancels) return found
  const micros = { decimals: referenceDecimals, unit: reference }
  if (maxDailyLoss !== undefined && !(reduces && closesNearIndex))
    found.push({ name: 'maxDailyLoss', measure: 'loss', window: 'day', mostRaw: limitRaw(maxDailyLoss, referenceDecimals), ...micros })
  if (value) found.push(...amountLimits('value', value, { measure: 'value', ...micros }))
  for (const { token, limits: ofToken } of tokens.values()) {
    const { symbol, decimals, address } = token
    found.push(...amountLimits('tokens', ofToken, { measure: tokenMeasureOf(on, address), decimals, unit: symbol, token: symbol }))
  }
  return found
}

type LimitedMeasure = Omit<Limit, 'name' | 'window' | 'mostRaw'>

/** As they were made last: they are asked for twice by each request, and are the same until the file changes. */
const madeLimits = new WeakMap<AmountLimits, { readonly of: LimitedMeasure; readonly made: readonly Limit[] }>()

function amountLimits(name: 'value' | 'tokens', limits: AmountLimits, of: LimitedMeasure): readonly Limit[] {
  const known = madeLimits.get(limits)
  if (known && known.of.measure === of.measure && known.of.decimals === of.decimals && known.of.unit === of.unit) return known.made
  const made = amountWindows.flatMap(([key, window]) => {
    const amount = limits[key]
    return amount === undefined ? [] : [{ ...of, name: `${name}.${key}`, window, mostRaw: limitRaw(amount, of.decimals) }]
  })
  madeLimits.set(limits, { of, made })
  return made
}

interface Excess {
  readonly leftRaw: bigint
  readonly neededRaw: bigint
  /** Until there is room for it, where that is known. */
  readonly seconds?: number
}

interface RequestAmounts {
  /** What was spent and held. */
  readonly before: Account
  /** The same with the request. */
  readonly after: Account
  /** What the request by itself gives away, by measure. */
  readonly gives: Amounts
  readonly nowMs: number
}

/** By a limit that a request is over: the first that it never fits, or else the one that has room last, so that waiting for it is enough. */
export function refusalOf(check: LimitCheck, amounts: RequestAmounts): SluiceError | undefined {
  let last: { readonly limit: Limit; readonly excess: Excess } | undefined
  for (const limit of limitsIn(check)) {
    const excess = excessOf(limit, check.spending, amounts)
    if (!excess) continue
    if (excess.neededRaw > limit.mostRaw) return exceeded(limit, excess, check)
    if (!last || (excess.seconds ?? Infinity) > (last.excess.seconds ?? Infinity)) last = { limit, excess }
  }
  return last && exceeded(last.limit, last.excess, check)
}

function excessOf(
  { measure, window, mostRaw }: Limit,
  spending: PlannedSpending,
  { before, after, gives, nowMs }: RequestAmounts,
): Excess | undefined {
  if (window === undefined) {
    const neededRaw = gives[measure] ?? 0n
    return neededRaw > mostRaw ? { leftRaw: mostRaw, neededRaw } : undefined
  }
  const takenRaw = (after.open[measure] ?? 0n) - (before.open[measure] ?? 0n)
  const neededRaw = measure === 'loss' && takenRaw <= 0n && maySinkLater(spending) ? 1n : takenRaw
  // What was spent may be above a limit that was lowered: what takes no more of it goes through.
  if (neededRaw <= 0n) return undefined
  const usedRaw = usedIn(before, window, measure, nowMs)
  if (usedRaw + neededRaw <= mostRaw) return undefined
  const at = freesAt(after, window, measure, takenRaw < neededRaw ? mostRaw - neededRaw : mostRaw, nowMs)
  const leftRaw = mostRaw > usedRaw ? mostRaw - usedRaw : 0n
  return { leftRaw, neededRaw, ...(at !== undefined && { seconds: Math.ceil((at - nowMs) / 1000) }) }
}

/**
 * What closes a position is not refused for what it loses, nor is who takes an order later. So with nothing left of a limit of losses nothing is opened or
 * placed, also at a price that loses nothing.
 */
const maySinkLater = ({ commitment }: PlannedSpending): boolean =>
  commitment?.perpetual?.opens === true || commitment?.mayLoseLater === true

/** What is left of fees and losses is no amount that can be asked for. */
const askForAtMost = (name: string, left: string): string | undefined => {
  if (name.startsWith('tokens.') || name.startsWith('value.')) return `Ask for at most ${left}`
  return name === 'maxDailyLoss' || name === 'maxDailyGas' ? 'Ask for less' : undefined
}

function exceeded(
  { name, window, mostRaw, wholeRaw, decimals, unit, token }: Limit,
  { leftRaw, neededRaw, seconds }: Excess,
  { limits }: LimitCheck,
): SluiceError {
  const ofClient = `of the client${defaultWord(name, limits.defaults)}`
  const show = (raw: bigint) => `${formatRaw(raw, decimals)} ${raw === 1n && unit === 'transactions' ? 'transaction' : unit}`
  const share = wholeRaw === undefined ? '' : `, of which ${show(mostRaw)} are for what neither cancels nor reduces`
  const most = leftRaw > 0n ? askForAtMost(name, show(leftRaw)) : undefined
  const advice =
    neededRaw > mostRaw
      ? `${most ?? 'It is more than the whole limit'}.`
      : seconds !== undefined
        ? `${most === undefined ? 'So' : `${most}, or wait: so`} much is free in ${seconds} s.`
        : `${most === undefined ? '' : `${most}. `}More is not free at a moment that is known. What is open counts until it has ended, and what came of it then counts for a rolling ${window}.`
  return new SluiceError(
    'LIMIT_EXCEEDED',
    `${name} ${ofClient} is ${show(wholeRaw ?? mostRaw)} ${window === undefined ? 'in one request' : `in a rolling ${window}`}${share}.${window === undefined ? '' : ` What is left: ${show(leftRaw)}.`} This may take ${show(neededRaw)}. Nothing was signed. ${advice} Or the operator raises limits.${name} in conf/clients.yml.`,
    {
      details: {
        limit: name,
        ...(token !== undefined && { token }),
        left: formatRaw(leftRaw, decimals),
        ...(seconds !== undefined && neededRaw <= mostRaw && { freesAt: Date.now() + seconds * 1000 }),
      },
    },
  )
}

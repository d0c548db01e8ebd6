// Liquidity that is owned in shares of a pool: AMM_SHARES. Requests and answers have amounts in the order of the request's tokens, connectors in
// that of the pool.
import type { AMMSharesAddRequest, AMMSharesRemoveRequest } from '../../api/index.ts'
import type { At, Head, Json, SharesFill, SharesPool, SharesPosition, SharesTerms, Token } from '../../contracts/index.ts'
import { divideRaw, formatRatio, fromRaw, toFraction, toRaw } from '../../base/decimal.ts'
import { badFields, SluiceError } from '../../base/errors.ts'
import { pluginDefect } from '../../transactions/submit-request.ts'
import type { ConnectorContext, Handler, Handlers } from '../context.ts'
import { heldDeposit } from '../market-check.ts'
import { atMostLeaves, type OutcomeBounds } from '../outcome.ts'
import { readRaw } from '../read-fields.ts'
import { tradingOf } from '../../plugins/index.ts'
import { deadlineAfter, effectiveSlippage, slippageBound, tradeRules, type Slippage } from '../slippage.ts'
import type { Footprint } from '../../transactions/budgets.ts'
import { listedName, touchedPools, touchedTokens, touchedVenue } from '../touches.ts'
import type { NetworkEntry } from '../../plugins/index.ts'
import { readAddress, readWallet, submitAndShow, type SigningWallet } from '../wallets.ts'

const ammSharesPosition: Handler<'AMMSharesPosition'> = async (request, context) => {
  const owner = readAddress(context.network, request.address)
  const { head, pool, sharesRaw, amountsRaw, ordered } = await findPosition(request, owner, context)
  const valueRaw = valueOf(amountsRaw, pool, ordered)
  return {
    ...showPool(pool, ordered),
    owner,
    shares: fromRaw(sharesRaw, pool.shareDecimals),
    totalShares: fromRaw(pool.totalSharesRaw, pool.shareDecimals),
    poolShare: showPart(sharesRaw, pool.totalSharesRaw),
    amounts: showAmounts(ordered, amountsRaw),
    poolAmounts: showAmounts(ordered, pool.heldRaw),
    ...(valueRaw !== undefined && { value: fromRaw(valueRaw, ordered.tokens.at(-1)?.decimals ?? 0) }),
    blockNumber: Number(head.number),
  }
}

const ammSharesAdd: Handler<'AMMSharesAdd'> = async (request, context) => {
  const { venue, signal } = context
  const trading = tradingOf('AMM_SHARES', venue)
  const wallet = readWallet(request, context)
  // How much of a token leaves the wallet is not left to the plugin.
  if (venue.contained && request.amounts.length < request.tokens.length) {
    const problem = `must have one for each of the ${request.tokens.length} tokens with a connector that is neither built in nor trusted: the most that may leave the wallet. /amm/shares/position has the ratio that ${venue.connector} says the pool has`
    throw badFields([{ field: 'amounts', problem }])
  }
  const { head, pool, ordered } = await findPosition(request, wallet.address, context)
  const maxRaw = readMost(request, ordered.tokens)
  if (pool.prices.length === 0 && maxRaw.includes(undefined))
    throw badFields([
      { field: 'amounts', problem: 'must have one for each token here: the pool is empty, and what is added sets its price' },
    ])

  const offer = { pool, tokens: ordered.inPool(ordered.tokens), maxRaw: ordered.inPool(maxRaw) }
  const { amountsRaw, sharesRaw } = await trading.depositFor(offer, { signal })
  if (sharesRaw === 0n || amountsRaw.every((each) => each === 0n))
    throw badFields([{ field: 'amounts', problem: 'are too small for a share of this pool' }])
  const boundsShares = trading.boundsShares === true
  requirePriceThatCosts(pool, amountsRaw, request, { ordered, bound: boundsShares ? 'minShares' : 'minAmounts' })
  const { slippage, ...terms } = termsOf(request, { head, pool, ordered }, wallet, context)
  const leastWanted = leastOf(amountsRaw, slippage, request, ordered)
  // All of the amounts are taken.
  const minRaw = boundsShares ? amountsRaw : leastWanted
  const minSharesRaw = leastSharesOf(sharesRaw, slippage, request, { pool, boundsShares })
  const plan = await trading.addShares({ pool, amountsRaw, sharesRaw, minRaw, minSharesRaw }, terms)

  const paidRaw = ordered.inRequest(amountsRaw)
  const shown = {
    ...showPool(pool, ordered),
    amounts: showAmounts(ordered, amountsRaw),
    minAmounts: showAmounts(ordered, minRaw),
    shares: fromRaw(sharesRaw, pool.shareDecimals),
    ...(boundsShares && { minShares: fromRaw(minSharesRaw, pool.shareDecimals) }),
    poolShare: showPart(sharesRaw, pool.totalSharesRaw + sharesRaw),
    ...(plan.deadline !== undefined && { deadline: plan.deadline }),
  }
  const bounds = atMostLeaves(
    ordered.tokens.map(({ address }, index) => ({ token: address, amountRaw: paidRaw[index] ?? 0n, acceptedRaw: maxRaw[index] })),
  )
  const ofCoin = ordered.tokens.findIndex(({ native }) => native)
  const scope = { contracts: venue.contracts, valueRaw: paidRaw[ofCoin] ?? 0n, deadline: terms.deadline }
  const gives = Object.fromEntries(ordered.tokens.map(({ address }, index) => [address, paidRaw[index] ?? 0n]))
  const prices = Object.fromEntries(pool.tokens.flatMap((token, index) => (pool.prices[index] ? [[token, pool.prices[index]]] : [])))
  const leastGot = boundsShares ? heldBy(minSharesRaw, pool) : afterPush(gives, slippage)
  const commitment = heldDeposit(gives, { address: pool.address, prices, leastGot: [leastGot] }, context)
  const touches = () => touchesOf(pool, ordered, context, slippage)
  return submitAndShow(
    { plan, scope, bounds, kind: 'liquidity', touches, about: aboutShares(pool, ordered, context.network), commitment },
    shown,
    wallet,
    context,
  )
}

const ammSharesRemove: Handler<'AMMSharesRemove'> = async (request, context) => {
  const { venue, network } = context
  const trading = tradingOf('AMM_SHARES', venue)
  const wallet = readWallet(request, context)
  const { head, pool, ordered, sharesRaw: ownedRaw } = await findPosition(request, wallet.address, context)
  // What leaves the wallet is a token that the plugin names: only the caller can say that it is the right one.
  const named = request.pool === undefined ? undefined : readAddress(network, request.pool, 'pool')
  if (venue.contained && named !== network.impl.address(pool.shareToken)) {
    const problem = `is required with a connector that is neither built in nor trusted: the address of the token of the shares, which leaves the wallet. ${venue.connector} says it is ${pool.shareToken}: check that`
    throw badFields([{ field: 'pool', problem }])
  }
  if (venue.contained && request.decreasePercent !== undefined) await requireOwned(ownedRaw, wallet.address, pool, context)
  const sharesRaw = readShares(request, ownedRaw, pool)
  const returnedRaw = await trading.returnFor(pool, sharesRaw)
  if (returnedRaw.includes(0n)) {
    const field = request.shares === undefined ? 'decreasePercent' : 'shares'
    throw badFields([{ field, problem: 'is so little that the pool returns nothing of a token for it, and pools refuse that' }])
  }
  const { slippage, ...terms } = termsOf(request, { head, pool, ordered }, wallet, context)
  const minRaw = leastOf(returnedRaw, slippage, request, ordered)
  const plan = await trading.removeShares({ pool, sharesRaw, minRaw }, terms)

  const shown = {
    ...showPool(pool, ordered),
    shares: fromRaw(sharesRaw, pool.shareDecimals),
    amounts: showAmounts(ordered, returnedRaw),
    minAmounts: showAmounts(ordered, minRaw),
    ...(plan.deadline !== undefined && { deadline: plan.deadline }),
  }
  const least = ordered.inRequest(minRaw)
  const bounds: OutcomeBounds = new Map([
    ...atMostLeaves([{ token: pool.shareToken, amountRaw: sharesRaw }]),
    ...ordered.tokens.map(({ address }, index) => [address, { minRaw: least[index] ?? 0n }] as const),
  ])
  const scope = { contracts: venue.contracts, valueRaw: 0n, deadline: terms.deadline }
  const touches = () => touchesOf(pool, ordered, context)
  return submitAndShow(
    { plan, scope, bounds, kind: 'liquidity', touches, reduces: true, about: aboutShares(pool, ordered, context.network) },
    shown,
    wallet,
    context,
  )
}

/** By token, what shares are of what a pool holds, rounded down. */
const heldBy = (sharesRaw: bigint, { tokens, heldRaw, totalSharesRaw }: SharesPool): Readonly<Record<string, bigint>> =>
  totalSharesRaw === 0n
    ? {}
    : Object.fromEntries(tokens.map((token, index) => [token, ((heldRaw[index] ?? 0n) * sharesRaw) / totalSharesRaw]))

function touchesOf(
  { address }: SharesPool,
  { tokens }: OrderedTokens,
  { network, venue }: ConnectorContext,
  slippage?: Slippage,
): Footprint {
  const addresses = tokens.map((token) => token.address)
  return {
    action: 'shares',
    connectors: touchedVenue(venue),
    tokens: touchedTokens(addresses, network),
    pools: touchedPools([address], venue),
    ...(slippage && { slippage }),
  }
}

interface PositionAtBlock extends SharesPosition {
  readonly head: Head
  readonly ordered: OrderedTokens
}

/** The pool of all these tokens, and what a wallet has of it. @throws SluiceError PAIR_NOT_FOUND, INCOMPLETE_PARAMS */
async function findPosition(
  request: { tokens: readonly string[]; pool?: string },
  owner: string,
  { network, venue, signal }: ConnectorContext,
): Promise<PositionAtBlock> {
  const at = { signal }
  const trading = tradingOf('AMM_SHARES', venue)
  const tokens = await resolveTokens(request.tokens, network, at)
  const named = request.pool === undefined ? undefined : readAddress(network, request.pool, 'pool')
  const { head, positions } = await trading.sharePositions(tokens, owner, at)
  const isNamed = ({ pool }: SharesPosition) => [pool.address, pool.shareToken].some((each) => network.impl.address(each) === named)
  const [found, ...others] = named === undefined ? positions : positions.filter(isNamed)
  const symbols = tokens.map(({ symbol }) => symbol).join(' and ')
  if (!found) {
    const those = positions.map(({ pool }) => pool.address).join(', ')
    throw new SluiceError(
      'PAIR_NOT_FOUND',
      positions.length > 0
        ? `${request.pool} is not a pool of ${symbols} on ${venue.connector}; there is ${those}.`
        : `${venue.connector} has no pool with shares of ${symbols}, and none is created for them. Name all of a pool's tokens, or try another connector.`,
    )
  }
  if (others.length > 0) {
    const those = [found, ...others].map(({ pool }) => pool.address).join(', ')
    throw badFields([{ field: 'pool', problem: `is required: these tokens have several pools, ${those}` }])
  }
  return { head, ...found, ordered: orderIn(found.pool, tokens, venue.connector) }
}

async function resolveTokens(names: readonly string[], network: ConnectorContext['network'], at: At): Promise<readonly Token[]> {
  const tokens = await network.tokens.resolveAll(names, 'tokens', at)
  if (new Set(tokens.map(({ address }) => address)).size < tokens.length)
    throw badFields([{ field: 'tokens', problem: 'name the same token twice' }])
  return tokens
}

/** The tokens of a request, and where each is in the pool. */
interface OrderedTokens {
  readonly tokens: readonly Token[]
  /** For each token of the request, its place in the pool. */
  readonly places: readonly number[]
  inPool<T>(ofRequest: readonly T[]): readonly T[]
  inRequest<T>(ofPool: readonly T[]): readonly T[]
}

/** The pool has the wrapped form of the native coin, which is in the place that the others leave. */
function orderIn({ address, tokens: own }: SharesPool, tokens: readonly Token[], connector: string): OrderedTokens {
  const ofOthers = new Set(tokens.filter(({ native }) => !native).map((token) => own.indexOf(token.address)))
  const places = tokens.map((token) => (token.native ? own.findIndex((_, index) => !ofOthers.has(index)) : own.indexOf(token.address)))
  if (places.includes(-1) || new Set(places).size < own.length)
    throw pluginDefect(`The connector ${connector}`, `names ${address} as a pool of other tokens than it has`)
  return { tokens, places, ...ordersBy(places) }
}

const ordersBy = (places: readonly number[]): Pick<OrderedTokens, 'inPool' | 'inRequest'> => ({
  inPool: <T>(ofRequest: readonly T[]) => places.map((_, place) => ofRequest[places.indexOf(place)] as T),
  inRequest: <T>(ofPool: readonly T[]) => places.map((place) => ofPool[place] as T),
})

/** The most of each token, in the request's order. @throws SluiceError INCOMPLETE_PARAMS */
function readMost({ amounts }: Pick<AMMSharesAddRequest, 'amounts'>, tokens: readonly Token[]): readonly (bigint | undefined)[] {
  if (amounts.length !== 1) return readAmounts(amounts, tokens, 'amounts')
  return tokens.map((token, index) => (index === 0 ? readRaw(amounts[0] ?? '', token, 'amounts[0]') : undefined))
}

function readAmounts(amounts: readonly string[], tokens: readonly Token[], field: string): readonly bigint[] {
  if (amounts.length !== tokens.length)
    throw badFields([{ field, problem: `must have one for each of the ${tokens.length} tokens, and has ${amounts.length}` }])
  return tokens.map((token, index) => readRaw(amounts[index] ?? '', token, `${field}[${index}]`))
}

/**
 * The price of a pool that holds less than what is added costs little to set, and whoever sets it takes the difference from the deposit.
 * @throws SluiceError INCOMPLETE_PARAMS unless the request has bounds of its own
 */
function requirePriceThatCosts(
  pool: SharesPool,
  amountsRaw: readonly bigint[],
  request: Pick<AMMSharesAddRequest, 'minAmounts' | 'minShares'>,
  { ordered, bound }: { ordered: OrderedTokens; bound: 'minAmounts' | 'minShares' },
): void {
  if (request[bound] !== undefined || pool.prices.length === 0) return
  if (!amountsRaw.some((each, index) => each > (pool.reservesRaw[index] ?? 0n))) return
  const [held, added] = [pool.reservesRaw, amountsRaw].map((each) => showAmounts(ordered, each).join(' and '))
  const symbols = ordered.tokens.map(({ symbol }) => symbol).join(' and ')
  const problem = `is required here: the pool has ${held} of ${symbols}, and ${added} would be added${bound === 'minAmounts' ? ' at its ratio' : ''}. So little costs next to nothing to move, so the price is whatever somebody set: compare it with that of other exchanges, then name the least ${bound === 'minShares' ? 'shares' : 'of each token'}`
  throw badFields([{ field: bound, problem }])
}

/**
 * What is left of a deposit in a pool that keeps the product of its two amounts, where its price was moved by the slippage in that block and comes back: with
 * r = 1 - s that is 2√r / (1 + r) of it, more than 1 - s².
 */
const afterPush = (gives: Readonly<Record<string, bigint>>, { numerator, denominator }: Slippage): Readonly<Record<string, bigint>> =>
  Object.fromEntries(
    Object.entries(gives).map(([token, raw]) => [token, raw - divideRaw(raw * numerator * numerator, denominator * denominator, 'up')]),
  )

/**
 * The least shares: by the slippage, or the request's if that is more.
 * @throws SluiceError INCOMPLETE_PARAMS, TRADE_FAILED where the pool gives less already
 */
function leastSharesOf(
  expectedRaw: bigint,
  slippage: Slippage,
  { minShares }: Pick<AMMSharesAddRequest, 'minShares'>,
  { pool, boundsShares }: { pool: SharesPool; boundsShares: boolean },
): bigint {
  const bySlippage = leastWithin(expectedRaw, slippage)
  if (minShares === undefined) return bySlippage
  if (!boundsShares)
    throw badFields([{ field: 'minShares', problem: `cannot be enforced by the contracts of ${pool.version}: give minAmounts instead` }])
  const ownRaw = readSharesAmount(minShares, pool, 'minShares')
  if (ownRaw > expectedRaw)
    throw new SluiceError(
      'TRADE_FAILED',
      `The amounts give ${fromRaw(expectedRaw, pool.shareDecimals)} shares at this block, below minShares: nothing was sent. Lower minShares or wait.`,
      { details: { reason: 'below minShares' } },
    )
  return ownRaw > bySlippage ? ownRaw : bySlippage
}

function readSharesAmount(shares: string, { shareDecimals }: SharesPool, field: string): bigint {
  const raw = toRaw(shares, shareDecimals)
  if (raw === undefined) throw badFields([{ field, problem: `has more decimals than these shares (${shareDecimals})` }])
  return raw
}

/**
 * The least amounts, in the pool's order: by the slippage, or the request's if that is tighter.
 * @throws SluiceError TRADE_FAILED where the pool gives less already
 */
function leastOf(
  expectedRaw: readonly bigint[],
  slippage: Slippage,
  { minAmounts }: { minAmounts?: readonly string[] },
  ordered: OrderedTokens,
): readonly bigint[] {
  const bySlippage = expectedRaw.map((each) => leastWithin(each, slippage))
  if (minAmounts === undefined) return bySlippage
  const own = ordered.inPool(readAmounts(minAmounts, ordered.tokens, 'minAmounts'))
  if (own.some((each, index) => each > (expectedRaw[index] ?? 0n)))
    throw new SluiceError(
      'TRADE_FAILED',
      `The amounts are ${showAmounts(ordered, expectedRaw).join(' and ')} at this block, below minAmounts: nothing was sent. Lower minAmounts or wait.`,
      { details: { reason: 'below minAmounts' } },
    )
  return bySlippage.map((each, index) => (each > (own[index] ?? 0n) ? each : (own[index] ?? 0n)))
}

const leastWithin = (amountRaw: bigint, slippage: Slippage): bigint =>
  amountRaw === 0n ? 0n : slippageBound({ swap: { exact: 'in' }, amountRaw }, slippage)

/** @throws SluiceError INCOMPLETE_PARAMS, TRADE_FAILED if the wallet has none */
function readShares({ shares, decreasePercent }: AMMSharesRemoveRequest, ownedRaw: bigint, pool: SharesPool): bigint {
  if (shares !== undefined && decreasePercent !== undefined)
    throw badFields([{ field: 'shares', problem: 'is given beside decreasePercent: give one of the two' }])
  if (ownedRaw === 0n)
    throw new SluiceError('TRADE_FAILED', `The wallet has no shares of the pool ${pool.address}: there is nothing to remove.`, {
      details: { reason: 'no shares' },
    })
  const owned = fromRaw(ownedRaw, pool.shareDecimals)
  if (shares !== undefined) {
    const raw = readSharesAmount(shares, pool, 'shares')
    if (raw === 0n) throw badFields([{ field: 'shares', problem: 'must be more than 0' }])
    if (raw > ownedRaw) throw badFields([{ field: 'shares', problem: `is more than the wallet has: ${owned}` }])
    return raw
  }
  const { numerator, denominator } = toFraction(decreasePercent ?? '100')
  if (numerator === 0n || numerator > 100n * denominator)
    throw badFields([{ field: 'decreasePercent', problem: 'must be more than 0 and at most 100' }])
  const raw = divideRaw(ownedRaw * numerator, denominator * 100n, 'down')
  if (raw === 0n) throw badFields([{ field: 'decreasePercent', problem: `is less than the smallest unit of the wallet's ${owned} shares` }])
  return raw
}

/** A part of more shares than the wallet has would be another part of them. @throws SluiceError TRADE_FAILED */
async function requireOwned(
  ownedRaw: bigint,
  owner: string,
  { shareToken, shareDecimals: decimals }: SharesPool,
  { network, venue, signal }: ConnectorContext,
): Promise<void> {
  const [heldRaw] = await network.impl.balances(owner, [{ symbol: 'shares', address: shareToken, decimals }], { signal })
  if (heldRaw !== undefined && heldRaw >= ownedRaw) return
  const [told, held] = [ownedRaw, heldRaw ?? 0n].map((raw) => fromRaw(raw, decimals))
  throw new SluiceError(
    'TRADE_FAILED',
    `${venue.connector} says that the wallet has ${told} shares, and the token ${shareToken} says ${held}: nothing was sent. Give shares instead of decreasePercent.`,
    { details: { reason: 'other shares than the wallet has' } },
  )
}

function termsOf(
  { allowedSlippage }: { allowedSlippage?: string },
  { head, pool, ordered }: { head: Head; pool: SharesPool; ordered: OrderedTokens },
  { address }: SigningWallet,
  { network, venue: { config }, services }: ConnectorContext,
): SharesTerms & { slippage: Slippage } {
  return {
    owner: address,
    slippage: effectiveSlippage(config, [pool], allowedSlippage),
    deadline: deadlineAfter(head, tradeRules(config, [pool]).ttlSeconds, services.following.ageSeconds(network, head)),
    native: ordered.tokens.some(({ native }) => native),
  }
}

/** Of amounts of a pool in the request's last token, each rounded down. Undefined where the pool has no price. */
function valueOf(amountsRaw: readonly bigint[], { prices }: SharesPool, { places }: OrderedTokens): bigint | undefined {
  const ofLast = prices[places.at(-1) ?? 0]
  if (!ofLast) return undefined
  return amountsRaw.reduce((sum, amountRaw, index) => {
    const { numerator, denominator } = prices[index] ?? ofLast
    return sum + (amountRaw * numerator * ofLast.denominator) / (denominator * ofLast.numerator)
  }, 0n)
}

const showPool = ({ address, version, shareToken }: SharesPool, { tokens }: OrderedTokens) => ({
  pool: address,
  version,
  tokens: tokens.map((token) => token.address),
  shareToken,
})

/** @param amountsRaw in the pool's order */
const showAmounts = (ordered: OrderedTokens, amountsRaw: readonly bigint[]): string[] =>
  ordered.inRequest(amountsRaw).map((each, index) => fromRaw(each, ordered.tokens[index]?.decimals ?? 0))

const showPart = (sharesRaw: bigint, totalRaw: bigint): string => (totalRaw === 0n ? '0' : formatRatio(sharesRaw, totalRaw, 'down'))

/** What the journal keeps of a change, in `about`, to show its fill in the caller's order of the tokens. */
type AboutShares = {
  pool: string
  shareDecimals: number
  /** Of the request. */
  tokens: readonly string[]
  decimals: readonly number[]
  places: readonly number[]
  /** `listedName`: lists find it by them. */
  names: readonly string[]
}

const aboutShares = ({ address, shareDecimals }: SharesPool, { tokens, places }: OrderedTokens, network: NetworkEntry): Json => ({
  pool: address,
  shareDecimals,
  tokens: tokens.map((token) => token.address),
  decimals: tokens.map(({ decimals }) => decimals),
  places,
  names: tokens.map((token) => listedName(token, network)),
})

/** Whether a change of liquidity was one of shares. */
export const isAboutShares = (about: Json | undefined): boolean => typeof about === 'object' && about !== null && 'places' in about

/** @param about from `aboutShares`: this server wrote the journal */
export function showSharesFill({ sharesRaw, amountsRaw }: SharesFill, about: Json) {
  const { pool, shareDecimals, tokens, decimals, places } = about as AboutShares
  return {
    pool,
    shares: fromRaw(sharesRaw, shareDecimals),
    tokens: [...tokens],
    amounts: ordersBy(places)
      .inRequest(amountsRaw)
      .map((each, index) => fromRaw(each, decimals[index] ?? 0)),
  }
}

export const sharesHandlers = {
  AMMSharesAdd: ammSharesAdd,
  AMMSharesRemove: ammSharesRemove,
  AMMSharesPosition: ammSharesPosition,
} satisfies Partial<Handlers>

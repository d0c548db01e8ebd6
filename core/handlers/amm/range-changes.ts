import type { AMMLiquidityAddRequest, AMMLiquidityRemoveRequest } from '../../api/index.ts'
import type {
  AMMRange,
  At,
  Deposit,
  Head,
  Json,
  Plan,
  PriceRange,
  RangeAmounts,
  RangeFill,
  RangePool,
  RangePosition,
  RangePrice,
  RangeTerms,
  SlippageFraction,
} from '../../contracts/index.ts'
import type { MaybeAsync } from '../../contracts/plugin.ts'
import { fromRaw, toFraction, type Fraction } from '../../base/decimal.ts'
import { badFields, SluiceError, type FieldProblem } from '../../base/errors.ts'
import type { ConnectorContext, Handler, Handlers } from '../context.ts'
import { tradingOf, type VenueEntry } from '../../plugins/index.ts'
import { deadlineAfter, effectiveSlippage, tradeRules, type Slippage } from '../slippage.ts'
import { listedName, touchedPools, touchedTokens, touchedVenue } from '../touches.ts'
import type { NetworkEntry } from '../../plugins/index.ts'
import { submitAndShow, readWallet, type SigningWallet } from '../wallets.ts'
import { readRaw } from '../read-fields.ts'
import {
  findPoolToAddTo,
  isBelow,
  orderIn,
  readFee,
  readPair,
  reorder,
  showAddition,
  showBounds,
  toPoolPrice,
  type OrderedPair,
  type Pair,
} from './range-pools.ts'
import { findOwnPosition, orderOf } from './range-positions.ts'
import { isSameAddress } from '../../base/addresses.ts'
import type { Commitment } from '../../transactions/budgets.ts'
import { pluginDefect } from '../../transactions/submit-request.ts'
import { heldDeposit } from '../market-check.ts'
import { atMostLeaves, nothingLeaves, type OutcomeBounds } from '../outcome.ts'

const ammLiquidityAdd: Handler<'AMMLiquidityAdd'> = async (request, context) => {
  const { network, venue, signal } = context
  const range = tradingOf('AMM_RANGE', venue)
  const wallet = readWallet(request, context)
  const pair = await readPair(request, network, { signal })
  const [token0, token1] = pair
  const offered = readOffered(request, pair)
  const bounds = readBounds(request)

  const { head, pool, ticks, ordered, position } = await findTarget({ ...request, address: wallet.address }, pair, bounds, context)
  const tokenId = position?.tokenId
  const native = token0.native === true || token1.native === true
  const terms = termsOf({ head, pool, native, allowedSlippage: request.allowedSlippage }, wallet, context)
  const deposit = await depositIn({ pool, ticks, ordered }, offered, terms.slippage, range)
  const newAccounts = request.tokenId === undefined ? await newAccountsOf(range, wallet, context) : undefined
  const plan = await range.add(
    { pool, range: ticks, most: reorder(ordered, offered), tokenId, ...(position && { position }) },
    {
      ...terms,
      ...(newAccounts && { newAccounts: Object.keys(newAccounts) }),
    },
  )
  const valueRaw = token0.native ? offered.amount0Raw : token1.native ? offered.amount1Raw : 0n

  const expected = reorder(ordered, deposit)
  const shown = {
    ...showAddition(pool, ticks, ordered, expected),
    liquidity: deposit.liquidity.toString(),
    ...(tokenId !== undefined && { tokenId }),
    deadline: terms.deadline,
  }
  const most = atMostLeaves([
    { token: token0.address, amountRaw: offered.amount0Raw },
    { token: token1.address, amountRaw: offered.amount1Raw },
  ])
  const gives = { [token0.address]: offered.amount0Raw, [token1.address]: offered.amount1Raw }
  const prices = { [pool.token0]: pool.price, [pool.token1]: { numerator: 1n, denominator: 1n } }
  const [first, second] = ordered.reversed ? [token1, token0] : [token0, token1]
  const made = {
    tokens: [first.address, second.address],
    amounts: [deposit.amount0Raw, deposit.amount1Raw],
    liquidity: deposit.liquidity,
  } as const
  const leastGot = leastGotOf(deposit, offered, ordered)
  const commitment = heldDeposit(gives, { address: pool.address, prices, leastGot, ...(leastGot.length > 0 && { made }) }, context)
  return submitChange(
    { plan, pool, slippage: terms.slippage, ordered, shown, valueRaw, bounds: most, deadline: terms.deadline, commitment, newAccounts },
    wallet,
    context,
  )
}

/** By token, where the deposit is mined at either end of the slippage: what is left of the offered amounts, and what the position holds. */
function leastGotOf({ ends = [] }: Deposit, offered: RangeAmounts, ordered: OrderedPair): readonly Readonly<Record<string, bigint>>[] {
  const [token0, token1] = ordered.pair
  const leftOf = (offeredRaw: bigint, takenRaw: bigint) => (takenRaw < offeredRaw ? offeredRaw - takenRaw : 0n)
  return ends.map((end) => {
    const [takes, holds] = [reorder(ordered, end.takes), reorder(ordered, end.holds)]
    return {
      [token0.address]: leftOf(offered.amount0Raw, takes.amount0Raw) + holds.amount0Raw,
      [token1.address]: leftOf(offered.amount1Raw, takes.amount1Raw) + holds.amount1Raw,
    }
  })
}

/** What a new position is made of where it is an account of its own: the signer makes the keys. */
async function newAccountsOf(
  { newAccounts = 0 }: Pick<MaybeAsync<AMMRange>, 'newAccounts'>,
  { address }: SigningWallet,
  { network: { chain, network }, services }: ConnectorContext,
): Promise<Readonly<Record<string, string>> | undefined> {
  return newAccounts === 0 ? undefined : services.transactions.newAccounts({ chain, network, address }, newAccounts)
}

const ammLiquidityRemove: Handler<'AMMLiquidityRemove'> = async (request, context) => {
  const { network, venue, signal } = context
  const at = { signal }
  const range = tradingOf('AMM_RANGE', venue)
  const wallet = readWallet(request, context)
  const percent = readPercent(request)

  const { head, position } = await findOwnPosition({ ...request, address: wallet.address }, context, at)
  const { burn = false, native = false, allowedSlippage } = request
  if (!burn) requireNotEmpty(position)
  const liquidity = shareOf(position, percent)
  const terms = termsOf({ head, pool: position.pool, native, allowedSlippage }, wallet, context)
  const plan = await range.remove(position, { liquidity, burn }, terms)

  const ordered = await orderOf(position, network, at)
  const shown = { tokenId: position.tokenId, liquidity: liquidity.toString(), deadline: terms.deadline }
  const bounds = burn
    ? atMostLeaves([{ token: `${managerOfBurnt(range, position.pool.version, context)}/${position.tokenId}`, amountRaw: 1n }])
    : nothingLeaves
  return submitChange(
    { plan, pool: position.pool, ordered, shown, valueRaw: 0n, bounds, deadline: terms.deadline, reduces: true },
    wallet,
    context,
  )
}

/**
 * The contract whose token a burnt position is: that one token may leave the wallet. A contained plugin could name any contract of EIP-721, and
 * with it what the wallet has on another exchange.
 * @throws SluiceError UNKNOWN_ERROR: a defect of the plugin
 */
function managerOfBurnt(
  range: Pick<MaybeAsync<AMMRange>, 'positionManager' | 'positionManagers'>,
  version: string,
  { venue, network, services }: ConnectorContext,
): string {
  const { positionManagers = {} } = range
  const positionManager = (Object.hasOwn(positionManagers, version) ? positionManagers[version] : undefined) ?? range.positionManager
  if (!venue.contained) return positionManager
  const { impl, chain, network: name } = network
  const manager = impl.address(positionManager)
  const isAmong = (contracts: readonly string[]) => contracts.some((each) => impl.address(each) === manager)
  const defect = (why: string) =>
    pluginDefect(`The connector ${venue.connector}`, `names ${positionManager} as its position manager, which is ${why}`)
  if (manager === undefined || !isAmong(venue.contracts)) throw defect('not among its contracts')
  const other = services.registry.venuesOn(chain, name).find(({ builtIn, contracts }) => builtIn && isAmong(contracts))
  if (other) throw defect(`a contract of ${other.connector}: burn the position there`)
  return manager
}

const ammLiquidityCollectFees: Handler<'AMMLiquidityCollectFees'> = async (request, context) => {
  const { network, venue, signal } = context
  const at = { signal }
  const range = tradingOf('AMM_RANGE', venue)
  const wallet = readWallet(request, context)

  const { head, position } = await findOwnPosition({ ...request, address: wallet.address }, context, at)
  requireNotEmpty(position)
  const { pool, unclaimed, tokenId } = position
  const terms = termsOf({ head, pool, native: request.native ?? false }, wallet, context)
  const plan = await range.collect(position, terms)

  const ordered = await orderOf(position, network, at)
  const [token0, token1] = ordered.pair
  const shown = {
    tokenId,
    unclaimedToken0: fromRaw(unclaimed.amount0Raw, token0.decimals),
    unclaimedToken1: fromRaw(unclaimed.amount1Raw, token1.decimals),
  }
  return submitChange(
    { plan, pool, ordered, shown, valueRaw: 0n, bounds: nothingLeaves, deadline: terms.deadline, reduces: true },
    wallet,
    context,
  )
}

function termsOf(
  { head, pool, native, allowedSlippage }: { head: Head; pool: RangePool; native: boolean; allowedSlippage?: string },
  { address }: SigningWallet,
  { network, venue: { config }, services }: ConnectorContext,
): RangeTerms {
  const slippage = effectiveSlippage(config, [pool], allowedSlippage)
  return {
    owner: address,
    slippage,
    deadline: deadlineAfter(head, tradeRules(config, [pool]).ttlSeconds, services.following.ageSeconds(network, head)),
    native,
    listed: [pool.token0, pool.token1].filter((token) => network.tokens.listedAt(token)),
  }
}

interface Change<S> {
  plan: Plan
  pool: RangePool
  slippage?: Slippage
  ordered: OrderedPair
  shown: S
  /** Of the native coin, at most. */
  valueRaw: bigint
  bounds: OutcomeBounds
  /** Of the terms. */
  deadline: number
  commitment?: Commitment
  /** Liquidity leaves the pool, and none enters it. */
  reduces?: true
  /** That sign too, by address. */
  newAccounts?: Readonly<Record<string, string>> | undefined
}

const submitChange = <S extends object>(
  { plan, pool, slippage, ordered, shown, valueRaw, bounds, deadline, commitment, reduces, newAccounts }: Change<S>,
  wallet: SigningWallet,
  context: ConnectorContext,
) =>
  submitAndShow(
    {
      plan,
      scope: { contracts: context.venue.contracts, valueRaw, deadline },
      bounds,
      kind: 'liquidity',
      touches: () => ({
        action: 'liquidity',
        connectors: touchedVenue(context.venue),
        tokens: touchedTokens(
          ordered.pair.map(({ address }) => address),
          context.network,
        ),
        pools: touchedPools([pool.address], context.venue),
        ...(slippage && { slippage }),
      }),
      reduces,
      about: aboutLiquidity(ordered, context.network),
      ...(commitment && { commitment }),
      ...(newAccounts && { newAccounts }),
    },
    shown,
    wallet,
    context,
  )

/** Where liquidity is added: a range of a pool, or an existing position. */
interface AddTarget {
  head: Head
  pool: RangePool
  ticks: PriceRange
  ordered: OrderedPair
  /** The existing one. */
  position: RangePosition | undefined
}

async function findTarget(
  { fee, pool: named, tokenId, version, address }: Pick<AMMLiquidityAddRequest, 'fee' | 'pool' | 'tokenId' | 'version' | 'address'>,
  pair: Pair,
  bounds: Bounds | undefined,
  { venue, network, services, signal }: ConnectorContext,
): Promise<AddTarget> {
  const at = { signal }
  const range = tradingOf('AMM_RANGE', venue)
  if (tokenId === undefined) {
    if (!bounds) {
      const problem = 'is required: a decimal string such as "1.5" (both bounds may be left out only with tokenId)'
      throw badFields([
        { field: 'lowerPrice', problem },
        { field: 'upperPrice', problem },
      ])
    }
    const { head, pool } = await findPoolToAddTo(pair, { fee, version, pool: named }, venue, at)
    const ordered = orderIn(pool, pair)
    return { head, pool, ordered, ticks: await rangeIn(pool, bounds, ordered, range), position: undefined }
  }

  const { head, position } = await findOwnPosition({ tokenId, version, address }, { network, venue, services }, at)
  const { pool } = position
  if (named !== undefined && !isSameAddress(named, pool.address))
    throw badFields([{ field: 'pool', problem: `is ${pool.address} for the position ${position.tokenId}: leave it out` }])
  if (!(await isPoolOf(pool, pair, venue, at))) {
    const problem = `the position ${position.tokenId} has the tokens ${pool.token0} and ${pool.token1}: give those`
    throw badFields([
      { field: 'token0', problem },
      { field: 'token1', problem },
    ])
  }
  if ((readFee(fee, range.feeTiers, venue.connector) ?? pool.fee) !== pool.fee)
    throw badFields([{ field: 'fee', problem: `is ${pool.fee} for the position ${position.tokenId}: leave it out` }])
  const ordered = orderIn(pool, pair)
  if (bounds) requireSameRange(await rangeIn(pool, bounds, ordered, range), position, ordered)
  return { head, pool, ordered, ticks: position, position }
}

/** Whether a pool has these tokens. The exchange knows which token stands for the native coin. */
async function isPoolOf(pool: RangePool, pair: Pair, venue: VenueEntry, at: At): Promise<boolean> {
  const own = [pool.token0, pool.token1]
  if (pair.every(({ address }) => own.includes(address))) return true
  if (!pair.some(({ native }) => native)) return false
  if (!pair.some(({ address }) => own.includes(address))) return false
  const { pools } = await tradingOf('AMM_RANGE', venue).rangePools(pair, { fee: pool.fee, version: pool.version }, at)
  return pools.some(({ address }) => address === pool.address)
}

/** The largest amounts to add, in the caller's order. @throws SluiceError INCOMPLETE_PARAMS */
function readOffered(request: { amount0: string; amount1: string }, [token0, token1]: Pair): RangeAmounts {
  const offered = { amount0Raw: readRaw(request.amount0, token0, 'amount0'), amount1Raw: readRaw(request.amount1, token1, 'amount1') }
  if (offered.amount0Raw > 0n || offered.amount1Raw > 0n) return offered
  const problem = 'must be more than 0, or the other amount must be'
  throw badFields([
    { field: 'amount0', problem },
    { field: 'amount1', problem },
  ])
}

/**
 * The deposit of at most the offered amounts, in the pool's order.
 * @param offered in the caller's order
 * @throws SluiceError INCOMPLETE_PARAMS if the range needs a token that is not offered, or the amounts are too small for any liquidity
 */
export async function depositIn(
  { pool, ticks, ordered }: Pick<AddTarget, 'pool' | 'ticks' | 'ordered'>,
  offered: RangeAmounts,
  slippage: SlippageFraction,
  range: MaybeAsync<AMMRange>,
): Promise<Deposit> {
  // As LiquidityAmounts.getLiquidityForAmounts of @uniswap/v3-periphery: on a bound, only one token is needed.
  const isNeeded = [isBelow(pool.price, ticks.upperPrice), isBelow(ticks.lowerPrice, pool.price)]
  if (ordered.reversed) isNeeded.reverse()
  const amounts = [offered.amount0Raw, offered.amount1Raw]
  for (const side of [0, 1]) {
    if (!isNeeded[side] || amounts[side] !== 0n) continue
    const why = isNeeded[1 - side]
      ? 'the current price is inside the range, which needs both tokens'
      : `the current price is outside the range, which needs ${ordered.pair[side]?.symbol} only`
    throw badFields([{ field: `amount${side}`, problem: `must be more than 0: ${why}` }])
  }
  const deposit = await range.deposit(pool, ticks, reorder(ordered, offered), slippage)
  if (deposit.liquidity > 0n) return deposit
  throw badFields([{ field: `amount${isNeeded[0] ? 0 : 1}`, problem: 'is too small for any liquidity in this range' }])
}

/** The prices of a request, in the caller's order. */
interface Bounds {
  lowerPrice: string
  upperPrice: string
}

/** Bounds that are valid for any pool. @throws SluiceError INCOMPLETE_PARAMS */
export function readBounds({ lowerPrice, upperPrice }: Partial<Bounds>): Bounds | undefined {
  if (lowerPrice === undefined && upperPrice === undefined) return undefined
  if (lowerPrice === undefined) throw badFields([{ field: 'lowerPrice', problem: 'is required with upperPrice' }])
  if (upperPrice === undefined) throw badFields([{ field: 'upperPrice', problem: 'is required with lowerPrice' }])
  const [lower, upper] = [toFraction(lowerPrice), toFraction(upperPrice)]
  const zero: FieldProblem = { field: 'lowerPrice', problem: 'must be more than 0: a range has no bound at 0' }
  if (upper.numerator === 0n) throw badFields([{ ...zero, field: 'upperPrice' }])
  if (lower.numerator === 0n) throw badFields([zero])
  if (isBelow(lower, upper)) return { lowerPrice, upperPrice }
  const problem = isBelow(upper, lower)
    ? 'is above upperPrice: swap the two. Prices are token1 per token0 in your order of the tokens; in the other order they are inverted'
    : 'is the same as upperPrice: a range needs two bounds'
  throw badFields([{ field: 'lowerPrice', problem }])
}

/** The narrowest range of the pool around the bounds. @throws SluiceError INCOMPLETE_PARAMS if there is none */
export async function rangeIn(
  pool: RangePool,
  { lowerPrice, upperPrice }: Bounds,
  ordered: OrderedPair,
  range: MaybeAsync<AMMRange>,
): Promise<PriceRange> {
  const [lower, upper] = [toPoolPrice(lowerPrice, ordered), toPoolPrice(upperPrice, ordered)]
  const found = await (ordered.reversed ? range.rangeAround(pool, upper, lower) : range.rangeAround(pool, lower, upper))
  if (found) return found
  const problem = "is beyond the pool's range of prices: move it towards the current price"
  const beyond = [
    ...((await isBeyond(lower, pool, range)) ? ['lowerPrice'] : []),
    ...((await isBeyond(upper, pool, range)) ? ['upperPrice'] : []),
  ]
  const [first = 'lowerPrice', ...rest] = beyond
  throw badFields([{ field: first, problem }, ...rest.map((field) => ({ field, problem }))])
}

/** Whether the pool has no range from its price to this one. */
async function isBeyond(price: RangePrice, pool: RangePool, range: MaybeAsync<AMMRange>): Promise<boolean> {
  const [lower, upper] = isBelow(price, pool.price) ? [price, pool.price] : [pool.price, price]
  return isBelow(lower, upper) && (await range.rangeAround(pool, lower, upper)) === undefined
}

/** @throws SluiceError INCOMPLETE_PARAMS if the bounds given for an existing position are not its own */
function requireSameRange(given: PriceRange, own: PriceRange, ordered: OrderedPair): void {
  if (isSamePrice(given.lowerPrice, own.lowerPrice) && isSamePrice(given.upperPrice, own.upperPrice)) return
  const { lowerPrice, upperPrice } = showBounds(own, ordered)
  const problem = `the position's range is ${lowerPrice} to ${upperPrice}: leave both bounds out, or create a new position`
  throw badFields([{ field: 'lowerPrice', problem }])
}

const isSamePrice = (one: RangePrice, other: RangePrice) => one.numerator * other.denominator === other.numerator * one.denominator

/** @throws SluiceError INCOMPLETE_PARAMS unless it is more than 0 and at most 100, and 100 with `burn` */
function readPercent({ decreasePercent = '100', burn }: AMMLiquidityRemoveRequest): Fraction {
  const percent = toFraction(decreasePercent)
  const { numerator, denominator } = percent
  if (numerator === 0n)
    throw badFields([{ field: 'decreasePercent', problem: 'must be more than 0; /amm/liquidity/collect_fees collects the fees alone' }])
  if (numerator > 100n * denominator) throw badFields([{ field: 'decreasePercent', problem: 'must be at most 100' }])
  if (burn && numerator < 100n * denominator)
    throw badFields([{ field: 'burn', problem: 'only an empty position can be burnt: leave out decreasePercent, or burn' }])
  return percent
}

/** That share of a position's liquidity, rounded down. */
function shareOf({ liquidity, tokenId }: RangePosition, { numerator, denominator }: Fraction): bigint {
  const share = (liquidity * numerator) / (denominator * 100n)
  if (share > 0n || numerator === 100n * denominator) return share
  if (liquidity === 0n)
    throw new SluiceError('TRADE_FAILED', `The position ${tokenId} is empty: there is no liquidity to remove.`, {
      details: { reason: 'no liquidity' },
    })
  throw badFields([{ field: 'decreasePercent', problem: `is less than one unit of the position's liquidity of ${liquidity}` }])
}

/** An empty position earns no fees either, so a change would only burn gas. @throws SluiceError TRADE_FAILED */
function requireNotEmpty({ tokenId, liquidity, unclaimed }: RangePosition): void {
  if (liquidity > 0n || unclaimed.amount0Raw > 0n || unclaimed.amount1Raw > 0n) return
  throw new SluiceError(
    'TRADE_FAILED',
    `The position ${tokenId} holds no liquidity and no fees. /amm/liquidity/remove with burn: true removes the position itself.`,
    { details: { reason: 'the position is empty' } },
  )
}

/** What the journal keeps of a change, in `about`, to show its fill in the caller's order of the tokens. */
type AboutLiquidity = {
  reversed: boolean
  decimals: readonly [number, number]
  /** `listedName`: lists find it by them. */
  names: readonly [string, string]
}

const aboutLiquidity = ({ pair: [token0, token1], reversed }: OrderedPair, network: NetworkEntry): AboutLiquidity => ({
  reversed,
  decimals: [token0.decimals, token1.decimals],
  names: [listedName(token0, network), listedName(token1, network)],
})

/** @param about from `aboutLiquidity`: this server wrote the journal, and the entry's `kind` tells which `about` it has */
export function showLiquidityFill(fill: RangeFill, about: Json) {
  const { reversed, decimals } = about as AboutLiquidity
  const { amount0Raw, amount1Raw } = reorder({ reversed }, fill)
  const fees = fill.fees && reorder({ reversed }, fill.fees)
  return {
    tokenId: fill.tokenId,
    liquidity: fill.liquidity.toString(),
    amount0: fromRaw(amount0Raw, decimals[0]),
    amount1: fromRaw(amount1Raw, decimals[1]),
    ...(fees && { fees0: fromRaw(fees.amount0Raw, decimals[0]), fees1: fromRaw(fees.amount1Raw, decimals[1]) }),
  }
}

export const rangeChangeHandlers = {
  AMMLiquidityAdd: ammLiquidityAdd,
  AMMLiquidityRemove: ammLiquidityRemove,
  AMMLiquidityCollectFees: ammLiquidityCollectFees,
} satisfies Partial<Handlers>

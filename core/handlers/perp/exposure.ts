// What a wallet has open in perpetuals, read before its orders: for clients with limits of that. The limits themselves are held where the orders are reserved.
import { addressKey } from '../../base/addresses.ts'
import { abs, divideRaw, max, multiply, parseDecimal, rescale, subtract, toFraction } from '../../base/decimal.ts'
import type { At, BookAction, PerpAccount, PerpCLOB, PerpPosition, PerpQuote, Token } from '../../contracts/index.ts'
import { limitsExposure, maxLeverageOf, type PerpetualTurn } from '../../limits/perpetual-limits.ts'
import { tradingOf } from '../../plugins/index.ts'
import type { PerpetualExposure } from '../../transactions/budgets.ts'
import type { ConnectorContext } from '../context.ts'
import { notionalAt } from './figures.ts'
import { isReference } from './losses.ts'
import { accountWorthRaw, notRead, readPositions, readProfits, worthOf } from './worth.ts'

const decimals = 6

/** An account, and the turn of a request in it. */
export type ExposureTurn = Pick<PerpetualExposure, 'account'> & PerpetualTurn

/**
 * Does the work of one request in its turn, so that it reads what the requests before it have left. Without limits of what may be open it is done at
 * once, and gets undefined.
 */
export async function inTurn<T>(
  address: string,
  context: ConnectorContext,
  work: (turn: ExposureTurn | undefined) => Promise<T>,
): Promise<T> {
  const { caller, network, venue, services } = context
  if (!limitsExposure(services.limitsOn(caller.id, network))) return work(undefined)
  const account = `${network.chain}/${network.network}/${venue.connector}/${addressKey(address)}`
  return services.perpetuals.take({ client: caller.id, account }, async (turn) => work({ account, ...turn }))
}

/** Before orders of a book; undefined where none of them may open anything. */
export async function bookExposure(
  turn: ExposureTurn,
  actions: Iterable<BookAction>,
  owner: string,
  { venue, signal }: ConnectorContext,
): Promise<PerpetualExposure | undefined> {
  const opening = [...actions].filter((action) => action.do === 'create').filter(({ order }) => order.reduceOnly !== true)
  if (opening.length === 0) return undefined
  const at = { signal }
  const perp = tradingOf('PERP_CLOB', venue)
  const marks = [...new Map(opening.map(({ market }) => [market.id, market])).values()].map(async (market) =>
    perp.prices(market, at).then(({ markPrice }) => [market.id, markPrice] as const),
  )
  const [account, ofMarkets] = await Promise.all([readBookAccount(perp, owner, at), Promise.all(marks)])
  const markOf = new Map(ofMarkets)
  // A sale below the mark opens a position that counts at the mark.
  const notionalMicros = opening.reduce(
    (total, { market, order: { price, amount } }) => total + microsUp(multiply(max(price, markOf.get(market.id) ?? price), amount)),
    0n,
  )
  return { ...turn, ...account, addedMicros: notionalMicros, opens: true, notionalMicros }
}

type AccountExposure = Pick<PerpetualExposure, 'valueMicros' | 'openMicros'>

async function readBookAccount(perp: Pick<PerpCLOB, 'account' | 'positions' | 'orders'>, owner: string, at: At): Promise<AccountExposure> {
  // Orders first: one that is filled meanwhile counts twice then. The other way round it would be in neither answer, and whoever takes it chooses the moment.
  const [orders, profits] = await Promise.all([perp.orders(owner, {}, at), readProfits(perp, owner, at)])
  const { notional, worth } = worthOf(await perp.account(owner, at), profits)
  const open = orders.filter(
    ({ state }) => state === 'OPEN' || state === 'PARTIALLY_FILLED' || state === 'PENDING_OPEN' || state === 'PENDING_CANCEL',
  )
  const openMicros = open.reduce(
    (total, { price, amount, filledAmount, leftAmount = subtract(amount, filledAmount) }) => total + microsUp(multiply(price, leftAmount)),
    microsUp(notional),
  )
  return { valueMicros: microsDown(worth), openMicros }
}

/**
 * Before collateral is withdrawn from an account of a book, or from one that shares its balances with that.
 * @param withdrawal its amount in tokens. What is withdrawn in another token than dollars counts as all that the account is worth
 */
export async function bookWithdrawal(
  turn: ExposureTurn,
  { type, symbol, amount }: { readonly type: 'CLOB' | 'PERP_CLOB'; readonly symbol: string; readonly amount: string },
  owner: string,
  context: ConnectorContext,
): Promise<PerpetualExposure | undefined> {
  const { venue, signal } = context
  const { CLOB, PERP_CLOB } = venue.impl
  if (!PERP_CLOB || maxLeverageIn(context) === undefined) return undefined
  if (type === 'CLOB' && (await CLOB?.sharesMargin?.(owner, { signal })) !== true) return undefined
  const account = await readBookAccount(tradingOf('PERP_CLOB', venue), owner, { signal })
  const takenMicros = isReference(symbol, context.services) ? microsUp(amount) : account.valueMicros
  return withdrawalExposure(turn, account, takenMicros, context)
}

/** Before collateral is withdrawn from an account on the chain. What is withdrawn in another token than that of settlement counts as all that it is worth. */
export async function collateralWithdrawal(
  turn: ExposureTurn,
  { token, amountRaw }: { token: Token; amountRaw: bigint },
  owner: string,
  context: ConnectorContext,
): Promise<PerpetualExposure | undefined> {
  if (maxLeverageIn(context) === undefined) return undefined
  const perp = tradingOf('PERP_AMM', context.venue)
  const at = { signal: context.signal }
  // Positions before the account, as those of a book.
  const [{ settlement }, positions] = await Promise.all([perp.listMarkets(at), readPositions(perp, owner, at)])
  const { account } = await perp.account(owner, at)
  const { valueRaw = 0n, collateralRaw = 0n, notionalRaw, decimals: unit } = account
  if (notionalRaw === undefined) throw notRead()
  const worthRaw = accountWorthRaw({ valueRaw, collateralRaw, decimals: unit }, positions)
  const valueMicros = worthRaw > 0n ? rescale(worthRaw, unit, decimals) : 0n
  const takenMicros = token.address === settlement.address ? rescaleUp(amountRaw, token.decimals) : valueMicros
  return withdrawalExposure(turn, { valueMicros, openMicros: rescaleUp(notionalRaw, unit) }, takenMicros, context)
}

const maxLeverageIn = ({ caller, network, services }: ConnectorContext): string | undefined =>
  maxLeverageOf(services.limitsOn(caller.id, network) ?? {})

/** The leverage of the account is held after it, as after an order. */
function withdrawalExposure(
  turn: ExposureTurn,
  { valueMicros, openMicros }: AccountExposure,
  takenMicros: bigint,
  context: ConnectorContext,
): PerpetualExposure {
  const { numerator, denominator } = toFraction(maxLeverageIn(context) ?? '0')
  return {
    ...turn,
    valueMicros: valueMicros > takenMicros ? valueMicros - takenMicros : 0n,
    openMicros,
    addedMicros: 0n,
    // Orders that read the account before the exchange shows the withdrawal have as much less.
    notionalMicros: divideRaw(takenMicros * numerator, denominator, 'up'),
    withdraws: true,
  }
}

/** Before an order that is filled at once. @param positions all of the account @param boundRaw the most or the least of the quote that it takes or gives */
export function quoteExposure(
  turn: ExposureTurn,
  { order: { side, sizeRaw }, market, prices: { mark } }: PerpQuote,
  {
    account,
    position,
    positions,
    boundRaw,
  }: { account: PerpAccount; position: PerpPosition; positions: readonly PerpPosition[]; boundRaw: bigint },
): PerpetualExposure {
  const afterRaw = position.sizeRaw + (side === 'LONG' ? sizeRaw : -sizeRaw)
  const stakeRaw = accountWorthRaw(account, positions)
  const grownRaw = abs(afterRaw) - abs(position.sizeRaw)
  const isFlipped = afterRaw !== 0n && afterRaw > 0n !== position.sizeRaw > 0n
  const atMarkRaw = notionalAt(market, sizeRaw, mark) + 1n
  const notionalMicros = rescaleUp(boundRaw > atMarkRaw ? boundRaw : atMarkRaw, market.quoteDecimals)
  return {
    ...turn,
    valueMicros: stakeRaw > 0n ? rescale(stakeRaw, account.decimals, decimals) : 0n,
    openMicros: rescaleUp(account.notionalRaw, account.decimals),
    addedMicros: grownRaw > 0n ? divideRaw(notionalMicros * grownRaw, sizeRaw, 'up') : 0n,
    ...((grownRaw > 0n || isFlipped) && { opens: true as const }),
    notionalMicros,
  }
}

const rescaleUp = (raw: bigint, from: number): bigint =>
  from > decimals ? divideRaw(raw, 10n ** BigInt(from - decimals), 'up') : rescale(raw, from, decimals)

function microsUp(text: string): bigint {
  const { digits, scale } = parseDecimal(text)
  return divideRaw(digits * 10n ** BigInt(decimals), 10n ** BigInt(scale), 'up')
}

/** Of what is below 0: 0. */
function microsDown(text: string): bigint {
  const { digits, scale } = parseDecimal(text)
  return digits > 0n ? (digits * 10n ** BigInt(decimals)) / 10n ** BigInt(scale) : 0n
}

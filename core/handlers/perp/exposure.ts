// What a wallet has open in perpetuals, read before its orders: for clients with limits of that. The limits themselves are held where the orders are reserved.
import { addressKey } from '../../base/addresses.ts'
import { abs, divideRaw, max, multiply, parseDecimal, rescale, subtract } from '../../base/decimal.ts'
import type { BookAction, PerpAccount, PerpPosition, PerpQuote } from '../../contracts/index.ts'
import { limitsExposure, type PerpetualTurn } from '../../limits/perpetual-limits.ts'
import { tradingOf } from '../../plugins/index.ts'
import type { PerpetualExposure } from '../../transactions/budgets.ts'
import type { ConnectorContext } from '../context.ts'
import { notionalAt } from './figures.ts'
import { accountWorth, accountWorthRaw } from './losses.ts'

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
  const [{ notional, ...account }, orders, ofMarkets] = await Promise.all([
    perp.account(owner, at),
    perp.orders(owner, {}, at),
    Promise.all(marks),
  ])
  const markOf = new Map(ofMarkets)
  const open = orders.filter(
    ({ state }) => state === 'OPEN' || state === 'PARTIALLY_FILLED' || state === 'PENDING_OPEN' || state === 'PENDING_CANCEL',
  )
  const openMicros = open.reduce(
    (total, { price, amount, filledAmount, leftAmount = subtract(amount, filledAmount) }) => total + microsUp(multiply(price, leftAmount)),
    microsUp(notional),
  )
  // A sale below the mark opens a position that counts at the mark.
  const notionalMicros = opening.reduce(
    (total, { market, order: { price, amount } }) => total + microsUp(multiply(max(price, markOf.get(market.id) ?? price), amount)),
    0n,
  )
  return { ...turn, valueMicros: microsDown(accountWorth(account)), openMicros, addedMicros: notionalMicros, notionalMicros }
}

/** Before an order that is filled at once. @param boundRaw the most or the least of the quote that it takes or gives */
export function quoteExposure(
  turn: ExposureTurn,
  { order: { side, sizeRaw }, market, prices: { mark } }: PerpQuote,
  { account, position, boundRaw }: { account: PerpAccount; position: PerpPosition; boundRaw: bigint },
): PerpetualExposure {
  const afterRaw = position.sizeRaw + (side === 'LONG' ? sizeRaw : -sizeRaw)
  const stakeRaw = accountWorthRaw(account)
  const grownRaw = abs(afterRaw) - abs(position.sizeRaw)
  const atMarkRaw = notionalAt(market, sizeRaw, mark) + 1n
  const notionalMicros = rescaleUp(boundRaw > atMarkRaw ? boundRaw : atMarkRaw, market.quoteDecimals)
  return {
    ...turn,
    valueMicros: stakeRaw > 0n ? rescale(stakeRaw, account.decimals, decimals) : 0n,
    openMicros: rescaleUp(account.notionalRaw, account.decimals),
    addedMicros: grownRaw > 0n ? divideRaw(notionalMicros * grownRaw, sizeRaw, 'up') : 0n,
    notionalMicros,
  }
}

const rescaleUp = (raw: bigint, from: number): bigint => rescale(raw, from, decimals) + (from > decimals ? 1n : 0n)

function microsUp(text: string): bigint {
  const { digits, scale } = parseDecimal(text)
  return divideRaw(digits * 10n ** BigInt(decimals), 10n ** BigInt(scale), 'up')
}

/** Of what is below 0: 0. */
function microsDown(text: string): bigint {
  const { digits, scale } = parseDecimal(text)
  return digits > 0n ? (digits * 10n ** BigInt(decimals)) / 10n ** BigInt(scale) : 0n
}

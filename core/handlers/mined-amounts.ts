// What a mined transaction did to its wallet, by its receipt, and where that does not tell by what was read beside it (`mined-readings.ts`).
import { isSameAddress } from '../base/addresses.ts'
import { isObject } from '../base/json.ts'
import { canonicalPermit2, type ActionOutcome, type Allowance, type Fill, type Json, type SetAllowance } from '../contracts/index.ts'
import { allowanceName, orderName, signedOrderName, type HeldChange } from '../limits/refundable.ts'
import type { NetworkEntry, Registry } from '../plugins/index.ts'
import { paidCost, type Cost } from '../transactions/costs.ts'
import type { Entry } from '../transactions/entry.ts'
import { tradedSymbols } from './amm/trade.ts'
import { networkOf } from './limited-amounts.ts'
import { isBuiltInSpender } from './spenders.ts'
import { readAboutPosition } from './perp/fills.ts'
import { exchangedBy } from './perp/losses.ts'

type Networks = Pick<Registry, 'networks' | 'plannedBy'>

/** What was read beside the receipt, before the transaction was final. */
export interface ReadBesideReceipt {
  /** What the allowance that the transaction set held just before it, at most. */
  allowanceBefore(entry: Entry, allowance: Allowance): bigint | undefined
  /** What the transaction did to the wallet's coin, without gas. */
  coinGain(entry: Entry): bigint | undefined
}

type CoinGain = Pick<ReadBesideReceipt, 'coinGain'>

const unread: CoinGain = { coinGain: () => undefined }

/**
 * By token address, what the wallet gained or gave, smallest units; of a perpetual by its two sides. Undefined where the chain's receipts do not tell.
 * The native coin leaves no event: it is there where its balances and the exchange's events say the same.
 */
export function gainsOf(entry: Entry, registry: Networks, readings: CoinGain = unread): ReadonlyMap<string, bigint> | undefined {
  const { kind, landed, address } = entry
  const on = networkOf(entry, registry)
  if (!on || !landed) return undefined
  if (kind === 'position') return positionGains(entry, landed.receipt, on, registry)
  const gains = receiptGains(on, landed.receipt, address)
  const exchangedRaw = gains && kind === 'trade' ? coinExchangedBy(entry, landed.receipt, on, registry) : undefined
  if (!gains || exchangedRaw === undefined) return gains
  if (!isToldByReceipt(entry, exchangedRaw, landed.receipt, on) && readings.coinGain(entry) !== exchangedRaw) return gains
  return new Map([...gains, [on.impl.nativeCurrency.address, exchangedRaw]])
}

/** Whether a trade of a connector of this release gives or gets the coin, and its balances alone can tell how much. */
export function needsCoinGain(entry: Entry, on: NetworkEntry, registry: Networks): boolean {
  const { kind, part, landed } = entry
  const exchangedRaw = kind === 'trade' && part.of === 1 && landed ? coinExchangedBy(entry, landed.receipt, on, registry) : undefined
  return exchangedRaw !== undefined && landed !== undefined && !isToldByReceipt(entry, exchangedRaw, landed.receipt, on)
}

/** Whether the receipt says the same as the exchange's event, so that no node has to be asked. */
function isToldByReceipt(entry: Entry, exchangedRaw: bigint, receipt: Json, on: NetworkEntry): boolean {
  // Of a final one the call is gone: what it moved was read before.
  if (entry.step === null) return entry.movements?.[on.impl.nativeCurrency.address] === exchangedRaw.toString()
  return isAllThatWasSent(entry, exchangedRaw, on) || isAllThatWasUnwrapped(entry, exchangedRaw, receipt, on)
}

/** A transaction takes no more of the coin than is sent with it, beside its gas: where the exchange took all of that, nothing is left to ask. */
const isAllThatWasSent = ({ part, step }: Entry, exchangedRaw: bigint, { impl }: NetworkEntry): boolean =>
  exchangedRaw < 0n && part.of === 1 && impl.rail.outline(step).valueRaw === -exchangedRaw

/**
 * Calls of this release that pay out the coin end with the called contract unwrapping all that it holds for the wallet: where that is the only time that it unwraps, so much came.
 * A token or pool of somebody's own that took some in between makes it less than the exchange's event, or makes it two events.
 */
function isAllThatWasUnwrapped({ part, step }: Entry, exchangedRaw: bigint, receipt: Json, { impl }: NetworkEntry): boolean {
  const [called, ...others] = exchangedRaw > 0n && part.of === 1 ? impl.rail.outline(step).contracts : []
  return called !== undefined && others.length === 0 && impl.evm?.unwrappedBy?.(receipt, called) === exchangedRaw
}

/** Whether a trade gives or gets the coin, or may do so. */
export const exchangesCoinOf = (entry: Entry, on: NetworkEntry): boolean => coinSideOf(entry, on) !== undefined

/** Any token may have the coin's symbol: its address counts. `unknown` where the entry says its symbol alone, or nothing. */
function coinSideOf({ about, planned }: Entry, { impl }: NetworkEntry): 'in' | 'out' | 'unknown' | undefined {
  const { base, quote } = isObject(planned) ? planned : {}
  const { symbol, address } = impl.nativeCurrency
  const traded = tradedSymbols(about)
  if (!traded) return 'unknown'
  const { side, symbolIn, symbolOut } = traded
  if (typeof base !== 'string' || typeof quote !== 'string') return symbolIn === symbol || symbolOut === symbol ? 'unknown' : undefined
  const [tokenIn, tokenOut] = side === 'BUY' ? [quote, base] : [base, quote]
  return isSameAddress(tokenIn, address) ? 'in' : isSameAddress(tokenOut, address) ? 'out' : undefined
}

/** By the events of the exchange. */
export function coinExchangedBy(entry: Entry, receipt: Json, on: NetworkEntry, registry: Networks): bigint | undefined {
  const venue = registry.plannedBy(entry, on)
  const side = coinSideOf(entry, on)
  if (!venue?.builtIn || side === undefined || side === 'unknown') return undefined
  const fill = fills(venue.impl, receipt, entry.key, () => atOnce(() => venue.impl.AMM?.fill(receipt, entry.memo)))
  return fill && (side === 'in' ? -fill.amountInRaw : fill.amountOutRaw)
}

/** What tokens a receipt moved into (above 0) and out of a wallet; undefined where the chain's receipts do not tell. */
export function receiptGains({ impl: { evm } }: NetworkEntry, receipt: Json, wallet: string): ReadonlyMap<string, bigint> | undefined {
  return evm?.gains && gainsRead(evm, receipt, wallet, () => evm.gains?.(receipt, wallet))
}

/** The same receipt is read for what it moved, and again to settle limits by it. Receipts never change. */
function createReceiptCache<T>() {
  const found = new WeakMap<object, WeakMap<object, { readonly of: string; readonly value: T }>>()
  return (reader: object, receipt: Json, of: string, read: () => T): T => {
    if (typeof receipt !== 'object' || receipt === null) return read()
    const byReceipt = found.get(reader) ?? new WeakMap<object, { readonly of: string; readonly value: T }>()
    found.set(reader, byReceipt)
    const known = byReceipt.get(receipt)
    if (known && known.of === of) return known.value
    const value = read()
    byReceipt.set(receipt, { of, value })
    return value
  }
}

const fills = createReceiptCache<Pick<Fill, 'amountInRaw' | 'amountOutRaw'> | undefined>()
const gainsRead = createReceiptCache<ReadonlyMap<string, bigint> | undefined>()

/** What a connector of this release reads from a receipt; undefined where it cannot. */
function atOnce<T>(read: () => T | Promise<T> | undefined): T | undefined {
  try {
    const answer = read()
    return answer instanceof Promise ? undefined : answer
  } catch {
    // What was reserved counts.
    return undefined
  }
}

/**
 * What its receipts tell of what it gives. An order in a book on the chain has paid all that it offers. A trade that gave or got the coin, of which nobody can
 * tell how much, may have got tokens as well: without the coin that would look like a gain.
 */
export function tellsOf(
  entry: Entry,
  registry: Networks,
  gains: () => ReadonlyMap<string, bigint> | undefined,
): 'what it gives' | 'all' | undefined {
  if (entry.kind === 'position') return 'all'
  if (entry.kind === 'trade') {
    const on = networkOf(entry, registry)
    const isWithCoin = on !== undefined && coinSideOf(entry, on) !== undefined
    return isWithCoin && gains()?.has(on.impl.nativeCurrency.address) !== true ? 'what it gives' : 'all'
  }
  if (entry.kind === 'send') return 'what it gives'
  if (entry.signer !== undefined) return undefined
  const [order, ...others] = placedOn(entry, registry)
  if (!order || others.length > 0) return undefined
  return order.state === 'OPEN' || order.state === 'PARTIALLY_FILLED' ? 'what it gives' : 'all'
}

/** By the receipt, as a connector of this release reads it. */
export function liquidityMadeBy(entry: Entry, registry: Networks) {
  const { kind, landed, memo } = entry
  const on = networkOf(entry, registry)
  const venue = on && kind === 'liquidity' && landed?.ok ? registry.plannedBy(entry, on) : undefined
  return venue?.builtIn && landed ? atOnce(() => venue.impl.AMM_RANGE?.rangeFill(landed.receipt, memo)) : undefined
}

/** The orders that an entry placed, at a connector of this release, with what it cancelled beside them: by their index. */
function placedOn(entry: Entry, registry: Networks): readonly ActionOutcome[] {
  const { kind, landed, memo } = entry
  const on = networkOf(entry, registry)
  const venue = on && kind === 'order' && landed?.ok ? registry.plannedBy(entry, on) : undefined
  if (!venue?.builtIn || !landed) return []
  const { CLOB, MARGIN_CLOB, PERP_CLOB } = venue.impl
  for (const book of [CLOB, MARGIN_CLOB, PERP_CLOB]) {
    const outcomes = atOnce(() => book?.outcome(landed.receipt, memo)) ?? []
    if (outcomes.length > 0) return outcomes
  }
  return []
}

/** What a transaction tells of allowances and orders. */
export function heldChangesOf(
  entry: Entry,
  registry: Networks & Pick<Registry, 'venuesOn'>,
  { allowanceBefore }: Pick<ReadBesideReceipt, 'allowanceBefore'>,
): readonly HeldChange[] {
  const { kind, landed, address, permits } = entry
  // Whoever has seen the signature of a permit may use it, whatever became of the transaction: nobody can tell what came back of the allowance before it.
  if (permits) return permits.map((each) => ({ name: allowanceName(entry, each), returnedRaw: undefined }))
  const on = networkOf(entry, registry)
  if (!on || !landed?.ok) return []
  if (kind === 'approve')
    return countedApprovals(entry, on, registry).map((each) => ({
      name: allowanceName(entry, each),
      returnedRaw: allowanceBefore(entry, each),
      ...(each.amountRaw > 0n && { held: heldBy(each) }),
    }))
  const leaves = (sign: bigint) =>
    [...(receiptGains(on, landed.receipt, address) ?? [])].flatMap(([, raw]) => (raw * sign > 0n ? [raw * sign] : []))
  if (kind === 'order-cancel' && entry.signer === undefined) {
    const [orderId, ...others] = cancelledIn(entry, on, registry)
    const [returnedRaw, ...more] = leaves(1n)
    return orderId === undefined || others.length > 0 || more.length > 0 ? [] : [{ name: orderName(entry, orderId), returnedRaw }]
  }
  const orders = placedOn(entry, registry)
  if (entry.signer !== undefined)
    return orders.map((_, index) => ({
      name: signedOrderName(entry, index),
      returnedRaw: undefined,
      held: { ...(orders.length > 1 && { part: index }), ofRaw: wholeOrderRaw, heldRaw: wholeOrderRaw },
    }))
  const [order, ...more] = orders
  if (!order || more.length > 0) return []
  const [paidRaw, ...others] = leaves(-1n)
  const { orderId } = order
  if (orderId === undefined || paidRaw === undefined || others.length > 0) return []
  return [{ name: orderName(entry, orderId), returnedRaw: undefined, held: { ofRaw: paidRaw, heldRaw: paidRaw } }]
}

const heldBy = ({ token, spender, permit2, amountRaw, expires }: SetAllowance) => ({
  token,
  ofRaw: amountRaw,
  heldRaw: amountRaw,
  ...(expires !== undefined && { expires }),
  ...(permit2 === undefined && isSameAddress(spender, canonicalPermit2) && { isMiddle: true }),
})

/** Of an order at an exchange of signed actions only the part is known that was filled. */
const wholeOrderRaw = 10n ** 18n

/** Those that count: a token that nobody lists may say anything, and what spenders of this release may take is given to nobody. */
export function countedApprovals(
  { landed, address }: Entry,
  on: NetworkEntry,
  registry: Pick<Registry, 'venuesOn'>,
): readonly SetAllowance[] {
  const approvals = landed ? (on.impl.evm?.approvals?.(landed.receipt, address) ?? []) : []
  if (approvals.length === 0) return []
  const isBuiltIn = isBuiltInSpender(on, registry)
  // Any contract can write events like those of Permit2.
  const isKnown = (permit2: string | undefined) => permit2 === undefined || isSameAddress(permit2, canonicalPermit2)
  return approvals.filter(
    ({ token, spender, permit2 }) => on.tokens.listedAt(token) !== undefined && !isBuiltIn(spender) && isKnown(permit2),
  )
}

/** The ids of the orders that a transaction of a connector of this release has cancelled. */
function cancelledIn(entry: Entry, on: NetworkEntry, registry: Networks): readonly string[] {
  const { landed, memo } = entry
  const venue = registry.plannedBy(entry, on)
  if (!venue?.builtIn || !landed) return []
  const outcomes = atOnce(() => venue.impl.CLOB?.outcome(landed.receipt, memo)) ?? []
  return outcomes.flatMap(({ state, orderId }) => (state === 'CANCELED' && orderId !== undefined ? [orderId] : []))
}

/** By a built-in connector alone: others may say what they like. */
function positionGains(entry: Entry, receipt: Json, on: NetworkEntry, registry: Networks) {
  const venue = registry.plannedBy(entry, on)
  if (!venue?.builtIn || receipt === null) return undefined
  const fill = atOnce(() => venue.impl.PERP_AMM?.perpFill(receipt, entry.memo))
  return fill && atOnce(() => exchangedBy(fill, readAboutPosition(entry.about).side))
}

/** Of the native coin, with what a rollup charges for layer 1; undefined where the receipt does not say all of it. */
export const paidCostOf = (entry: Entry, registry: Pick<Registry, 'networks'>): Cost | undefined =>
  paidCost(entry, networkOf(entry, registry)?.impl.rail)

/** As limits count it: with what accounts keep that it made. Whoever made their token may freeze them. */
export function gasCostOf(entry: Entry, registry: Pick<Registry, 'networks'>): bigint | undefined {
  const cost = paidCostOf(entry, registry)
  const rail = networkOf(entry, registry)?.impl.rail
  const { rentRaw = 0n } = (entry.landed?.ok === true && rail && atOnce(() => rail.outline(entry.step))) || {}
  return cost && BigInt(cost.feeRaw) + rentRaw
}

// What each client may touch: connectors, networks, tokens, pools, recipients, actions and hours, and its greatest slippage and leverage. Held where
// the journal writes new entries, so before anything is signed, whichever way the request came.
import { isSameAddress } from '../base/addresses.ts'
import { formatFraction, toFraction, type Fraction } from '../base/decimal.ts'
import { SluiceError } from '../base/errors.ts'
import type { Action, AllowedLists, ClientLimits } from '../config/clients.ts'
import type { Footprint, TouchedToken } from '../transactions/budgets.ts'
import type { Entry } from '../transactions/entry.ts'
import type { Guard } from '../transactions/guards.ts'
import { effectOf, leastEffect } from '../transactions/stops.ts'
import type { SubmitRequest } from '../transactions/submit-request.ts'

/** All of these limits hold. None: the client has no limits. */
export type LimitsOf = (client: string) => readonly ClientLimits[]

type Place = Pick<Entry, 'chain' | 'network'>

export interface AllowLists {
  /** Whether any of them holds the client there. */
  concerns(client: string, on: Place): boolean
  /** @throws SluiceError LIMIT_EXCEEDED */
  require(client: string, touches: () => Footprint, on: Place): void
  /**
   * The same of a request that is about to be submitted. What cancels or takes back is always allowed, but with no durable nonce.
   * @throws SluiceError LIMIT_EXCEEDED, INVALID_NONCE
   */
  requireRequest(request: Pick<SubmitRequest, 'caller' | 'touches' | 'network' | 'kind' | 'reduces' | 'nonce' | 'address'>): void
  /** @throws SluiceError LIMIT_EXCEEDED */
  requireSlippage(client: string, slippageOf: () => Fraction | 'unknown'): void
  /** The client's own, in percent, where it has one. */
  maxPriceImpact(client: string): number | undefined
}

interface AllowListsOptions {
  readonly limitsOf: LimitsOf
  /** The greatest leverage of a client on a network, also by default; undefined: it has none. */
  readonly maxLeverageOn?: (client: string, on: Place) => string | undefined
  /** Whether conf/limits.yml has the wallet. Asked only for what has a durable nonce. */
  readonly isLimitedWallet?: (address: string) => boolean
  /** The clock of this server: hours of the day are by it. */
  readonly nowMs?: () => number
}

export function createAllowLists({
  limitsOf,
  maxLeverageOn = () => undefined,
  isLimitedWallet = () => false,
  nowMs = Date.now,
}: AllowListsOptions): AllowLists {
  const concerns = (client: string, on: Place): boolean => limitsOf(client).length > 0 || maxLeverageOn(client, on) !== undefined

  function requireAll(client: string, touchesOf: () => Footprint, on: Place): void {
    const all = limitsOf(client)
    const maxLeverage = maxLeverageOn(client, on)
    if (all.length === 0 && maxLeverage === undefined) return
    const touches = touchesOf()
    if (touches.leverage) requireMost('maxLeverage', maxLeverage, touches.leverage)
    // Bound by defaults alone. Rent that an account keeps for a token of anybody's is not held against a market, as trades are.
    if (all.length === 0 && touches.action === 'account') requireListed({}, touches, on)
    for (const limits of all) {
      requireListed(limits.allowed ?? {}, touches, on)
      requireHour(limits.allowed?.hours, nowMs())
      if (touches.slippage) requireMost('maxSlippage', limits.maxSlippage, percentOf(touches.slippage))
    }
  }
  return {
    concerns,
    require: requireAll,
    requireRequest({ caller, touches, network, kind, reduces, nonce, address }) {
      const isDurable = nonce !== undefined && network.connector === undefined && network.impl.rail.sequences === 'independent'
      if (isDurable && (concerns(caller.id, network) || isLimitedWallet(address))) throw isOption(caller.id, address)
      if (effectOf({ kind, ...(reduces === true && { reduces }) }) === 'other') requireAll(caller.id, touches, network)
    },
    requireSlippage(client, slippageOf) {
      for (const { maxSlippage } of limitsOf(client)) {
        const slippage = slippageOf()
        requireMost('maxSlippage', maxSlippage, slippage === 'unknown' ? slippage : percentOf(slippage))
      }
    },
    maxPriceImpact(client) {
      const own = limitsOf(client).flatMap(({ maxPriceImpact }) => maxPriceImpact ?? [])
      return own.length === 0 ? undefined : Math.min(...own)
    },
  }
}

/** Nothing ends it but its nonce account: whoever sends the bytes chooses the market at which it is executed, and no limit can tell then what that loses. */
const isOption = (client: string, address: string) =>
  new SluiceError(
    'INVALID_NONCE',
    `A transaction on a durable nonce may be executed at any time, so the losses of the client "${client}" and of ${address} could not be bounded: it is only for clients and wallets without limits. Nothing was signed. Leave nonce out.`,
    { details: { reason: 'durable nonce' } },
  )

/** Holds each new entry against the lists of its client. */
export const allowListGuard =
  (lists: Pick<AllowLists, 'concerns' | 'require'>): Guard =>
  ({ is, entries, touches }) => {
    const [first] = entries
    if (is !== 'new' || leastEffect(entries) !== 'other' || !lists.concerns(first.client, first)) return
    if (!touches) throw new Error('The lists of the client were not told what new entries touch.')
    lists.require(first.client, touches, first)
  }

/** @throws SluiceError LIMIT_EXCEEDED */
function requireListed({ connectors, networks, tokens, pools, recipients, actions }: AllowedLists, touches: Footprint, on: Place): void {
  const network = `${on.chain}/${on.network}`
  if (networks && !networks.includes(network)) throw notAllowed('networks', network, networks)
  if (actions && !allowsAction(actions, touches.action)) throw notAllowed('actions', touches.action, actions, {}, adviceFor(touches))
  const venues = touches.connectors ?? []
  const mayUse = ({ name, builtIn }: (typeof venues)[number]) => (connectors ? connectors.includes(name) : builtIn)
  if (venues.length > 0 && !venues.some(mayUse)) throw notAllowed('connectors', venues.map(({ name }) => name).join(', '), connectors)
  // Its spender is the operator's word alone.
  if (connectors && venues.length === 0 && touches.action === 'approve')
    throw notAllowed('connectors', 'a spender of no connector', connectors)
  const foreign = touches.tokens.find((token) => !mayTouch(token, tokens))
  if (foreign) throw notAllowed('tokens', foreign.symbol ?? foreign.name, tokens, {}, adviceFor(touches))
  if (pools && touches.pools) {
    const isListed = (pool: string) => pools.some((each) => isSameAddress(each, pool))
    const other = touches.pools === 'unknown' || touches.pools.length === 0 ? 'unknown' : touches.pools.find((each) => !isListed(each))
    if (other !== undefined) throw notAllowed('pools', other, pools)
  }
  const { recipient } = touches
  if (recipients && recipient !== undefined && !recipients.some((each) => isSameAddress(each, recipient)))
    throw notAllowed('recipients', recipient, recipients)
}

/** Whoever may deposit gets it back. */
const allowsAction = (actions: readonly Action[], action: Action): boolean =>
  actions.includes(action) || (action === 'withdraw' && actions.includes('deposit'))

const adviceFor = ({ action, tokens }: Footprint): string =>
  action === 'approve' && tokens.some(({ symbol }) => symbol === undefined)
    ? ' Where the token is shares of a pool, approve the exact amount that is removed, for the connector of the pool: that is always allowed.'
    : ''

/** A symbol stands for what is listed under it, and never for a contract that calls itself so. */
const mayTouch = ({ name, symbol }: TouchedToken, tokens: readonly string[] | undefined): boolean =>
  tokens ? tokens.some((each) => isSameAddress(each, name) || each === symbol) : symbol !== undefined

/** What absent lists stand for. */
export const defaults: Readonly<Partial<Record<keyof AllowedLists, string>>> = {
  connectors: 'those of this release',
  tokens: 'listed tokens',
}

/** @throws SluiceError LIMIT_EXCEEDED */
function requireHour(hours: readonly string[] | undefined, nowMs: number): void {
  if (!hours) return
  const now = Math.floor(nowMs / minuteMs) % dayMinutes
  const waits = hours.map((each) => minutesUntil(each, now))
  if (waits.includes(0)) return
  const left = Math.min(...waits)
  const value = new Date(nowMs).toISOString().slice(11, 16)
  const opens = Number.isFinite(left) ? { freesAt: (Math.floor(nowMs / minuteMs) + left) * minuteMs } : {}
  throw notAllowed('hours', `${value} UTC`, hours, opens)
}

const minuteMs = 60_000
const dayMinutes = 24 * 60

/** Until the hours begin; 0 within them. Their end is not within them, and those that end where they begin never come. */
function minutesUntil(hours: string, now: number): number {
  const [from = 0, to = 0] = hours.split('-').map((time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3)))
  if (from === to) return Infinity
  const isWithin = from < to ? now >= from && now < to : now >= from || now < to
  return isWithin ? 0 : (from - now + dayMinutes) % dayMinutes
}

const percentOf = ({ numerator, denominator }: Fraction): Fraction => ({ numerator: numerator * 100n, denominator })

const units = { maxSlippage: ' %', maxLeverage: '' } as const

/** @throws SluiceError LIMIT_EXCEEDED */
function requireMost(limit: keyof typeof units, most: number | string | undefined, value: Fraction | 'unknown'): void {
  if (most === undefined) return
  const allowed = toFraction(String(most))
  if (value !== 'unknown' && value.numerator * allowed.denominator <= allowed.numerator * value.denominator) return
  const shown = value === 'unknown' ? value : formatFraction(value, 'up')
  const lower =
    limit === 'maxSlippage'
      ? 'Give a lower allowedSlippage ("1/200" is 0.5 %)'
      : 'Give a lower leverage, with each order; who has a maxLeverage borrows nothing, and a maxDailyLoss brings one of 1'
  throw new SluiceError(
    'LIMIT_EXCEEDED',
    `${limit} of the client is ${most}${units[limit]}, and this has ${shown === 'unknown' ? 'one that is not known' : `${shown}${units[limit]}`}: nothing was signed. ${lower}, or the operator raises limits.${limit} in conf/clients.yml.`,
    { details: { limit, value: shown, allowed: String(most) } },
  )
}

function notAllowed(
  list: keyof AllowedLists,
  value: string,
  allowed: readonly string[] | undefined,
  more: object = {},
  advice = '',
): SluiceError {
  const limit = `allowed.${list}`
  const those = allowed?.join(', ') ?? defaults[list] ?? 'none'
  return new SluiceError(
    'LIMIT_EXCEEDED',
    `${limit} of the client does not have ${value}: nothing was signed. It has: ${those || 'none'}. Or the operator adds it to limits.${limit} in conf/clients.yml.${advice}`,
    { details: { limit, value, allowed: allowed ?? [those], ...more } },
  )
}

// What transactions of the journal would have hit, had the limits that a client has now held when they were made. By what they did: their fees, and what
// receipts say that they moved.
import { SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { Action, AllowedLists, ClientLimits } from '../config/clients.ts'
import type { Footprint, Spending } from '../transactions/budgets.ts'
import type { Entry, Kind } from '../transactions/entry.ts'
import { effectOf } from '../transactions/stops.ts'
import { emptyAccount, reserve, settle, sum, type Account, type Amounts } from './account.ts'
import { createAllowLists } from './allow-lists.ts'
import {
  gasMeasureOf,
  isCancel,
  refusalOf,
  requireFees,
  requireListedTokens,
  tokenLimitsOf,
  tokenMeasureOf,
  type NetworkLimits,
} from './limit-checks.ts'
import { maxLeverageOf } from './perpetual-limits.ts'
import type { LimitReader } from './spending-limits.ts'
import type { NetworkName } from '../base/networks.ts'

export interface ReplayReader extends LimitReader {
  coin(on: NetworkName): Spending['coin'] | undefined
  /** What the lists of a client are held against. */
  touches(entry: Entry): MinedTouches
}

/** What a transaction touched, as far as the journal tells. */
export interface MinedTouches {
  /** Empty: no connector has a part in it. */
  readonly connectors: NonNullable<Footprint['connectors']> | 'unknown'
  readonly tokens: Footprint['tokens'] | 'unknown'
}

/** A limit that would have refused some of them. */
export interface LimitHits {
  /** As refusals name it. */
  readonly limit: string
  readonly transactions: number
  readonly first: Entry
  readonly last: Entry
}

export interface Replay {
  /** Oldest first. */
  take(entry: Entry): void
  result(): {
    /** Those that were signed. */
    readonly transactions: number
    readonly hits: readonly LimitHits[]
    /** Limits that the journal does not tell, of all of them or of some. */
    readonly notTold: readonly string[]
  }
}

/** What only the request or the market of its time could tell. */
const neverTold = [
  'maxDailyLoss',
  'maxPriceImpact',
  'maxSlippage',
  'maxLeverage',
  'maxOpenNotional',
  'allowed.pools',
  'allowed.recipients',
] as const

interface ReplayedLimits {
  /** As the operator wrote them. */
  readonly own: ClientLimits | undefined
  /** With defaults. */
  limitsOn(on: NetworkName): NetworkLimits | undefined
}

export function createReplay(client: string, { own, limitsOn }: ReplayedLimits, reader: ReplayReader): Replay {
  const hits = new Map<string, LimitHits>()
  const { allowed = {} } = own ?? {}
  const notTold = new Set<string>(neverTold.filter((limit) => (own && limit in own) || limit.replace('allowed.', '') in allowed))
  let account: Account = emptyAccount
  let transactions = 0

  function take(entry: Entry): void {
    // Nothing was signed.
    if (entry.attempts.length === 0 && !entry.archived) return
    transactions += 1
    const isListed = own !== undefined && effectOf(entry) === 'other'
    const refused = new Set([...(isListed ? listsHit(entry) : []), ...amountsHit(entry)])
    for (const limit of refused) {
      const before = hits.get(limit)
      hits.set(limit, { limit, transactions: (before?.transactions ?? 0) + 1, first: before?.first ?? entry, last: entry })
    }
  }

  function listsHit(entry: Entry): readonly string[] {
    const touched = reader.touches(entry)
    // Of what a plan of several actions might have been, the one that is allowed.
    const [first, ...others] = actionsOf(entry).map((action) => hitsOf(entry, action, touched))
    return (first ?? []).filter((limit) => others.every((each) => each.includes(limit)))
  }

  function hitsOf(entry: Entry, action: Action, { connectors, tokens }: MinedTouches): readonly string[] {
    const footprint: Footprint = {
      action,
      tokens: tokens === 'unknown' ? [] : tokens,
      ...(connectors !== 'unknown' && connectors.length > 0 && { connectors }),
    }
    // Absent lists of connectors and tokens hold, too.
    const keys = new Set<keyof AllowedLists>(['tokens', 'connectors', ...keysOf(allowed)])
    // The symbols of a perpetual are no tokens of a list: without one of the client's own they are allowed.
    if (tokens === 'unknown' && keys.delete('tokens') && (allowed.tokens || action !== 'perpetual')) notTold.add('allowed.tokens')
    if (connectors === 'unknown' && keys.delete('connectors')) notTold.add('allowed.connectors')
    const found = [...keys].flatMap((key) => {
      const { [key]: list, ...others } = { ...listsOf(footprint), [key]: allowed[key] }
      const only: AllowedLists = list === undefined ? others : { ...others, [key]: list }
      try {
        createAllowLists({ limitsOf: () => [{ allowed: only }], nowMs: () => entry.createdAt }).require(client, () => footprint, entry)
        return []
      } catch (error) {
        return [limitOf(error)]
      }
    })
    return found.filter((limit) => !neverTold.some((each) => each === limit))
  }

  function amountsHit(entry: Entry): readonly string[] {
    const coin = reader.coin(entry)
    const limits = limitsOn(entry)
    if (!coin || !limits) return []
    for (const limit of neverTold) if (limit in limits) notTold.add(limit)
    if (maxLeverageOf(limits) !== undefined) notTold.add('maxLeverage')
    const gives = givenBy(entry)
    const gasRaw = reader.gasCost(entry) ?? 0n
    const spending: Spending = {
      client,
      is: 'new',
      coin,
      commitment: { gives },
      steps: [{ entry, maxCostRaw: gasRaw, valueRaw: 0n }],
    }
    const value = limits.value && Object.keys(gives).length > 0 ? reader.value(entry, gives) : undefined
    if (value?.is === 'no market') notTold.add('value')
    const ofTokens = Object.entries(gives).map(([address, raw]) => [tokenMeasureOf(entry, address), raw] as const)
    const amounts = sum(
      {
        ...(!isCancel(entry) && { count: 1n }),
        [gasMeasureOf(entry)]: gasRaw,
        value: value?.is === 'priced' ? value.micros : 0n,
        ...Object.fromEntries(ofTokens),
      },
      {},
    )
    const after = reserve(account, amounts)
    // Each by itself: what one refuses another may, too.
    const told = Object.entries(limits).filter(([key]) => key !== 'allowed' && key !== 'defaults' && !notTold.has(key))
    const found = told.flatMap(([key, amount]) => {
      const single: NetworkLimits = { [key]: amount }
      const check = {
        spending,
        limits: single,
        tokens: tokenLimitsOf(single, entry, reader.token),
        reference: reader.reference(entry) ?? 'of the reference token',
      }
      try {
        requireFees(check)
        requireListedTokens(check, reader.token)
      } catch (error) {
        return [limitOf(error)]
      }
      const refusal = refusalOf(check, { before: account, after, gives: amounts, nowMs: entry.createdAt })
      return refusal ? [limitOf(refusal)] : []
    })
    // What is refused is not spent.
    if (found.length === 0) account = settle(after, amounts, amounts, { nowMs: entry.createdAt, lagMs: 0 })
    return found
  }

  /** What takes back, wraps and perpetuals give nothing that amounts count. */
  function givenBy(entry: Entry): Amounts {
    if (effectOf(entry) !== 'other' || entry.kind === 'wrap' || entry.kind === 'position') return {}
    const gains = reader.gains(entry) ?? new Map<string, bigint>()
    return Object.fromEntries([...gains].flatMap(([token, raw]) => (raw < 0n ? [[token, -raw] as const] : [])))
  }

  return { take, result: () => ({ transactions, hits: [...hits.values()], notTold: [...notTold] }) }
}

const keysOf = (allowed: AllowedLists) => Object.keys(allowed) as (keyof AllowedLists)[]

/** Lists that allow it, so that one key is looked at alone. */
const listsOf = ({ connectors, tokens }: Footprint): AllowedLists => ({
  ...(connectors && { connectors: connectors.map(({ name }) => name) }),
  tokens: tokens.map(({ name }) => name),
})

/** @throws what is no refusal */
function limitOf(error: unknown): string {
  const details = error instanceof SluiceError && isObject(error.details) ? error.details : {}
  if (typeof details['limit'] !== 'string') throw error
  return details['limit']
}

const actionsOfKind: Readonly<Partial<Record<Kind, readonly Action[]>>> = {
  trade: ['swap'],
  liquidity: ['liquidity', 'shares'],
  position: ['perpetual'],
  collateral: ['deposit', 'withdraw'],
  order: ['order', 'perpetual'],
  'token-account': ['account'],
  approve: ['approve'],
  wrap: ['wrap'],
  send: ['transfer'],
}

/** Those that it may have been: the journal has kinds alone. */
function actionsOf({ kind, about }: Entry): readonly Action[] {
  const how = isObject(about) ? about['how'] : undefined
  if (kind === 'funds') return how === 'withdraw' || how === 'borrow' ? [how] : how === 'leverage' ? ['perpetual'] : ['deposit']
  return actionsOfKind[kind] ?? []
}

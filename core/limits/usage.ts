// What a client has left of its limits.
import type { AllowedLists, ClientLimits } from '../config/clients.ts'
import { storeTime } from '../store/store-time.ts'
import type { Store } from '../store/store.ts'
import { freesAt, usedIn, type Account, type Measure, type Window } from './account.ts'
import {
  amountWindows,
  gasMeasureOf,
  limitRaw,
  referenceDecimals,
  tokenMeasureOf,
  type DefaultBasis,
  type DefaultLimit,
  type LimitedToken,
  type NetworkLimits,
} from './limit-checks.ts'
import { maxLeverageOf } from './perpetual-limits.ts'
import { accountOf, ownerOf } from './reservations.ts'
import type { NetworkName } from '../base/networks.ts'

export interface LimitUsage {
  /** Its key in `limits` of the client, as errors name it. */
  readonly limit: string
  readonly allowed: string
  /** The client has none of its own. */
  readonly isDefault?: boolean
  /** Of a default that is a share of something. */
  readonly basis?: DefaultBasis & { readonly decimals: number }
  readonly unit: 'transactions' | 'reference token' | 'coin' | '%' | 'times' | 'unit of account' | 'list' | { readonly token: string }
  /** Absent: it is of each transaction, or of each request. */
  readonly window?: Window
  /** Of what is counted in windows: what was spent, and what open transactions may still spend. */
  readonly counted?: {
    /** In the unit's smallest parts. */
    readonly usedRaw: bigint
    readonly allowedRaw: bigint
    readonly decimals: number
    /** When all that was spent has left the window: milliseconds from now. Absent while open transactions hold something, or nothing was spent. */
    readonly freesInMs?: number
  }
  /** Of fees and tokens: the network. */
  readonly network?: NetworkName
}

interface UsageSource {
  /** As the operator wrote them. */
  readonly own: ClientLimits | undefined
  /** With defaults. */
  limitsOn(on: NetworkName): NetworkLimits | undefined
  /** Those that are served, and the decimals of their coins. */
  readonly networks: readonly (NetworkName & { readonly decimals: number })[]
  token(on: NetworkName, name: string): LimitedToken | undefined
}

/** None where nothing bounds the client. @throws StoreUnavailable; SluiceError SERVICE_UNINITIALIZED */
export async function readUsage(store: Pick<Store, 'read'>, client: string, source: UsageSource): Promise<readonly LimitUsage[]> {
  const { own, limitsOn, networks } = source
  const bounded = networks.flatMap((place) => {
    const limits = limitsOn(place)
    return limits ? [{ place, limits }] : []
  })
  if (!own && bounded.length === 0) return []
  const [row, time] = await store.read(async (db) => [
    await db.selectFrom('budgets').select('body').where('owner', '=', ownerOf(client)).executeTakeFirst(),
    await db.selectNoFrom(storeTime.as('now')).executeTakeFirstOrThrow(),
  ])
  const account = accountOf(ownerOf(client), row)
  const counted: CountUsage = (measure, window, allowed, decimals) => ({
    window,
    counted: {
      usedRaw: usedIn(account, window, measure, time.now),
      allowedRaw: limitRaw(allowed, decimals),
      decimals,
      ...freesIn(account, window, measure, time.now),
    },
  })
  const feesOf = (limit: 'maxFee' | 'maxDailyGas') => feeUsage(limit, own?.[limit], { bounded, used: networksOf(account), counted })
  const usage: LimitUsage[] = [...feesOf('maxFee')]
  const { transactionsPerHour, approveAbove } = own ?? {}
  if (approveAbove !== undefined) usage.push({ limit: 'approveAbove', allowed: approveAbove, unit: 'reference token' })
  if (transactionsPerHour !== undefined) {
    const allowed = String(transactionsPerHour)
    usage.push({ limit: 'transactionsPerHour', allowed, unit: 'transactions', ...counted('count', 'hour', allowed, 0) })
  }
  const byDefault = bounded.find(({ limits }) => limits.maxDailyLoss !== undefined)?.limits
  const maxDailyLoss = own?.maxDailyLoss ?? byDefault?.maxDailyLoss
  if (maxDailyLoss !== undefined)
    usage.push({
      limit: 'maxDailyLoss',
      allowed: maxDailyLoss,
      ...(own?.maxDailyLoss === undefined && defaultOf('maxDailyLoss', byDefault, referenceDecimals)),
      unit: 'reference token',
      ...counted('loss', 'day', maxDailyLoss, referenceDecimals),
    })
  return [
    ...usage,
    ...feesOf('maxDailyGas'),
    ...ownUsage(own ?? {}, source, counted),
    ...leverageUsage({ ...own, ...(maxDailyLoss !== undefined && { maxDailyLoss }) }),
    ...listsUsage(own?.allowed),
  ]
}

function defaultOf(limit: DefaultLimit, limits: NetworkLimits | undefined, decimals: number): Pick<LimitUsage, 'isDefault' | 'basis'> {
  const basis = limits?.defaults?.get(limit)
  return basis ? { isDefault: true, basis: { ...basis, decimals } } : {}
}

/** A limit of losses brings one with it. */
function leverageUsage(limits: ClientLimits): readonly LimitUsage[] {
  const allowed = maxLeverageOf(limits)
  if (allowed === undefined) return []
  return [{ limit: 'maxLeverage', allowed, unit: 'times', ...(limits.maxLeverage === undefined && { isDefault: true }) }]
}

const listsUsage = (lists: AllowedLists = {}): readonly LimitUsage[] =>
  (Object.keys(lists) as (keyof AllowedLists)[]).map((list) => ({
    limit: `allowed.${list}`,
    allowed: lists[list]?.join(', ') || 'none',
    unit: 'list',
  }))

type CountUsage = (measure: Measure, window: Window, allowed: string, decimals: number) => Pick<LimitUsage, 'window' | 'counted'>

/** One amount for all networks is one row, whose use is shown on those where there was some. Others are shown by network. */
function feeUsage(
  limit: 'maxFee' | 'maxDailyGas',
  given: string | Readonly<Record<string, string>> | undefined,
  {
    bounded,
    used,
    counted,
  }: {
    readonly bounded: readonly { place: UsageSource['networks'][number]; limits: NetworkLimits }[]
    readonly used: readonly NetworkName[]
    readonly counted: CountUsage
  },
): readonly LimitUsage[] {
  const isUsed = ({ chain, network }: NetworkName) => used.some((each) => each.chain === chain && each.network === network)
  const rows = bounded.flatMap(({ place, limits }) => {
    const allowed = limits[limit]
    if (allowed === undefined) return []
    const { chain, network, decimals } = place
    const count = limit === 'maxDailyGas' && counted(gasMeasureOf(place), 'day', allowed, decimals)
    return [{ limit, allowed, unit: 'coin', network: { chain, network }, ...defaultOf(limit, limits, decimals), ...count } as const]
  })
  const ofUsed = rows.filter(({ network }) => isUsed(network))
  if (given === undefined) return ofUsed.length > 0 ? ofUsed : rows
  if (typeof given === 'object')
    return rows.filter(({ network }) => isUsed(network) || given[`${network.chain}/${network.network}`] !== undefined)
  if (limit === 'maxFee') return [{ limit, allowed: given, unit: 'coin' }]
  return ofUsed.length > 0 ? ofUsed : [{ limit, allowed: given, unit: 'coin', window: 'day' }]
}

/** Of limits that have no defaults. */
function ownUsage(limits: ClientLimits, { token: tokenOf }: Pick<UsageSource, 'token'>, counted: CountUsage): readonly LimitUsage[] {
  const { maxOpenNotional, tokens = {}, value = {}, approveTokensAbove = {} } = limits
  const usage: LimitUsage[] = []
  for (const [key, window] of amountWindows) {
    const allowed = value[key]
    if (allowed === undefined) continue
    const of = { limit: `value.${key}`, allowed, unit: 'reference token' } as const
    usage.push({ ...of, ...(window && counted('value', window, allowed, referenceDecimals)) })
  }
  for (const [path, ofNetwork] of Object.entries(tokens)) {
    const [chain = '', name = ''] = path.split('/')
    const network = { chain, network: name }
    for (const [symbol, ofToken] of Object.entries(ofNetwork)) {
      const token = tokenOf(network, symbol)
      for (const [key, window] of amountWindows) {
        const allowed = ofToken[key]
        if (allowed === undefined) continue
        const of = { limit: `tokens.${key}`, allowed, unit: { token: token?.symbol ?? symbol }, network }
        const inWindow = token && window && counted(tokenMeasureOf(network, token.address), window, allowed, token.decimals)
        usage.push({ ...of, ...(window && { window }), ...inWindow })
      }
    }
  }
  for (const [path, ofNetwork] of Object.entries(approveTokensAbove)) {
    const [chain = '', network = ''] = path.split('/')
    for (const [symbol, allowed] of Object.entries(ofNetwork)) {
      const token = tokenOf({ chain, network }, symbol)?.symbol ?? symbol
      usage.push({ limit: 'approveTokensAbove', allowed, unit: { token }, network: { chain, network } })
    }
  }
  for (const [limit, unit] of [
    ['maxSlippage', '%'],
    ['maxPriceImpact', '%'],
  ] as const) {
    const most = limits[limit]
    if (most !== undefined) usage.push({ limit, allowed: String(most), unit })
  }
  if (maxOpenNotional !== undefined) usage.push({ limit: 'maxOpenNotional', allowed: maxOpenNotional, unit: 'unit of account' })
  return usage
}

function freesIn(account: Account, window: Window, measure: Measure, nowMs: number): { freesInMs?: number } {
  const at = freesAt(account, window, measure, 0n, nowMs)
  return at === undefined || at === nowMs ? {} : { freesInMs: at - nowMs }
}

/** On which fees were paid, or may be. */
function networksOf({ open, spent }: Account): readonly NetworkName[] {
  const measures = new Set([...Object.keys(open), ...[...spent.day.values()].flatMap((bucket) => Object.keys(bucket))])
  return [...measures].flatMap((measure) => {
    const [, chain, network] = /^gas:([^/]+)\/(.+)$/.exec(measure) ?? []
    return chain !== undefined && network !== undefined ? [{ chain, network }] : []
  })
}

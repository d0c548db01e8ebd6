// What a client has left of its limits.
import type { AllowedLists, ClientLimits } from '../config/clients.ts'
import { storeTime } from '../store/store-time.ts'
import type { Store } from '../store/store.ts'
import { emptyAccount, freesAt, readAccount, usedIn, type Account, type Measure, type Window } from './account.ts'
import {
  amountWindows,
  gasMeasureOf,
  limitRaw,
  referenceDecimals,
  tokenMeasureOf,
  type LimitedToken,
  type NetworkName,
} from './limit-checks.ts'
import { maxLeverageOf } from './perpetual-limits.ts'
import { ownerOf } from './reservations.ts'

export interface LimitUsage {
  /** Its key in `limits` of the client, as errors name it. */
  readonly limit: string
  /** As the operator wrote it. */
  readonly allowed: string
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

/** What is known of networks that are served. */
interface NetworkReader {
  coin(on: NetworkName): { readonly decimals: number } | undefined
  token(on: NetworkName, name: string): LimitedToken | undefined
}

/** @throws StoreUnavailable */
export async function readUsage(
  store: Pick<Store, 'read'>,
  client: string,
  limits: ClientLimits,
  networks: NetworkReader,
): Promise<readonly LimitUsage[]> {
  const [row, time] = await store.read(async (db) => [
    await db.selectFrom('budgets').select('body').where('owner', '=', ownerOf(client)).executeTakeFirst(),
    await db.selectNoFrom(storeTime.as('now')).executeTakeFirstOrThrow(),
  ])
  const account = row && row.body !== '' ? readAccount(row.body) : emptyAccount
  const counted = (measure: Measure, window: Window, allowed: string, decimals: number) => ({
    window,
    counted: {
      usedRaw: usedIn(account, window, measure, time.now),
      allowedRaw: limitRaw(allowed, decimals),
      decimals,
      ...freesIn(account, window, measure, time.now),
    },
  })
  const {
    allowed: lists = {},
    maxFee,
    maxDailyLoss,
    maxDailyGas,
    transactionsPerHour,
    maxOpenNotional,
    approveAbove,
    tokens = {},
    value = {},
  } = limits
  const usage: LimitUsage[] = []
  if (maxFee !== undefined) usage.push({ limit: 'maxFee', allowed: maxFee, unit: 'coin' })
  if (approveAbove !== undefined) usage.push({ limit: 'approveAbove', allowed: approveAbove, unit: 'reference token' })
  if (transactionsPerHour !== undefined) {
    const allowed = String(transactionsPerHour)
    usage.push({ limit: 'transactionsPerHour', allowed, unit: 'transactions', ...counted('count', 'hour', allowed, 0) })
  }
  if (maxDailyLoss !== undefined)
    usage.push({
      limit: 'maxDailyLoss',
      allowed: maxDailyLoss,
      unit: 'reference token',
      ...counted('loss', 'day', maxDailyLoss, referenceDecimals),
    })
  if (maxDailyGas !== undefined) {
    const ofGas = { limit: 'maxDailyGas', allowed: maxDailyGas, unit: 'coin' } as const
    const ofNetworks = networksOf(account).flatMap((network): LimitUsage[] => {
      const coin = networks.coin(network)
      return coin ? [{ ...ofGas, network, ...counted(gasMeasureOf(network), 'day', maxDailyGas, coin.decimals) }] : []
    })
    usage.push(...(ofNetworks.length > 0 ? ofNetworks : [{ ...ofGas, window: 'day' } as const]))
  }
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
      const token = networks.token(network, symbol)
      for (const [key, window] of amountWindows) {
        const allowed = ofToken[key]
        if (allowed === undefined) continue
        const of = { limit: `tokens.${key}`, allowed, unit: { token: token?.symbol ?? symbol }, network }
        const inWindow = token && window && counted(tokenMeasureOf(network, token.address), window, allowed, token.decimals)
        usage.push({ ...of, ...(window && { window }), ...inWindow })
      }
    }
  }
  for (const [limit, unit] of [
    ['maxSlippage', '%'],
    ['maxPriceImpact', '%'],
  ] as const) {
    const most = limits[limit]
    if (most !== undefined) usage.push({ limit, allowed: String(most), unit })
  }
  const maxLeverage = maxLeverageOf(limits)
  if (maxLeverage !== undefined) usage.push({ limit: 'maxLeverage', allowed: maxLeverage, unit: 'times' })
  if (maxOpenNotional !== undefined) usage.push({ limit: 'maxOpenNotional', allowed: maxOpenNotional, unit: 'unit of account' })
  for (const list of Object.keys(lists) as (keyof AllowedLists)[])
    usage.push({ limit: `allowed.${list}`, allowed: lists[list]?.join(', ') || 'none', unit: 'list' })
  return usage
}

function freesIn(account: Account, window: Window, measure: Measure, nowMs: number): { freesInMs?: number } {
  const at = freesAt(account, window, measure, 0n, nowMs)
  return at === undefined || at === nowMs ? {} : { freesInMs: at - nowMs }
}

/** On which fees were paid, or may be. */
function networksOf({ open, spent }: Account): readonly { chain: string; network: string }[] {
  const measures = new Set([...Object.keys(open), ...[...spent.day.values()].flatMap((bucket) => Object.keys(bucket))])
  return [...measures].flatMap((measure) => {
    const [, chain, network] = /^gas:([^/]+)\/(.+)$/.exec(measure) ?? []
    return chain !== undefined && network !== undefined ? [{ chain, network }] : []
  })
}

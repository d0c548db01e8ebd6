// What a client has left of its limits.
import { toRaw } from '../base/decimal.ts'
import type { AllowedLists, ClientLimits } from '../config/clients.ts'
import { storeTime } from '../store/store-time.ts'
import type { Store } from '../store/store.ts'
import { emptyAccount, freesAt, readAccount, usedIn, type Account, type Measure, type Window } from './account.ts'
import { dollarDecimals, gasMeasureOf, ownerOf } from './spending-limits.ts'

export interface LimitUsage {
  readonly limit: Exclude<keyof ClientLimits, 'allowed'> | `allowed.${keyof AllowedLists}`
  /** As the operator wrote it. */
  readonly allowed: string
  /** Of what is counted in windows: what was spent, and what open transactions may still spend. */
  readonly counted?: {
    /** In the unit's smallest parts. */
    readonly usedRaw: bigint
    readonly allowedRaw: bigint
    readonly decimals: number
    /** When all that was spent has left the window: milliseconds from now. Absent while open transactions hold something, or nothing was spent. */
    readonly freesInMs?: number
  }
  /** Of fees: the network. */
  readonly network?: { readonly chain: string; readonly network: string }
}

interface Coin {
  readonly decimals: number
}

/** @param coinOf of a network of which something is counted; undefined: the network is not served @throws StoreUnavailable */
export async function readUsage(
  store: Pick<Store, 'read'>,
  client: string,
  limits: ClientLimits,
  coinOf: (chain: string, network: string) => Coin | undefined,
): Promise<readonly LimitUsage[]> {
  const [row, time] = await store.read(async (db) => [
    await db.selectFrom('budgets').select('body').where('owner', '=', ownerOf(client)).executeTakeFirst(),
    await db.selectNoFrom(storeTime.as('now')).executeTakeFirstOrThrow(),
  ])
  const account = row && row.body !== '' ? readAccount(row.body) : emptyAccount
  const counted = (measure: Measure, window: Window, allowed: string, decimals: number) => ({
    usedRaw: usedIn(account, window, measure, time.now),
    allowedRaw: toRaw(allowed, decimals) ?? 0n,
    decimals,
    ...freesIn(account, window, measure, time.now),
  })
  const { allowed = {}, maxFee, maxDailyLoss, maxDailyGas, transactionsPerHour } = limits
  const usage: LimitUsage[] = []
  if (maxFee !== undefined) usage.push({ limit: 'maxFee', allowed: maxFee })
  if (transactionsPerHour !== undefined) {
    const allowed = String(transactionsPerHour)
    usage.push({ limit: 'transactionsPerHour', allowed, counted: counted('count', 'hour', allowed, 0) })
  }
  if (maxDailyLoss !== undefined)
    usage.push({ limit: 'maxDailyLoss', allowed: maxDailyLoss, counted: counted('loss', 'day', maxDailyLoss, dollarDecimals) })
  if (maxDailyGas !== undefined) {
    const ofNetworks = networksOf(account).flatMap((network): LimitUsage[] => {
      const coin = coinOf(network.chain, network.network)
      return coin
        ? [
            {
              limit: 'maxDailyGas',
              allowed: maxDailyGas,
              network,
              counted: counted(gasMeasureOf(network), 'day', maxDailyGas, coin.decimals),
            },
          ]
        : []
    })
    usage.push(...(ofNetworks.length > 0 ? ofNetworks : [{ limit: 'maxDailyGas', allowed: maxDailyGas } as const]))
  }
  for (const limit of ['maxSlippage', 'maxPriceImpact', 'maxLeverage'] as const) {
    const most = limits[limit]
    if (most !== undefined) usage.push({ limit, allowed: String(most) })
  }
  for (const list of Object.keys(allowed) as (keyof AllowedLists)[])
    usage.push({ limit: `allowed.${list}`, allowed: allowed[list]?.join(', ') || 'none' })
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

// In which markets of perpetuals wallets have placed orders, by the rows of orders, which stay when transactions are archived.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { addressKey } from '../base/addresses.ts'
import { isOfPair, pairName } from '../store/entry-filters.ts'
import type { Store } from '../store/store.ts'
import type { EntryFilter } from './journal/journal.ts'
import { keysBefore } from './journal/key-leads.ts'
import type { OrderMarket } from './order-fills.ts'

type MarketFilter = Pick<EntryFilter, 'chain' | 'network' | 'address' | 'addresses' | 'connector' | 'pair' | 'pairAliases'>

/** A wallet may have placed a million. */
const rowsAtOnce = 2_000

/** Of all orders that were requested before a moment, and of some later ones where keys are ahead of the clock. @throws StoreUnavailable */
export async function perpetualsBefore(
  store: Pick<Store, 'read'>,
  filter: MarketFilter,
  beforeMs: number,
  signal: AbortSignal,
): Promise<readonly OrderMarket[]> {
  const found = new Map<string, OrderMarket>()
  const ranges = await keysBefore(store, beforeMs)
  const wallets = filter.address === undefined ? (filter.addresses ?? walletsIn(store)) : [addressKey(filter.address)]
  for await (const wallet of wallets) {
    if (filter.addresses && !filter.addresses.has(wallet)) continue
    for (const range of ranges)
      for await (const rows of pagesIn(store, wallet, range, signal))
        for (const { key: _, ...each } of rows)
          if (isOf(each, filter)) found.set(JSON.stringify([wallet, ...Object.values(each)]), { ...each, address: wallet })
  }
  return [...found.values()]
}

/** Of a wallet, newest first. */
async function* pagesIn(store: Pick<Store, 'read'>, wallet: string, { first, end }: { first: string; end: string }, signal: AbortSignal) {
  for (let before = end; ;) {
    signal.throwIfAborted()
    const rows = await store.read((db) =>
      db
        .selectFrom('orders')
        .select(['key', 'chain', 'network', 'connector', 'type', 'market'])
        .where('wallet', '=', wallet)
        .where('key', '>=', first)
        .where('key', '<', before)
        .orderBy('key', 'desc')
        .limit(rowsAtOnce)
        .execute(),
    )
    yield rows
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce) return
    before = last.key
    await nextTurn()
  }
}

function isOf({ type, chain, network, connector, market }: Omit<OrderMarket, 'address'>, filter: MarketFilter): boolean {
  const hyphen = market.lastIndexOf('-')
  return (
    type === 'PERP_CLOB' &&
    (filter.chain ?? chain) === chain &&
    (filter.network ?? network) === network &&
    (filter.connector ?? connector) === connector &&
    isOfPair(filter, { chain, network, pair: pairName(market.slice(0, hyphen), market.slice(hyphen + 1)) })
  )
}

/** From one to the next by the index: they are few, and their orders may be many. */
async function* walletsIn(store: Pick<Store, 'read'>): AsyncGenerator<string> {
  for (let last = ''; ;) {
    const after = last
    const next = await store.read((db) =>
      db.selectFrom('orders').select('wallet').where('wallet', '>', after).orderBy('wallet').limit(1).executeTakeFirst(),
    )
    if (!next) return
    yield next.wallet
    last = next.wallet
  }
}

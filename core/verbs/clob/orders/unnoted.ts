import type { BookMarket } from '../../../contracts/index.ts'
import type { JournaledOrder } from '../../../transactions/book-orders.ts'
import { nameOf } from '../../../handlers/clob/markets.ts'
import type { WalletOrders } from '../../../handlers/clob/wallet-orders.ts'

/** So many are read at a time, and so often at most: they are looked through in memory. */
const [pageSize, mostPages] = [1_000, 5]

/**
 * A wallet's orders that are not known to have ended, newest first. Almost always that is one page.
 * @param isEnough whether those further back are not wanted
 */
export async function unnotedOrders(
  orders: Pick<WalletOrders, 'journaled'>,
  market: BookMarket | undefined,
  isEnough: (found: readonly JournaledOrder[]) => boolean,
): Promise<readonly JournaledOrder[]> {
  const found: JournaledOrder[] = []
  for (let pages = 0; pages < mostPages; pages += 1) {
    const before = found.at(-1)?.key
    const where = { ...(market && { market: nameOf(market) }), ...(before !== undefined && { before }) }
    const page = await orders.journaled({ ...where, openOnly: true, limit: pageSize })
    found.push(...page)
    if (page.length < pageSize || isEnough(found)) break
  }
  return found
}

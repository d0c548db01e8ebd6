import type { At, BookMarket, FundingPayment } from 'sluice/plugin'
import type { Ask } from '../api.ts'
import { plain } from '../decimal.ts'
import type { Listing } from '../markets.ts'
import { fundings } from '../accounts.ts'
import type { WireFunding } from '../accounts.ts'

const hourMs = 3_600_000
const firstSpanMs = 48 * hourMs
const longestMs = 400 * 24 * hourMs
/** The exchange gives so many at once, the oldest of the asked time first. */
const pageSize = 500
const mostPages = 40

export interface WantedPayments {
  readonly user: string
  readonly market?: BookMarket
  readonly limit: number
  readonly before: number
}

/** Newest first. The exchange counts forward from a time: so ever longer spans are asked for, backwards, until there are enough. */
export async function readPayments(
  ask: Ask,
  { byId }: Listing,
  { user, market, limit, before }: WantedPayments,
  at: At,
): Promise<readonly FundingPayment[]> {
  const found: WireFunding[] = []
  const isWanted = ({ delta }: WireFunding) => (market === undefined ? byId.has(delta.coin) : delta.coin === market.id)
  let pages = 0
  let end = before - 1
  for (let spanMs = firstSpanMs; found.length < limit && end > before - longestMs; spanMs *= 4) {
    const start = Math.max(0, end - spanMs)
    let from = start
    for (;;) {
      pages += 1
      const page = await ask({ type: 'userFunding', user, startTime: from, endTime: end }, fundings, at)
      found.push(...page.filter((each) => each.time <= end && isWanted(each)))
      const last = Math.max(...page.map(({ time }) => time))
      if (page.length < pageSize || last <= from || pages >= mostPages) break
      from = last
    }
    if (pages >= mostPages || start === 0) break
    end = start - 1
  }
  return [...unique(found)]
    .toSorted((a, b) => b.time - a.time)
    .slice(0, limit)
    .flatMap(({ time, delta }) => {
      const of = byId.get(delta.coin)?.market
      return of ? [{ market: of, amount: plain(delta.usdc), rate: plain(delta.fundingRate), timestamp: time }] : []
    })
}

/** Pages overlap by a moment. */
const unique = (all: readonly WireFunding[]) => new Map(all.map((each) => [`${each.time}/${each.delta.coin}`, each])).values()

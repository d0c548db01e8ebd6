// What a wallet paid and received as funding in a perpetual of order books, by what its exchange tells now: no receipt and no order has it.
import { parseDecimal, sum, type DecimalParts } from '../../base/decimal.ts'
import { SluiceError } from '../../base/errors.ts'
import type { FundingPeriod, FundingSum } from '../../books/funding.ts'
import { tradingOf, type Registry } from '../../plugins/index.ts'
import { missingIn } from '../pages.ts'
import { marketsOf } from './markets.ts'

/** What exchanges have in one answer, and how many are read: some two years of payments each hour. */
const maxPayments = 500
const maxPages = 40

type Networks = Pick<Registry, 'networkOf' | 'venue'>

/** Below 0 where the wallet paid more. Where it cannot be told, why: nothing is guessed. */
export async function fundingOf(of: FundingPeriod, registry: Networks, signal: AbortSignal): Promise<FundingSum> {
  try {
    return await readFunding(of, registry, signal)
  } catch (error) {
    signal.throwIfAborted()
    return { unknown: error instanceof SluiceError ? error.message : `${of.connector} did not tell the funding payments` }
  }
}

async function readFunding(of: FundingPeriod, registry: Networks, signal: AbortSignal): Promise<FundingSum> {
  const { chain, network, connector, fromMs, toMs } = of
  const venue = registry.venue(connector, chain, network)
  const owner = registry.networkOf(venue, chain, network).impl.address(of.address) ?? of.address
  const market = (await marketsOf('PERP_CLOB', venue, { signal })).find(of.market)
  const amounts: string[] = []
  let before = toMs
  for (let page = 0; page < maxPages; page += 1) {
    const query = { limit: maxPayments, from: fromMs, ...(before !== undefined && { before }), market }
    const found = await tradingOf('PERP_CLOB', venue).fundingPayments(owner, query, { signal })
    const [unread] = missingIn(found, () => ({})).unavailable ?? []
    if (unread) return { unknown: `a funding payment cannot be read: ${unread.reason}` }
    const isLast = found.length < maxPayments
    const oldest = found.at(-1)?.timestamp ?? -Infinity
    // The end of a full page may be one of several of its time: these come with the next.
    const whole = isLast ? found : found.filter(({ timestamp }) => timestamp > oldest)
    amounts.push(...whole.flatMap(({ timestamp, amount }) => (timestamp >= fromMs ? [amount] : [])))
    if (isLast || oldest < fromMs) return { paid: total(amounts) }
    if (whole.length === 0) return { unknown: `${connector} has paid more than ${maxPayments} times at once` }
    before = oldest + 1
  }
  return { unknown: `there are more than ${maxPages * maxPayments} funding payments: take a shorter time` }
}

const total = (amounts: readonly string[]): DecimalParts => parseDecimal(sum(amounts))

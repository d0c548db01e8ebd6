// The indexes of perpetuals whose changes of positions wait to be mined: limits value those by the index of now.
import type { NetworkName } from '../../base/networks.ts'
import { dropOldest } from '../../base/oldest.ts'
import { microsOf, perpetualSides, type PositionTerms } from '../../transactions/budgets.ts'
import type { Registry } from '../../plugins/index.ts'
import type { Entry } from '../../transactions/entry.ts'
import { networkOf } from '../limited-amounts.ts'
import { readAboutPosition } from './fills.ts'
import { tickerOf } from './markets.ts'
import { sideValues } from './losses.ts'

/** What waits is looked at in each block: an exchange that does not answer keeps nothing else from it. */
const timeoutMs = 2_000
const maxMarkets = 1_000

export interface WaitingIndexes {
  /** Reads them for these. Settles in any case: where it cannot be read the last one stays. */
  read(waiting: readonly Entry[]): Promise<void>
  /** By the index that was read last, in millionths of the unit of account: what is given and what is lost; undefined where none was. */
  compare(on: NetworkName, exchanged: PositionTerms): { readonly givenMicros: bigint; readonly lostMicros: bigint } | undefined
}

export function createWaitingIndexes(registry: Pick<Registry, 'networks' | 'plannedBy'>): WaitingIndexes {
  const known = new Map<string, ReturnType<typeof sideValues>>()
  const nameOf = ({ chain, network }: NetworkName, { connector, market }: PositionTerms['at']) =>
    `${chain}/${network}/${connector}/${market}`

  async function readOne(entry: Entry): Promise<void> {
    const on = networkOf(entry, registry)
    const venue = on && registry.plannedBy(entry, on)
    const perp = venue?.impl.PERP_AMM
    if (!venue || !perp) return
    const at = { signal: AbortSignal.timeout(timeoutMs) }
    const { ticker } = readAboutPosition(entry.about)
    const market = (await perp.listMarkets(at)).markets.find((each) => tickerOf(each) === ticker)
    if (!market) return
    const { prices } = await perp.prices(market, at)
    const name = nameOf(entry, { connector: venue.connector, market: market.id })
    known.delete(name)
    known.set(name, sideValues(prices.index, market))
    dropOldest(known, maxMarkets)
  }

  return {
    async read(waiting) {
      const positions = waiting.filter(({ kind, signer }) => kind === 'position' && signer === undefined)
      const each = new Map(positions.map((entry) => [`${entry.connector} ${readAboutPosition(entry.about).ticker}`, entry]))
      await Promise.allSettled([...each.values()].map(readOne))
    },
    compare(on, { at, gives, gets }) {
      const values = known.get(nameOf(on, at))
      if (!values) return undefined
      const valueX: Readonly<Record<string, bigint>> = { [perpetualSides.base]: values.baseX, [perpetualSides.quote]: values.quoteX }
      const worth = (amounts: Readonly<Record<string, bigint>>, rounding: 'up' | 'down') =>
        Object.entries(amounts).reduce((sum, [side, raw]) => sum + microsOf(raw, valueX[side] ?? 0n, rounding), 0n)
      const givenMicros = worth(gives, 'up')
      return { givenMicros, lostMicros: givenMicros - worth(gets, 'down') }
    },
  }
}

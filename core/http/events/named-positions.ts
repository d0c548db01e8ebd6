import { badFields, SluiceError, type EventsRequest } from '../../api/index.ts'
import type { At } from '../../contracts/index.ts'
import { rangePositions } from '../../handlers/amm/range-positions.ts'
import { showPosition as showBookPosition } from '../../verbs/clob/account/positions.ts'
import { bookOf } from '../../verbs/clob/book-type.ts'
import { marketsOf } from '../../handlers/clob/markets.ts'
import type { On } from '../../handlers/context.ts'
import type { Directory } from '../../handlers/registry.ts'
import { showPosition } from '../../verbs/perp-amm/figures/show-position.ts'
import { findMarket, perpOf, tickerOf } from '../../handlers/perp/markets.ts'
import { readAddress } from '../../handlers/wallets.ts'
import { onEachNetwork } from './on-each-network.ts'

/** What there is to say of the positions of a wallet, as the endpoints show them. */
export interface Positions {
  readonly positions: readonly Readonly<Record<string, unknown>>[]
  /** Those whose tokens cannot be read. */
  readonly unshown?: readonly object[]
  readonly blockNumber?: number
}

/** The positions of a wallet that somebody wants to hear of. */
export interface NamedPositions extends On<'connector'> {
  /** As the chain spells it. */
  readonly address: string
  /** All that they are narrowed to. */
  readonly markets: readonly string[] | undefined
  /** Which fields are of the wallet's doing, and not of prices alone. */
  readonly lasting: readonly string[]
  read(at: At): Promise<Positions>
}

type Asked = (place: On<'connector'>, owner: string, request: EventsRequest, at: At) => Promise<Pick<NamedPositions, 'markets' | 'read'>>

/** How each kind of exchange is asked. */
const kinds: Readonly<Record<string, { asked: Asked; lasting: readonly string[] }>> = {
  PERP_CLOB: {
    lasting: ['market', 'positionSide', 'positionAmt', 'entryPrice', 'leverage', 'marginMode'],
    asked: async ({ venue }, owner, { market: names }, at) => {
      const listed = await marketsOf('PERP_CLOB', venue, at)
      const markets = names && [...new Set(names.map((name) => listed.find(name).id))].toSorted()
      return {
        markets,
        async read(now) {
          const held = await bookOf('PERP_CLOB', venue).positions(owner, now)
          return { positions: held.filter(({ market }) => markets?.includes(market.id) ?? true).map(showBookPosition) }
        },
      }
    },
  },
  PERP_AMM: {
    // Its leverage is what the position is worth by what the account is.
    lasting: ['tickerSymbol', 'positionSide', 'positionAmt', 'entryPrice'],
    asked: async ({ venue }, owner, request, at) => {
      const perp = perpOf(venue)
      const one = await marketNamed(request, venue, at)
      return {
        markets: one && [tickerOf(one)],
        async read(now) {
          const all = one ? undefined : await perp.funding(owner, now)
          const markets = all?.funding.map(({ market }) => market) ?? (one ? [one] : [])
          const held = await Promise.all(markets.map((market) => perp.position(owner, market, now)))
          const open = held.filter(({ position }) => position.sizeRaw !== 0n)
          return {
            positions: open.map(({ position, account }) => showPosition(position, account)),
            // The oldest that something of it is of.
            blockNumber: Math.min(...[...held, ...(all ? [all] : [])].map(({ head }) => Number(head.number))),
          }
        },
      }
    },
  },
  AMM_RANGE: {
    lasting: ['tokenId', 'liquidity', 'inRange'],
    asked: async (place, owner) => ({ markets: undefined, read: (now) => rangePositions(owner, place, now) }),
  },
}

/** The positions that a request names, on all networks that it does not rule out. @throws SluiceError as the endpoints of positions do */
export async function namedPositions(directory: Directory, request: EventsRequest, at: At): Promise<readonly NamedPositions[]> {
  const { connector, address } = request
  if (connector === undefined) throw missing('connector', 'where the positions are that the topic positions is to tell of')
  if (address === undefined) throw missing('address', 'whose positions the topic positions is to tell of')
  const { name, trading_type } = directory.connector(connector)
  const kind = Object.entries(kinds).find(([type]) => trading_type.includes(type))?.[1]
  if (!kind) {
    const types = Object.keys(kinds).join(', ')
    throw new SluiceError(
      'UNSUPPORTED',
      `The connector ${name} has no positions: that is, none of ${types}; GET /plugins shows what it has.`,
    )
  }
  return onEachNetwork(directory, name, request, async (network, venue) => {
    const owner = readAddress(network, address)
    const asked = await kind.asked({ network, venue }, owner, request, at)
    return [{ network, venue, address: owner, lasting: kind.lasting, ...asked }]
  })
}

async function marketNamed({ base, quote }: EventsRequest, venue: On<'connector'>['venue'], at: At) {
  if (base === undefined && quote === undefined) return undefined
  if (base === undefined) throw missing('base', 'with quote which market is meant')
  if (quote === undefined) throw missing('quote', 'with base which market is meant')
  return findMarket({ base, quote }, venue, at)
}

const missing = (field: string, says: string) => badFields([{ field, problem: `is missing: it says ${says}` }])

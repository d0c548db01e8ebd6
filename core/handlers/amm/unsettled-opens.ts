// Opens that are not final, of all servers on the store: one may have made a position that is not there at this block, and may come into another one.
// Nothing here counts by a clock: those of two servers differ.
import { addressKey } from '../../base/addresses.ts'
import { isObject } from '../../base/json.ts'
import type { VenueEntry } from '../../plugins/index.ts'
import type { Entry } from '../../transactions/entry.ts'
import { orUndefined, type Services, type TargetContext } from '../context.ts'
import { idIn } from './journaled-positions.ts'

/** Its transaction is sent, and may come into a block, or into another one. */
const underWay = ['SIGNED', 'BROADCAST', 'MINED'] as const
const maxOpens = 500
/** The newest events, in which an open that is not final and was in a block has one. */
const eventsRead = 10_000

type Journal = Pick<Services['transactions'], 'list' | 'events'>

/** The opens of an exchange that are not final: what one of them made may be absent, and come again. */
export async function opensUnderWay(
  { venue: { connector }, network: { chain, network } }: TargetContext<'connector'>,
  journal: Pick<Journal, 'list'>,
): Promise<readonly Entry[]> {
  const found: Entry[] = []
  for (const state of underWay) {
    const { entries } = await journal.list({ chain, network, connector, kind: 'liquidity', state, limit: maxOpens })
    found.push(...entries.filter(isOpen))
  }
  return found
}

export const isOpen = ({ request }: Pick<Entry, 'request'>): boolean =>
  request?.path === '/amm/liquidity/add' && !(isObject(request.fields) && 'tokenId' in request.fields)

/**
 * Whether one of them may be what a caller knows by this id: it was under way when the position was first missed; or it was in a block since, whose
 * receipt its caller was told, by whichever server.
 */
export async function mayHaveOpened(
  tokenId: string,
  opens: readonly Entry[],
  whenMissed: ReadonlySet<string>,
  target: TargetContext<'connector'>,
  journal: Journal,
): Promise<boolean> {
  const unmined: Entry[] = []
  for (const open of opens) {
    if (whenMissed.has(open.key)) return true
    if (open.state !== 'MINED') unmined.push(open)
    else if (await isReceiptOf(tokenId, open, target)) return true
  }
  if (unmined.length === 0) return false
  const { chain, network } = target.network
  const addresses = new Set(unmined.map(({ address }) => addressKey(address)))
  const from = Math.max(0, (await journal.events.lastId()) - eventsRead)
  const events = await journal.events.after(from, { chain, network, addresses, limit: eventsRead })
  const wasMined = new Set(events.flatMap(({ entry }) => (entry.state === 'MINED' ? [entry.key] : [])))
  return unmined.some(({ key }) => wasMined.has(key))
}

/** @returns true, too, where nobody can read it */
async function isReceiptOf(tokenId: string, open: Entry, { venue }: { readonly venue: VenueEntry }): Promise<boolean> {
  const { landed, outcome, memo } = open
  if (landed?.ok === false) return false
  const made = idIn(outcome ?? (landed && (await orUndefined(() => venue.impl.AMM_RANGE?.rangeFill(landed.receipt, memo)))))
  return made === undefined || made === tokenId
}

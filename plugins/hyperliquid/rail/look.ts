import type { At, Look, OpenAttempt, Sighting } from 'sluice/plugin'
import type { Ask } from '../api.ts'
import type { ExchangeClock } from '../api/clock.ts'
import type { OwnNews } from '../order-updates.ts'
import { createTraceFinder, lagMs } from '../find-trace.ts'
import { refusalOf } from './receipt.ts'
import type { Receipt } from './receipt.ts'
import { nonceLivesMs } from '../nonces.ts'
import type { Slot, Synced } from '../nonces.ts'
import { isTraced } from './trace.ts'
import type { Traced } from './trace.ts'
import type { UsedNonces } from './used-nonces.ts'

/** Orders are asked for one by one, and each question weighs on the limit: so many attempts at a look, the others at the next. */
const mostAttempts = 10

type Attempt = OpenAttempt<string, Slot>

/** What became of actions whose answer was lost: by what they leave behind, or by the end of their time. */
export function createLook({ ask, clock, used, news }: { ask: Ask; clock: ExchangeClock; used: UsedNonces; news: OwnNews }) {
  const find = createTraceFinder({ ask, clock, used })
  let from = 0

  async function sight(id: string, step: Traced, { nonce }: Slot, nowMs: Promise<number>, at: At): Promise<Sighting> {
    const endMs = step.expiresAfter ?? nonce + nonceLivesMs
    // By a clock that is behind there is another look.
    const wasThorough = clock.nowMs() > endMs
    const [receipt, now] = await Promise.all([find(id, step, nonce, wasThorough, at), nowMs])
    if (receipt) return { id, ...landed(receipt) }
    return now > endMs + lagMs && wasThorough ? { id, is: 'expired' } : { id, is: 'unseen' }
  }

  return async (open: readonly Attempt[], at: At): Promise<Look<string, Synced>> => {
    news.lookFor(open.flatMap(({ step }) => (isTraced(step) ? [step] : [])))
    const start = open.length > mostAttempts ? from % open.length : 0
    from = start + mostAttempts
    const some = [...open.slice(start), ...open.slice(0, start)].slice(0, mostAttempts)
    const nowMs = clock.ask(at)
    const seen = some.map(async ({ id, step, slot }) => (isTraced(step) ? [await sight(id, step, slot, nowMs, at)] : []))
    const [sightings] = await Promise.all([Promise.all(seen), nowMs])
    return { sightings: sightings.flat(), synced: new Map() }
  }
}

function landed(receipt: Receipt): Omit<Sighting & { is: 'landed' }, 'id'> {
  const reason = refusalOf(receipt)
  return { is: 'landed', ok: reason === undefined, blockNumber: -1, depth: 1, receipt, ...(reason !== undefined && { reason }) }
}

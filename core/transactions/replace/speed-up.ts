import { SluiceError } from '../../contracts/index.ts'
import { replaceOf } from './cancel.ts'
import type { Entry } from '../entry.ts'
import type { HeldLane } from '../leased-queues.ts'
import { namesFees } from '../submit-request.ts'
import type { Origin, Site } from '../submit-request.ts'
import { nothingPending, pendingOn } from './pending.ts'
import type { Wanted } from '../replace.ts'
import type { Recorder } from '../journal/recorder.ts'
import { syncLane } from '../lanes/sync-lane.ts'
import { nothingSent, orTimeout } from '../submit/timeout.ts'

export interface SpeedUpParts {
  site: Site
  recorder: Recorder
  raise: (wanted: Wanted, signal: AbortSignal) => Promise<{ txHash: string; nonce: number }>
}

/** A caller's wish to have a transaction mined sooner: the one on a nonce, or the lowest pending one. */
export function createSpeedUp({ site, recorder, raise }: SpeedUpParts) {
  const { rail } = site.impl

  async function pick(nonce: number | undefined, { lane }: HeldLane, signal: AbortSignal): Promise<Entry> {
    await syncLane(rail, lane, signal)
    const key = nonce === undefined ? undefined : lane.occupant(nonce)?.key
    const [lowest] = nonce === undefined ? await pendingOn(lane, { recorder, site }) : []
    const entry = key === undefined ? lowest : await recorder.read(key)
    if (entry) return entry
    throw await nothingPending(lane, nonce, 'speed up', { recorder, site })
  }

  return async function speedUp(
    { address, requestId, keyed, nonce, wish }: Origin,
    signal: AbortSignal,
  ): Promise<{ txHash: string; nonce: number }> {
    const replace = replaceOf(rail, site.chain)
    const head = await orTimeout(site.impl.head({ signal }), signal, nothingSent)
    const feesGiven = namesFees(wish)
    return raise(
      {
        address,
        requestId,
        keyed,
        feesGiven,
        pick: (held) => pick(nonce, held, signal),
        feesOver(over) {
          const fees = replace.bump(over, head, feesGiven ? wish : undefined)
          if (fees) return fees
          throw new SluiceError(
            'TRANSACTION_GAS_PRICE_TOO_LOW',
            `To replace it ${replace.least(over)} would have to be offered, which is above the network's feeCap: wait, or raise feeCap in its settings.`,
          )
        },
      },
      signal,
    )
  }
}

import { SluiceError } from '../../contracts/index.ts'
import type { Rail } from '../../contracts/index.ts'
import type { Lanes } from '../leased-queues.ts'
import type { Lane } from '../nonce-queue.ts'
import type { Origin, PlacedOrder, Site, Submitted } from '../submit-request.ts'
import { nothingPending, pendingOn } from './pending.ts'
import type { Recorder } from '../journal/recorder.ts'
import type { Manner } from '../submit.ts'
import { syncLane } from '../lanes/sync-lane.ts'

export interface CancelParts {
  site: Site
  lanes: Lanes
  recorder: Recorder
  submit: (order: PlacedOrder, manner: Manner, signal: AbortSignal) => Promise<Submitted>
}

export interface Cancelling extends Origin {
  /** Key of the one entry that is meant: nothing else that may be on its nonce by then. */
  only?: string
}

/** Replaces what is on a nonce by a transfer of nothing to oneself; without a nonce the lowest pending one. */
export function createCancel({ site, lanes, recorder, submit }: CancelParts) {
  const { rail } = site.impl

  /** What was not cancelled yet comes first, so that asking again cancels the next one. */
  async function nonceOf(nonce: number | undefined, lane: Lane): Promise<number> {
    if (nonce === undefined) {
      const [lowest] = (await pendingOn(lane, { recorder, site })).toSorted(
        (a, b) => Number(a.kind === 'cancel') - Number(b.kind === 'cancel'),
      )
      if (lowest) return lowest.nonce
    } else {
      // Where nothing is ours another program's may be, or it is mined: what comes next tells.
      const mayBeThere = lane.occupant(nonce) !== undefined || lane.standing({ nonce }) !== 'free'
      if (mayBeThere) return nonce
    }
    throw await nothingPending(lane, nonce, 'cancel', { recorder, site })
  }

  return async function cancel({ only, ...origin }: Cancelling, signal: AbortSignal): Promise<{ txHash: string; nonce: number }> {
    const { address } = origin
    const nonce = await lanes.use(address, signal, async ({ lane }) => {
      await syncLane(rail, lane, signal)
      return nonceOf(origin.nonce, lane)
    })
    return submitNothing(
      { ...origin, nonce, signer: address },
      'cancel',
      { replaces: true, ...(only !== undefined && { only }) },
      { site, submit },
      signal,
    )
  }
}

/** A transfer of nothing to oneself, on a nonce. */
export async function submitNothing(
  origin: Origin & { nonce: number; signer: string },
  kind: 'cancel' | 'fill',
  manner: Manner,
  { site, submit }: Pick<CancelParts, 'site' | 'submit'>,
  signal: AbortSignal,
): Promise<{ txHash: string; nonce: number }> {
  const { signer } = origin
  const answer = ({ txHash, nonce }: Submitted) => ({ txHash, nonce })
  const order = { ...origin, plan: planOf(site, signer), scope: { contracts: [signer], valueRaw: 0n }, kind, answer }
  return answer(await submit(order, manner, signal))
}

function planOf({ chain, impl: { rail } }: Site, signer: string): PlacedOrder['plan'] {
  return { steps: [replaceOf(rail, chain).cancel(signer)], needs: [], memo: null }
}

/** @throws SluiceError UNSUPPORTED where nothing that was signed can be replaced */
export function replaceOf({ replace }: Rail, chain: string): NonNullable<Rail['replace']> {
  if (replace) return replace
  throw new SluiceError('UNSUPPORTED', `${chain} cannot replace a transaction once it was sent.`)
}

import { SluiceError } from '../../contracts/index.ts'
import type { Entry } from '../entry.ts'
import type { Lane } from '../nonce-queue.ts'
import { nonceConflict } from '../lanes/nonce-conflict.ts'
import type { Site } from '../submit-request.ts'
import type { Recorder } from '../journal/recorder.ts'

interface Parts {
  recorder: Recorder
  site: Site
}

/** What of a wallet waits to be mined and nothing is to replace, lowest nonce first. The lane must be ours, and in sync with the chain. */
export async function pendingOn(lane: Lane, { recorder, site: { chain, network, connector } }: Parts): Promise<readonly Entry[]> {
  const unfinished = await recorder.unfinished({ chain, network, connector, address: lane.address })
  return unfinished
    .filter(({ attempts, landed, replacedBy }) => attempts.length > 0 && !landed && replacedBy === undefined)
    .filter(({ slot }) => lane.standing({ slot }) !== 'past')
    .toSorted((a, b) => a.nonce - b.nonce)
}

/** Why nothing of ours is pending, there or anywhere: what is being signed will be in a moment, what was mined is not any more. */
export async function nothingPending(lane: Lane, nonce: number | undefined, toDo: string, { recorder, site }: Parts): Promise<SluiceError> {
  const { address } = lane
  const conflict = (found: Pick<Parameters<typeof nonceConflict>[0], 'is' | 'nonce' | 'requestId'>) =>
    nonceConflict({ next: lane.next(), ...found }, { recorder, site, address })
  const signing = lane.signing(nonce)
  if (signing) return conflict({ is: 'claimed', ...signing })
  if (nonce !== undefined && lane.standing({ nonce }) === 'past') return conflict({ is: 'past', nonce })
  const what =
    nonce === undefined ? `${address} has no pending transaction in the journal` : `Nothing of ${address} is pending on nonce ${nonce}`
  return new SluiceError('UNKNOWN_TRANSACTION', `${what}: there is nothing to ${toDo}.`)
}

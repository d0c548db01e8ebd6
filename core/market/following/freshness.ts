import { SluiceError } from '../../api/index.ts'
import type { At } from '../../contracts/index.ts'
import { within } from '../within.ts'
import type { HeadChaser } from './head-chaser.ts'
import { patienceMs } from './patience.ts'
import type { Trail } from './trail.ts'

/** Whether what is in memory is new enough to be shown. */
export interface Freshness {
  isFresh(): boolean
  /** Whether it may be read at once: it is fresh, and not from before a block that somebody was told of. */
  isCurrent(): boolean
  /** Whether it is too old to be shown, and what happened since could not be read when that was tried last. */
  isCutOff(): boolean
  /** Asks the network, and waits for what is new. @throws SluiceError NETWORK where it is away or too far ahead */
  require(at: At): Promise<void>
  /** Somebody was told of a block. */
  heardOf(number: bigint): void
}

/** Blocks may come faster than nodes answer: what is no older than that by the blocks' own time may be shown, however many came since. */
const leastSeconds = 2
/** After so many failures nobody waits for the next try any more. */
const mostFailures = 3
/** So often is a network that moves on asked for its head, for one reading. */
const mostConfirmed = 8
/** And so often for a block that somebody was told of. */
const mostPromised = 3
/** So long is a block waited for that somebody was told of. */
const heardMs = 1_000

/**
 * @param network how errors name it
 * @param staleBlocks a state this many blocks behind what the network has is still shown
 */
export function createFreshness(network: string, chaser: HeadChaser, trail: Trail, staleBlocks: number): Freshness {
  /** The newest block that somebody was told of, and how long it is waited for. */
  let promised = 0n
  let promisedUntil = 0

  const isNear = () => chaser.blocksBehind <= staleBlocks || chaser.secondsBehind <= leastSeconds
  const isFresh = () => trail.tip !== undefined && isNear() && performance.now() - chaser.freshAt <= patienceMs(trail, staleBlocks)
  const isBefore = (number: bigint) => (trail.tip?.number ?? 0n) < number

  function tooOld(): SluiceError {
    const blocks = chaser.blocksBehind > staleBlocks ? `, ${chaser.blocksBehind} blocks` : ''
    const why = chaser.failures > 0 ? chaser.reason : 'more blocks come than are read'
    return new SluiceError('NETWORK', `What is known of ${network} is too old to be shown${blocks}: ${why}. Try again shortly.`, {
      retryAfterSeconds: 1,
    })
  }

  return {
    isFresh,
    isCurrent: () => isFresh() && (!isBefore(promised) || performance.now() > promisedUntil),
    isCutOff: () => chaser.failures > 0 && !isFresh(),
    async require({ signal }) {
      for (let tries = 1; ; tries += 1) {
        if (chaser.failures >= mostFailures && !isFresh()) throw tooOld()
        await within(chaser.confirm(), signal)
        if (isFresh()) {
          // The question for the head may have been under way already when the block came.
          if (isBefore(promised) && tries < mostPromised) continue
          // The node that was asked does not have it: what there is, is not too old.
          promised = 0n
          return
        }
        // While it was read what happened, more blocks came than it may be behind: then they are read together.
        if (chaser.failures > 0 || tries >= mostConfirmed) throw tooOld()
      }
    },
    heardOf(number) {
      if (!trail.tip || number <= trail.tip.number) return
      if (number > promised || performance.now() > promisedUntil) promised = number
      promisedUntil = performance.now() + heardMs
    },
  }
}

import { SluiceError } from '../../api/index.ts'
import type { At } from '../../contracts/index.ts'
import { within } from '../../async.ts'
import type { HeadChaser } from '../../live-state/blocks.ts'
import { blockSeconds, patienceMs } from './patience.ts'
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
  /** Why it is too old to be shown, in words for callers. */
  readonly reason: string
}

export interface FreshnessOptions {
  /** How errors name it. */
  network: string
  chaser: HeadChaser
  trail: Trail
  /** A state this many blocks behind what the network has is still shown. */
  staleBlocks: number
  /** A network whose newest block is older than that by this machine's clock stands still; undefined where blocks come only on demand. */
  staleBlockSeconds: number | undefined
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
/** Where blocks take long, a network stands still only after so many of them did not come. */
const mostMissing = 10

export function createFreshness({ network, chaser, trail, staleBlocks, staleBlockSeconds }: FreshnessOptions): Freshness {
  /** The newest block that somebody was told of, and how long it is waited for. */
  let promised = 0n
  let promisedUntil = 0

  const isNear = () => chaser.blocksBehind <= staleBlocks || chaser.secondsBehind <= leastSeconds
  const isHeard = () => performance.now() - chaser.freshAt <= patienceMs(trail, staleBlocks)
  const isFresh = () => trail.tip !== undefined && isNear() && isHeard() && !standsStill()
  const isBefore = (number: bigint) => (trail.tip?.number ?? 0n) < number

  /** A node that has lost its peers goes on answering, always by the same block. */
  const standsStill = () =>
    staleBlockSeconds !== undefined && ageSeconds() > staleBlockSeconds && ageSeconds() > blockSeconds(trail) * mostMissing
  const ageSeconds = () => (trail.tip ? Date.now() / 1000 - trail.tip.timestamp : 0)

  function reason(): string {
    if (chaser.failures > 0) return chaser.reason
    if (!standsStill()) return trail.tip ? 'more blocks come than are read' : chaser.reason
    return `the newest block that its nodes give is ${Math.round(ageSeconds())} s old by this machine's clock; check both`
  }

  function tooOld(): SluiceError {
    const blocks = chaser.blocksBehind > staleBlocks ? `, ${chaser.blocksBehind} blocks` : ''
    return new SluiceError('NETWORK', `What is known of ${network} is too old to be shown${blocks}: ${reason()}. Try again shortly.`, {
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
        if (chaser.failures > 0 || standsStill() || tries >= mostConfirmed) throw tooOld()
      }
    },
    heardOf(number) {
      if (!trail.tip || number <= trail.tip.number) return
      if (number > promised || performance.now() > promisedUntil) promised = number
      promisedUntil = performance.now() + heardMs
    },
    get reason() {
      return reason()
    },
  }
}

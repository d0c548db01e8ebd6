import { SluiceError } from '../api/index.ts'
import { abortable, createBackoff, createCondition, pause, withDeadline } from '../async.ts'
import type { Chain, Head, Interest, At, HeadChanges } from '../contracts/index.ts'
import type { StateSubject, Telemetry } from './telemetry.ts'

interface HeadFollowerOptions {
  chain: Pick<Chain, 'head' | 'heads' | 'changes'>
  place: StateSubject
  witness: Telemetry
  trail: BlockHistory
  /** What is asked of every block now. */
  interest(): Interest
  /** From the tip of the trail to another, by what was asked of the blocks on the way; undefined where all begins anew at this head. */
  advance(to: Head, way: BlockPath | undefined, asked: ReadonlySet<string>): void
}

/** Brings a trail to the newest head, one way after the other. */
interface HeadFollower {
  /** What it is behind the newest head that was heard of. */
  readonly blocksBehind: number
  /** The same by what the blocks say of their time. */
  readonly secondsBehind: number
  /** When the trail was last known to end with the newest block: of `performance.now`. */
  readonly freshAt: number
  /** Why it is not there, in words for callers. */
  readonly reason: string
  /** How often in a row what happened could not be read. */
  readonly failures: number
  /** Until the signal is aborted. */
  run(signal: AbortSignal): void
  /** Asks the network for its head, and goes there. @throws SluiceError where it does not answer */
  confirm(): Promise<void>
}

/** For one way, and for one question. */
const mostMs = 15_000

export function createHeadFollower({ chain, place, witness, trail, interest, advance: go }: HeadFollowerOptions): HeadFollower {
  const name = `${place.chain}/${place.network}`
  const progress = createCondition()
  let running: AbortSignal | undefined
  let chasing: AbortSignal | undefined
  let heard: Head | undefined
  let freshAt = -Infinity
  let reason = 'no block of it was seen yet'
  let confirming: Promise<void> | undefined
  let failures = 0

  function lost(what: string, error: unknown): void {
    reason = reasonOf(error)
    witness.trouble(place, 'lost', `${what}: ${reason}`, error)
  }

  async function listen(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff()
    while (!signal.aborted) {
      try {
        for await (const head of chain.heads(signal)) {
          hear(head)
          backoff.reset()
        }
      } catch (error) {
        if (!signal.aborted) lost(`the blocks of ${name} cannot be followed`, error)
      }
      backoff.failed()
      await pause(backoff.pauseMs, signal)
    }
  }

  function hear(head: Head): void {
    heard = head
    if (!running || chasing === running) return
    chasing = running
    void chase(running)
  }

  async function chase(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff(200, 5_000)
    failures = 0
    for (;;) {
      const to = heard
      if (!to || to.hash === trail.tip?.hash || signal.aborted) break
      try {
        await step(to, signal)
        backoff.reset()
        failures = 0
        progress.notifyAll()
      } catch (error) {
        if (signal.aborted) break
        if (failures === 0) lost(`what happened in block ${to.number} of ${name} could not be read`, error)
        failures += 1
        reason = reasonOf(error)
        backoff.failed()
        progress.notifyAll()
        await pause(backoff.pauseMs, signal)
      }
    }
    if (chasing === signal) chasing = undefined
  }

  async function step(to: Head, over: AbortSignal): Promise<void> {
    const { follow, from } = interest()
    const asked = new Set(follow)
    const way = await withDeadline(over, mostMs, (signal) =>
      findBlockPath(trail, to, (after, last) =>
        abortable(changes(after, last, { follow: [...asked], ...(from && { from }) }, { signal }), signal),
      ),
    )
    over.throwIfAborted()
    freshAt = performance.now()
    go(to, way, asked)
  }

  function changes(...args: Parameters<NonNullable<Chain['changes']>>) {
    if (!chain.changes) throw new SluiceError('UNSUPPORTED', `What happens on ${name} cannot be followed.`)
    return chain.changes(...args)
  }

  async function ask(signal: AbortSignal): Promise<void> {
    const head = await abortable(chain.head({ signal }), signal).catch((error: unknown) => {
      reason = reasonOf(error)
      if (error instanceof SluiceError) throw error
      throw new SluiceError('NETWORK', `${name} did not answer in time. Try again.`, { retryAfterSeconds: 1, cause: error })
    })
    if (head.hash === trail.tip?.hash) freshAt = performance.now()
    else if (!trail.tip || head.number > trail.tip.number) {
      if (!heard || head.number > heard.number) hear(head)
      if (running && chasing === running) await progress.wait(mostMs, signal)
    }
  }

  return {
    get blocksBehind() {
      return trail.tip && heard ? Number(heard.number - trail.tip.number) : 0
    },
    get secondsBehind() {
      return trail.tip && heard ? heard.timestamp - trail.tip.timestamp : 0
    },
    get freshAt() {
      return freshAt
    },
    get reason() {
      return reason
    },
    get failures() {
      return failures
    },
    run(signal) {
      running = signal
      heard = undefined
      freshAt = -Infinity
      void listen(signal)
    },
    confirm: () =>
      (confirming ??= withDeadline(running, mostMs, ask).finally(() => {
        confirming = undefined
      })),
  }
}

/** The first sentence of what was meant for callers. */
const reasonOf = (error: unknown): string =>
  error instanceof SluiceError ? (error.message.split(/\.(?= |$)/)[0] ?? '') : 'it did not answer in time, or with what it should'

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
  expectBlock(number: bigint): void
  /** Why it is too old to be shown, in words for callers. */
  readonly reason: string
}

interface FreshnessOptions {
  /** How errors name it. */
  network: string
  chaser: HeadFollower
  trail: BlockHistory
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
  const isHeard = () => performance.now() - chaser.freshAt <= stalenessBoundMs(trail, staleBlocks)
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
        await abortable(chaser.confirm(), signal)
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
    expectBlock(number) {
      if (!trail.tip || number <= trail.tip.number) return
      if (number > promised || performance.now() > promisedUntil) promised = number
      promisedUntil = performance.now() + heardMs
    },
    get reason() {
      return reason()
    },
  }
}

const [leastMs, mostMsOfPatience] = [2_000, 30_000]

type Ends = Pick<BlockHistory, 'tip' | 'oldest'>

/**
 * How long nothing is heard of a network before it is asked whether it is still there: the time of as many blocks as a state may be behind,
 * by what the newest took.
 */
const stalenessBoundMs = (trail: Ends, staleBlocks: number): number =>
  Math.min(mostMsOfPatience, Math.max(leastMs, blockSeconds(trail) * 1000 * (staleBlocks + 1)))

/** What the newest blocks took each, by their own time; 0 where too few are known. */
function blockSeconds({ tip, oldest }: Ends): number {
  const blocks = tip && oldest ? Number(tip.number - oldest.number) : 0
  return tip && oldest && blocks > 0 ? (tip.timestamp - oldest.timestamp) / blocks : 0
}

/** A block, what happened in it, and of what that was asked for: of nothing where it is not known any more. */
export interface HistoryBlock extends HeadChanges {
  readonly asked: ReadonlySet<string>
}

/** The newest blocks, each the parent of the next. */
export interface BlockHistory {
  readonly tip: Head | undefined
  readonly oldest: Head | undefined
  /** Newest first. */
  heads(): readonly Head[]
  /** What came after a block; undefined where it is none of these. */
  after(hash: string | undefined): readonly HistoryBlock[] | undefined
  push(block: HistoryBlock): void
  /** Forgets what came after a block. */
  rollBack(hash: string | undefined): void
  /** Nothing is known but that this is the newest block. */
  restart(head: Head | undefined): void
}

/** How far back a reorganisation is followed block by block; a deeper one makes everything be loaded anew. */
const maxBlocks = 64
/** So many of the newest remember what happened in them, for states that are loaded meanwhile. */
const mostRemembered = 8

const forgetful = (head: Head): HistoryBlock => ({ head, changes: [], asked: new Set() })

export function createBlockHistory(): BlockHistory {
  let blocks: HistoryBlock[] = []
  const placeOf = (hash: string | undefined) => (hash === undefined ? -1 : blocks.findLastIndex(({ head }) => head.hash === hash))
  return {
    get tip() {
      return blocks.at(-1)?.head
    },
    get oldest() {
      return blocks[0]?.head
    },
    heads: () => blocks.map(({ head }) => head).toReversed(),
    after(hash) {
      const place = placeOf(hash)
      return place < 0 ? undefined : blocks.slice(place + 1)
    },
    push(block) {
      blocks.push(block)
      const forgotten = blocks.length - 1 - mostRemembered
      const old = blocks[forgotten]
      if (old) blocks[forgotten] = forgetful(old.head)
      if (blocks.length > maxBlocks) blocks.shift()
    },
    rollBack(hash) {
      blocks.length = placeOf(hash) + 1
    },
    restart(head) {
      blocks = head ? [forgetful(head)] : []
    },
  }
}

/** How to come to a head: back to a block that is known, and on from there; undefined where that is too far. */
export interface BlockPath {
  readonly back: Head
  readonly blocks: readonly HeadChanges[]
}

type Changes = (after: Head, to: Head) => Promise<readonly HeadChanges[] | 'forked'>

/** So far back it is looked for the block where another fork began: most forks are of one block. */
const steps = [0, 1, 4, 16, maxBlocks - 1]

/**
 * A block further back than the fork's beginning does as well: what is known of those between is then read again. What directly follows
 * takes one round trip.
 */
async function findBlockPath(trail: BlockHistory, to: Head, changes: Changes): Promise<BlockPath | undefined> {
  const { tip } = trail
  if (!tip || to.number - tip.number > BigInt(maxBlocks)) return undefined
  const below = trail.heads().filter(({ number }) => number < to.number)
  const tries = new Set(steps.map((step) => below[Math.min(step, below.length - 1)]))
  for (const back of tries) {
    if (!back) continue
    const blocks = await changes(back, to)
    if (blocks === 'forked') continue
    if (blocks.at(-1)?.head.hash !== to.hash) throw new Error('the chain gave other blocks than those that it was asked for')
    return { back, blocks }
  }
  return undefined
}

import { abortable, createBackoff, createCondition, pause, withDeadline } from '../base/async.ts'
import type { AccountImage, At, Chain, Head, HeadChanges, Interest } from '../contracts/index.ts'
import { SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { ChainClock } from './chain-clock.ts'
import type { StateSubject, Telemetry } from './telemetry.ts'

// The newest blocks of one network: which are known, how the newest is reached, and whether it is new enough.

/** What happened in a block, and the topics that its node was asked for: none where that is forgotten. */
export interface HistoryBlock extends HeadChanges {
  readonly asked: ReadonlySet<string>
}

/** The newest blocks, each the parent of the next. */
export interface BlockHistory {
  /** `Chain.images`: blocks are those at which accounts were read, and a state may be of a newer one. */
  readonly images: boolean
  readonly tip: Head | undefined
  readonly oldest: Head | undefined
  /** Newest first. */
  heads(): readonly Head[]
  /** The blocks after this one; undefined if that one is not in the history. */
  after(head: Head): readonly HistoryBlock[] | undefined
  push(block: HistoryBlock): void
  /** Drops the blocks after this one. */
  rollBack(head: Head): void
  /** Drops everything. `head` is then the only known block. */
  restart(head: Head | undefined): void
}

/** A reorganisation of at most so many blocks is undone block by block. After a deeper one all states are loaded again. */
const maxBlocks = 64
/** The newest blocks keep their changes, for states that are being loaded meanwhile. */
const maxWithChanges = 8

const withoutChanges = (head: Head): HistoryBlock => ({ head, changes: [], asked: new Set() })

/** By their hashes, where the family has them. */
export const isSameHead = (one: Head, other: Head | undefined): boolean =>
  other !== undefined && one.number === other.number && one.hash === other.hash

export function createBlockHistory(images = false): BlockHistory {
  let blocks: HistoryBlock[] = []
  const indexOf = (wanted: Head) => blocks.findLastIndex(({ head }) => isSameHead(head, wanted))
  return {
    images,
    get tip() {
      return blocks.at(-1)?.head
    },
    get oldest() {
      return blocks[0]?.head
    },
    heads: () => blocks.map(({ head }) => head).toReversed(),
    after(head) {
      const index = indexOf(head)
      return index < 0 ? undefined : blocks.slice(index + 1)
    },
    push(block) {
      blocks.push(block)
      const index = blocks.length - 1 - maxWithChanges
      const old = blocks[index]
      if (old) blocks[index] = withoutChanges(old.head)
      if (blocks.length > maxBlocks) blocks.shift()
    },
    rollBack(head) {
      blocks.length = indexOf(head) + 1
    },
    restart(head) {
      blocks = head ? [withoutChanges(head)] : []
    },
  }
}

/** Mean time between the known blocks, by their timestamps; 0 if fewer than two are known. */
function meanBlockSeconds({ tip, oldest }: BlockHistory): number {
  const count = tip && oldest ? Number(tip.number - oldest.number) : 0
  return tip && oldest && count > 0 ? (tip.timestamp - oldest.timestamp) / count : 0
}

/** How to reach a head: back to a known block (a reorganisation if that is not the tip), then forward through `blocks`. */
export interface BlockPath {
  readonly back: Head
  readonly blocks: readonly HeadChanges[]
}

/** How far back to look for the block where another fork began. Most forks are one block long. */
const forkDepths = [0, 1, 4, 16, maxBlocks - 1]

/**
 * Undefined if the head is too far from every known block. A path may begin before the fork did: the blocks between are then read again. A
 * direct successor of the tip takes one round trip.
 */
async function findBlockPath(
  history: BlockHistory,
  to: Head,
  changesBetween: (after: Head, to: Head) => Promise<readonly HeadChanges[] | 'forked'>,
): Promise<BlockPath | undefined> {
  const { tip } = history
  if (!tip || to.number - tip.number > BigInt(maxBlocks)) return undefined
  if (history.images) return findImages(tip, to, changesBetween)
  const below = history.heads().filter(({ number }) => number < to.number)
  const candidates = new Set(forkDepths.map((depth) => below[Math.min(depth, below.length - 1)]))
  for (const back of candidates) {
    if (!back) continue
    const blocks = await changesBetween(back, to)
    if (blocks === 'forked') continue
    if (!isSameHead(to, blocks.at(-1)?.head)) throw new Error('the chain returned other blocks than requested')
    return { back, blocks }
  }
  return undefined
}

/** Undefined if images cannot lead there, as after a fork: then all states are read again. */
async function findImages(
  tip: Head,
  to: Head,
  changesBetween: (after: Head, to: Head) => Promise<readonly HeadChanges[] | 'forked'>,
): Promise<BlockPath | undefined> {
  // A chain that began anew.
  if (to.number <= tip.number) return undefined
  const blocks = await changesBetween(tip, to)
  if (blocks === 'forked') return undefined
  const head = blocks.at(-1)?.head
  if (!head || head.number < to.number) throw new Error('the chain read accounts before the requested slot')
  if (!blocks.every(({ changes }) => changes.every(isAccountImage))) throw new Error('the chain has changes that are no images of accounts')
  return { back: tip, blocks }
}

export const isAccountImage = (change: unknown): change is AccountImage =>
  isObject(change) && typeof change['address'] === 'string' && Number.isSafeInteger(change['slot']) && 'data' in change

/** Tells each new head until the signal aborts. Where heads fail, and where they end, they are followed again, less and less often. */
export async function followHeads(
  chain: Pick<Chain, 'heads'>,
  signal: AbortSignal,
  { onHead, onFailure }: { onHead(head: Head): void; onFailure(error: unknown): void },
): Promise<void> {
  const backoff = createBackoff()
  while (!signal.aborted) {
    try {
      for await (const head of chain.heads(signal)) {
        if (signal.aborted) return
        onHead(head)
        backoff.reset()
      }
    } catch (error) {
      if (!signal.aborted) onFailure(error)
    }
    backoff.failed()
    await pause(backoff.pauseMs, signal, { ref: false })
  }
}

interface HeadFollowerOptions {
  chain: Pick<Chain, 'head' | 'heads' | 'changes'>
  subject: StateSubject
  telemetry: Telemetry
  history: BlockHistory
  clock: ChainClock
  /** What each block is asked for now. */
  interest(): Interest
  /** Moves history and states along the path, whose blocks were asked for `asked`. Without a path everything begins anew at `to`. */
  advance(to: Head, path: BlockPath | undefined, asked: ReadonlySet<string>): void
}

/** Keeps a block history at the newest head, one path after the other. */
export interface HeadFollower {
  /** How far the history is behind the newest announced head. */
  readonly blocksBehind: number
  /** The same distance by the timestamps of the blocks. */
  readonly secondsBehind: number
  /** When the history was last confirmed to end with the newest block, by `performance.now`. */
  readonly freshAt: number
  /** Why the history is behind, in words for callers. */
  readonly reason: string
  /** How many times in a row changes could not be read. */
  readonly failures: number
  /** Follows the network until the signal is aborted. */
  run(signal: AbortSignal): void
  /** Asks the network for its head and moves there. @throws SluiceError if the network does not answer */
  confirm(): Promise<void>
}

/** Timeout of one path, and of one question for the head. */
const timeoutMs = 15_000

export function createHeadFollower({ chain, subject, telemetry, history, clock, interest, advance }: HeadFollowerOptions): HeadFollower {
  const name = `${subject.chain}/${subject.network}`
  const progress = createCondition()
  let running: AbortSignal | undefined
  /** The run whose heads are being advanced to now. */
  let advancing: AbortSignal | undefined
  let newest: Head | undefined
  let freshAt = -Infinity
  let reason = 'no block of it was received yet'
  let confirming: Promise<void> | undefined
  let failures = 0

  function reportLost(what: string, error: unknown): void {
    reason = reasonOf(error)
    telemetry.trouble(subject, 'lost', `${what}: ${reason}`, error)
  }

  function announce(head: Head): void {
    newest = head
    clock.observe(head)
    if (!running || advancing === running) return
    advancing = running
    void advanceToNewest(running)
  }

  /** Accounts may have been read at a newer block than any that was announced. */
  function isReached(head: Head): boolean {
    const { tip } = history
    if (!history.images || !tip || head.number > tip.number) return isSameHead(head, tip)
    return tip.number - head.number <= BigInt(maxBlocks)
  }

  async function advanceToNewest(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff(200, 5_000)
    failures = 0
    for (;;) {
      const to = newest
      if (!to || isReached(to) || signal.aborted) break
      try {
        await advanceTo(to, signal)
        backoff.reset()
        failures = 0
        progress.notifyAll()
      } catch (error) {
        if (signal.aborted) break
        if (failures === 0) reportLost(`changes of block ${to.number} of ${name} cannot be read`, error)
        failures += 1
        reason = reasonOf(error)
        backoff.failed()
        progress.notifyAll()
        await pause(backoff.pauseMs, signal)
      }
    }
    if (advancing === signal) advancing = undefined
  }

  async function advanceTo(to: Head, run: AbortSignal): Promise<void> {
    const { follow, from } = interest()
    const asked = new Set(follow)
    const path = await withDeadline(run, timeoutMs, (signal) =>
      findBlockPath(history, to, (after, last) => {
        if (!chain.changes) throw new SluiceError('UNSUPPORTED', `${name} does not report the changes of its blocks.`)
        return abortable(chain.changes(after, last, { follow: [...asked], ...(from && { from }) }, { signal }), signal)
      }),
    )
    run.throwIfAborted()
    freshAt = performance.now()
    advance(to, path, asked)
  }

  async function askForHead(signal: AbortSignal): Promise<void> {
    const head = await abortable(chain.head({ signal }), signal).catch((error: unknown) => {
      reason = reasonOf(error)
      if (error instanceof SluiceError) throw error
      throw new SluiceError('NETWORK', `${name} did not answer in time. Try again.`, { retryAfterSeconds: 1, cause: error })
    })
    if (isReached(head)) freshAt = performance.now()
    else if (!history.tip || head.number > history.tip.number) {
      if (!newest || head.number > newest.number) announce(head)
      if (running && advancing === running) await progress.wait(timeoutMs, signal)
    }
  }

  return {
    get blocksBehind() {
      return history.tip && newest ? Number(newest.number - history.tip.number) : 0
    },
    get secondsBehind() {
      return history.tip && newest ? newest.timestamp - history.tip.timestamp : 0
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
      newest = undefined
      freshAt = -Infinity
      void followHeads(chain, signal, {
        onHead: announce,
        onFailure: (error) => reportLost(`new heads of ${name} cannot be followed`, error),
      })
    },
    confirm: () =>
      (confirming ??= withDeadline(running, timeoutMs, askForHead).finally(() => {
        confirming = undefined
      })),
  }
}

/** The first sentence of a message to callers. */
const reasonOf = (error: unknown): string =>
  error instanceof SluiceError ? (error.message.split(/\.(?= |$)/)[0] ?? '') : 'the network did not answer in time, or not as expected'

/** Whether the states in memory are new enough to be shown. */
export interface Freshness {
  isFresh(): boolean
  /** Whether states may be read at once: they are fresh, and not older than a block that a caller was told about. */
  isCurrent(): boolean
  /** Whether states are too old to be shown and the last attempt to read changes failed. */
  isCutOff(): boolean
  /** Asks the network and waits for what is new. @throws SluiceError NETWORK if the network is away or too far ahead */
  require(at: At): Promise<void>
  /** A caller was told about this block: what is shown next should not be older. */
  expectBlock(number: bigint): void
  /** Why states are too old to be shown, in words for callers. */
  readonly reason: string
}

interface FreshnessOptions {
  /** How errors name the network. */
  network: string
  follower: HeadFollower
  history: BlockHistory
  /** States at most this many blocks behind the network are still shown. */
  staleBlocks: number
  /** If the newest block is older than this, the network stands still. Undefined if blocks are made on demand. */
  staleBlockSeconds: number | undefined
  clock: ChainClock
}

/** Blocks may come faster than nodes answer: states at most this old by block time are shown, whatever the number of blocks. */
const alwaysFreshSeconds = 2
/** After so many failures, callers do not wait for the next attempt. */
const maxFailures = 3
/** How many times one read asks a network for its head while new blocks keep coming. */
const maxConfirmations = 8
/** How many times one read asks for a block that a caller was told about. */
const maxTriesForExpected = 3
/** How long an expected block is waited for. */
const expectedForMs = 1_000
/** On slow networks, so many blocks in a row must be missing before the network counts as standing still. */
const maxMissingBlocks = 10
const [minSilenceMs, maxSilenceMs] = [2_000, 30_000]

export function createFreshness({ network, follower, history, staleBlocks, staleBlockSeconds, clock }: FreshnessOptions): Freshness {
  /** The newest block that a caller was told about, and until when it is waited for. */
  let expected = 0n
  let expectedUntil = 0

  const isNear = () => follower.blocksBehind <= staleBlocks || follower.secondsBehind <= alwaysFreshSeconds
  /** The network was heard of within the time that its blocks may take: one more than a state may be behind. */
  const isHeard = () => {
    const silenceMs = Math.min(maxSilenceMs, Math.max(minSilenceMs, meanBlockSeconds(history) * 1000 * (staleBlocks + 1)))
    return performance.now() - follower.freshAt <= silenceMs
  }
  const isFresh = () => history.tip !== undefined && isNear() && isHeard() && !standsStill()
  const isBefore = (number: bigint) => (history.tip?.number ?? 0n) < number

  /** A node without peers goes on answering, always with the same block. */
  const standsStill = () =>
    staleBlockSeconds !== undefined && ageSeconds() > staleBlockSeconds && ageSeconds() > meanBlockSeconds(history) * maxMissingBlocks
  const ageSeconds = () => (history.tip ? clock.ageSeconds(history.tip) : 0)

  function reason(): string {
    if (follower.failures > 0) return follower.reason
    if (!standsStill()) return history.tip ? 'its blocks come faster than they can be read' : follower.reason
    return `the newest block of its nodes is ${Math.round(ageSeconds())} s old; check them, and this machine's clock`
  }

  function tooOld(): SluiceError {
    const blocks = follower.blocksBehind > staleBlocks ? `, ${follower.blocksBehind} blocks` : ''
    return new SluiceError('NETWORK', `What is known of ${network} is too old to be shown${blocks}: ${reason()}. Try again shortly.`, {
      retryAfterSeconds: 1,
    })
  }

  return {
    isFresh,
    isCurrent: () => isFresh() && (!isBefore(expected) || performance.now() > expectedUntil),
    isCutOff: () => follower.failures > 0 && !isFresh(),
    async require({ signal }) {
      for (let tries = 1; ; tries += 1) {
        if (follower.failures >= maxFailures && !isFresh()) throw tooOld()
        await abortable(follower.confirm(), signal)
        if (isFresh()) {
          // The question for the head may have been sent before the block came.
          if (isBefore(expected) && tries < maxTriesForExpected) continue
          // The node does not have the block, and what is in memory is not too old.
          expected = 0n
          return
        }
        // More blocks came during the read than states may be behind: the next read takes them together.
        if (follower.failures > 0 || standsStill() || tries >= maxConfirmations) throw tooOld()
      }
    },
    expectBlock(number) {
      if (!history.tip || number <= history.tip.number) return
      if (number > expected || performance.now() > expectedUntil) expected = number
      expectedUntil = performance.now() + expectedForMs
    },
    get reason() {
      return reason()
    },
  }
}

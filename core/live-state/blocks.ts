import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../api/index.ts'
import type { Chain, Head, Interest } from '../contracts/index.ts'
import { withDeadline } from '../contracts/with-deadline.ts'
import { createBackoff } from '../market/backoff.ts'
import { createNews } from '../market/news.ts'
import { within } from '../async.ts'
import type { Place, Witness } from './telemetry.ts'
import { findWay, type Way } from '../market/following/find-way.ts'
import type { Trail } from '../market/following/trail.ts'

export interface HeadChaserOptions {
  chain: Pick<Chain, 'head' | 'heads' | 'changes'>
  place: Place
  witness: Witness
  trail: Trail
  /** What is asked of every block now. */
  interest(): Interest
  /** From the tip of the trail to another, by what was asked of the blocks on the way; undefined where all begins anew at this head. */
  go(to: Head, way: Way | undefined, asked: ReadonlySet<string>): void
}

/** Brings a trail to the newest head, one way after the other. */
export interface HeadChaser {
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

export function createHeadChaser({ chain, place, witness, trail, interest, go }: HeadChaserOptions): HeadChaser {
  const name = `${place.chain}/${place.network}`
  const progress = createNews()
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
    const pause = createBackoff()
    while (!signal.aborted) {
      try {
        for await (const head of chain.heads(signal)) {
          hear(head)
          pause.reset()
        }
      } catch (error) {
        if (!signal.aborted) lost(`the blocks of ${name} cannot be followed`, error)
      }
      pause.failed()
      await sleep(pause.pauseMs, undefined, { signal }).catch(() => {})
    }
  }

  function hear(head: Head): void {
    heard = head
    if (!running || chasing === running) return
    chasing = running
    void chase(running)
  }

  async function chase(signal: AbortSignal): Promise<void> {
    const pause = createBackoff(200, 5_000)
    failures = 0
    for (;;) {
      const to = heard
      if (!to || to.hash === trail.tip?.hash || signal.aborted) break
      try {
        await step(to, signal)
        pause.reset()
        failures = 0
        progress.tell()
      } catch (error) {
        if (signal.aborted) break
        if (failures === 0) lost(`what happened in block ${to.number} of ${name} could not be read`, error)
        failures += 1
        reason = reasonOf(error)
        pause.failed()
        progress.tell()
        await sleep(pause.pauseMs, undefined, { signal }).catch(() => {})
      }
    }
    if (chasing === signal) chasing = undefined
  }

  async function step(to: Head, over: AbortSignal): Promise<void> {
    const { follow, from } = interest()
    const asked = new Set(follow)
    const way = await withDeadline(over, mostMs, (signal) =>
      findWay(trail, to, (after, last) => within(changes(after, last, { follow: [...asked], ...(from && { from }) }, { signal }), signal)),
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
    const head = await within(chain.head({ signal }), signal).catch((error: unknown) => {
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

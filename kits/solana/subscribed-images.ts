// Images of followed accounts by subscription, and by the batch wherever that cannot be relied on.
import type { Chain, Head, HeadChanges, Log } from '../../core/contracts/index.ts'
import type { AccountFeed } from './account-feed.ts'
import type { Notification } from './account-subscriptions.ts'
import { isSameImage } from './images.ts'
import type { Solana, SolanaImage } from './types.ts'

type Images = NonNullable<Chain<Solana>['changes']>

/** The subscription is of the slot before the newest one: a slot is waited for a little longer than it takes. */
const defaultWaitMs = 1_000
/** So often all accounts are read all the same: a node may have told everything but one change. */
const defaultCheckMs = 30_000
/** A node that is further ahead of the others is of another network, or lies. Less than the heads that a network may go back by (core/live-state/blocks.ts). */
const maxAhead = 50

interface SubscribedOptions {
  readonly feed: AccountFeed
  /** Reads all of them in one batch. */
  readonly batch: Images
  readonly log: Log
  readonly waitMs?: number
  readonly checkMs?: number
}

/**
 * All images that it gives are of one slot, the last one of which the node has told everything: what has not changed since it was read is as it was.
 * Whatever is not known so, is read in a batch: what is new, all of it after a connection has ended or a slot was taken back, and while the node is
 * silent or behind the head.
 */
export function createSubscribedImages({ feed, batch, log, waitMs = defaultWaitMs, checkMs = defaultCheckMs }: SubscribedOptions): Images {
  /** As it was read or told last, by its slot. */
  const known = new Map<string, Notification>()
  /** What the last check has read, until the subscription has told of that slot. */
  const checks = new Map<string, Notification>()
  let checkedAt = performance.now()
  let isBehind = false
  let connection = 0
  // The next connection may be to a fork on which what is known never was.
  feed.onSlot(() => {
    if (feed.toldUntil !== undefined) return
    connection += 1
    known.clear()
    checks.clear()
  })

  /** Whether everything since it was read has been told, or will be. */
  const isCovered = (key: string) => {
    const [read, since] = [known.get(key), feed.since(key)]
    return read !== undefined && since !== undefined && read.slot >= since
  }

  function noteBehind(now: boolean, { number }: Pick<Head, 'number'>): void {
    if (now === isBehind) return
    isBehind = now
    if (now) log.warn({ slot: Number(number) }, 'subscriptions to accounts are behind the head; accounts are read in batches meanwhile')
    else log.info({ slot: Number(number) }, 'accounts come by subscription again')
  }

  async function read(isCheck: boolean, ...[after, to, interest, at]: Parameters<Images>): ReturnType<Images> {
    const covered = new Set(isCheck ? interest.follow.filter(isCovered) : [])
    const asked = connection
    const blocks = await batch(after, to, interest, at)
    if (blocks === 'forked' || connection !== asked) return blocks
    checks.clear()
    for (const { address, ...image } of blocks.flatMap(({ changes }) => changes)) {
      if (covered.has(address)) checks.set(address, image)
      else keep(address, image)
    }
    return blocks
  }

  /** What was told up to it is of no use any more. An older one than is known, of a node that is behind, is not kept. */
  function keep(key: string, image: Notification): void {
    const last = settle(key, image.slot)
    if (!last || last.slot <= image.slot) known.set(key, image)
  }

  /** As the account is after this slot. */
  function settle(key: string, until: number): Notification | undefined {
    let last = known.get(key)
    for (const each of feed.take(key, until)) if (!last || each.slot > last.slot) last = each
    if (last) known.set(key, last)
    return last
  }

  /** False where a change that was read has not been told. */
  function holdsChecks(until: number): boolean {
    let holds = true
    for (const [key, check] of checks) {
      if (check.slot > until) continue
      checks.delete(key)
      const told = settle(key, check.slot)
      // It has been told of what came behind the reading.
      if (told && told.slot > check.slot) continue
      holds &&= isSameImage(told?.data, check.data)
      known.set(key, check)
    }
    return holds
  }

  function told(keys: readonly string[], until: number, { timestamp }: Head): readonly HeadChanges<Solana>[] {
    const changes = keys.flatMap((address): readonly SolanaImage[] => {
      const image = settle(address, until)
      return image ? [{ address, slot: Math.max(image.slot, until), data: image.data }] : []
    })
    return [{ head: { number: BigInt(until), timestamp }, changes }]
  }

  return async (after, to, interest, at) => {
    const keys = [...new Set(interest.follow)]
    if (keys.length === 0) return batch(after, to, interest, at)
    const wanted = new Set(keys)
    feed.follow(wanted)
    if (known.size > keys.length * 2) for (const key of known.keys()) if (!wanted.has(key)) known.delete(key)
    const isDue = performance.now() - checkedAt > checkMs
    if (isDue) checkedAt = performance.now()
    if (isDue || !keys.every(isCovered)) return read(isDue, after, to, interest, at)
    const isTold = () => feed.toldUntil !== undefined && BigInt(feed.toldUntil) >= to.number
    // One that is behind is not waited for again until it has told of the head before this one.
    const isNear = feed.toldUntil !== undefined && BigInt(feed.toldUntil) >= after.number
    if (!isTold() && (!isBehind || isNear)) await slotOf(feed, isTold, waitMs, at.signal)
    const until = feed.toldUntil
    noteBehind(!isTold(), to)
    if (until === undefined || !isTold() || !keys.every(isCovered)) return read(false, after, to, interest, at)
    if (until - Number(to.number) > maxAhead) feed.distrust('its slots are far ahead of those of the other nodes')
    else if (!holdsChecks(until)) feed.distrust('it has not told of a change that was read')
    else return told(keys, until, to)
    return read(false, after, to, interest, at)
  }
}

/** Until it holds, the connection has ended, or the time is over. */
async function slotOf(feed: AccountFeed, holds: () => boolean, waitMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      unfollow()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, waitMs)
    const unfollow = feed.onSlot(() => {
      if (holds() || feed.toldUntil === undefined) end()
    })
    signal.addEventListener('abort', end)
  })
  signal.throwIfAborted()
}

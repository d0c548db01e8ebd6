// What one connection to a node subscribes to, and from which slot on it is told everything.
import { clockSysvar } from './accounts.ts'
import { readKey, startOf } from './account-keys.ts'
import { imageIn } from './images.ts'
import { confirmed } from './rpc.ts'
import type { SolanaImageData } from './types.ts'

/** Of so much that is told and not taken, no more is kept: who follows takes it with every slot, so the node tells of slots that others do not have. */
export const defaultMaxHeldBytes = 64 * 1024 * 1024
/** What a notification takes beside the text of its account. */
const notificationBytes = 256
/** Longer than any beginning that is followed, so that no followed account has the same parameters: nodes give equal ones one number. */
const fenceLengths = [2_000, 2_001] as const

/** Chains do that; everything else that is wrong is the node's fault. */
export const tookBack = 'its node took a slot back'

export interface Notification {
  readonly slot: number
  readonly data: SolanaImageData | null
}

/** What a connection tells of one followed account. */
interface Subscription {
  readonly id: number
  readonly key: string
  /** Of so many bytes; absent: all of them. */
  readonly length?: number
  /** From this slot on it tells every change; undefined while that is not known. */
  since?: number
  /** The number that the node gives it; undefined while the node has not confirmed it. */
  named?: number
  /** It is not wanted any more. */
  isLeft?: boolean
  /** Oldest first. */
  news: Notification[]
}

/**
 * A node may confirm a subscription before it takes it up, and what changes in between is never told (agave, rpc/src/rpc_subscriptions.rs: what a
 * subscription has been told starts with the confirmed bank of the moment in which it is registered, on another thread). It takes them up in their
 * order. So behind the accounts there is a fence, one more subscription to the clock: its first slot is told behind them.
 */
export function createSubscriptions(send: (id: number, method: string, params: readonly unknown[]) => void, maxHeldBytes: number) {
  const byKey = new Map<string, Subscription>()
  /** Those that the node has not answered. */
  const byId = new Map<number, Subscription>()
  /** Equal ones have one number. */
  const byName = new Map<number, Set<Subscription>>()
  let clock: Subscription | undefined
  /** The slot of the newest clock. */
  let clockAt: number | undefined
  let fence: Subscription | undefined
  let behindFence = new Set<Subscription>()
  /** Those that came since, and wait for the next one. */
  let unfenced = new Set<Subscription>()
  let fences = 0
  let heldBytes = 0
  let nextId = 1

  function subscribe(key: string): Subscription {
    const { address, length } = readKey(key)
    const slice = length === undefined ? {} : { dataSlice: { offset: 0, length } }
    const made: Subscription = { id: nextId++, key, ...(length !== undefined && { length }), news: [] }
    byId.set(made.id, made)
    send(made.id, 'accountSubscribe', [address, { encoding: 'base64', ...confirmed, ...slice }])
    return made
  }

  function leave(left: Subscription): void {
    left.isLeft = true
    take(left, Infinity)
    const equal = byName.get(left.named ?? -1)
    if (left.named === undefined || !equal?.delete(left) || equal.size > 0) return
    byName.delete(left.named)
    send(nextId++, 'accountUnsubscribe', [left.named])
  }

  function startFence(): void {
    if (fence || unfenced.size === 0) return
    fence = subscribe(startOf(clockSysvar, fenceLengths[fences++ % 2] ?? 0))
    behindFence = unfenced
    unfenced = new Set()
  }

  function endFence(told: Subscription, slot: number): void {
    const wanted = [...behindFence].filter(({ isLeft }) => !isLeft)
    if (!wanted.every(({ named }) => named !== undefined)) return
    for (const each of wanted) each.since = slot
    leave(told)
    fence = undefined
    startFence()
  }

  function take(of: Subscription, until: number): readonly Notification[] {
    const taken = of.news.filter(({ slot }) => slot <= until)
    if (taken.length > 0) of.news = of.news.filter(({ slot }) => slot > until)
    for (const { data } of taken) heldBytes -= bytesOf(data)
    return taken
  }

  function hear(of: Subscription, slot: number, value: unknown): string | undefined {
    if (of === clock) {
      if (clockAt !== undefined && slot <= clockAt) return tookBack
      clockAt = slot
    } else if (of === fence) endFence(of, slot)
    else {
      const image = imageIn(value)
      if (image === undefined) return 'it told of an account that cannot be read'
      const data = partOf(image, of.length)
      of.news.push({ slot, data })
      heldBytes += bytesOf(data)
      if (heldBytes > maxHeldBytes) return 'it told of more than was asked for'
    }
    return undefined
  }

  return {
    /** These are subscribed to from now on, and no others. */
    follow(keys: ReadonlySet<string>): void {
      clock ??= subscribe(clockSysvar)
      for (const [key, each] of byKey) {
        if (keys.has(key)) continue
        byKey.delete(key)
        leave(each)
      }
      for (const key of keys) {
        if (byKey.has(key)) continue
        // One that was left before its answer is taken back: to unsubscribe from it would end its successor, which has the same number.
        const made = [...byId.values()].find((each) => each.isLeft && each.key === key) ?? subscribe(key)
        made.isLeft = false
        byKey.set(key, made)
        unfenced.add(made)
      }
      startFence()
    },
    /** Takes the answer to a subscription. Returns what is wrong with it. */
    confirm(id: number, named: number | undefined): string | undefined {
      const found = byId.get(id)
      if (!found) return undefined
      byId.delete(id)
      if (named === undefined) return 'it refused a subscription'
      const equal = byName.get(named) ?? new Set()
      for (const { key } of equal) if (key !== found.key) return 'it gave one number to two accounts'
      found.named = named
      byName.set(named, equal.add(found))
      if (found.isLeft) leave(found)
      return undefined
    },
    /** Takes what the node tells of one. Returns what is wrong with it. */
    tell(named: number, slot: number, value: unknown): string | undefined {
      for (const each of byName.get(named) ?? []) {
        const wrong = hear(each, slot, value)
        if (wrong !== undefined) return wrong
      }
      return undefined
    },
    clockAt: () => clockAt,
    isClock: (named: number) => clock !== undefined && clock.named === named,
    /** Whether everything that is followed is told. */
    isWhole: () => [...byKey.values()].every(({ since }) => since !== undefined),
    since: (key: string) => byKey.get(key)?.since,
    take(key: string, until: number): readonly Notification[] {
      const found = byKey.get(key)
      return found ? take(found, until) : []
    },
  }
}

const bytesOf = (data: SolanaImageData | null) => notificationBytes + (data?.base64.length ?? 0)

/** A closed account is told with nothing in it. Nodes may tell all of an account of which a part was wanted. */
function partOf(image: SolanaImageData | null, length: number | undefined): SolanaImageData | null {
  if (!image || image.lamports === '0') return null
  if (length === undefined) return image
  return { ...image, base64: Buffer.from(image.base64, 'base64').subarray(0, length).toString('base64') }
}

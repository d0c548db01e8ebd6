// The newest fills of wallets, for what the server asks by itself: all readings of a wallet share an answer for a while, and what comes after it is asked for alone.
import { SluiceError, type At } from 'sluice/plugin'
import { createTokenBucket, entriesPerWeight, type QueryInfo } from './api.ts'
import { anything, array, integer, is, object, shape } from './shape.ts'

const list = shape(array(anything))
export const timed = object({ time: integer })
const numbered = object({ oid: integer, tid: integer })

/** The exchange returns at most so many of the newest fills: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint */
export const maxFills = 2000
const wholeWeight = 120
const newestWeight = 20
/** The part of the rate limit that the server's own readings of fills may take. */
const ownPart = 1 / 5
/**
 * All readings of a wallet within this time have one answer: its other markets, and older pages. Fills are asked for two seconds after something showed that there
 * are new ones, so that no answer is older than that.
 */
const sharedMs = 2_000
/** Where more than half of that part is used. */
const scarceSharedMs = 30_000
/** A fill may be told a moment after one that was made later. */
const overlapMs = 60_000
const maxWallets = 32

interface ReadFills {
  /** As the exchange gave them, the newest first. */
  fills: readonly unknown[]
  askedAtMs: number
  /** The newest. */
  timeMs: number | undefined
}

/** @returns the newest fills of a wallet, at most some seconds old. @throws SluiceError RATE_LIMIT where the part of the limit that these may take is used up */
export type KnownFills = (user: string, at: At) => Promise<readonly unknown[]>

export function createKnownFills(queryInfo: QueryInfo, perMinute: number, nowMs: () => number = () => performance.now()): KnownFills {
  const own = createTokenBucket(perMinute * ownPart, nowMs)
  const isShared = ({ askedAtMs }: ReadFills) => nowMs() - askedAtMs < (own.left() > (perMinute * ownPart) / 2 ? sharedMs : scarceSharedMs)
  const known = new Map<string, ReadFills>()
  const underWay = new Map<string, Promise<ReadFills>>()

  function take(weight: number): void {
    if (own.left() <= 0)
      throw new SluiceError('RATE_LIMIT', "The rest of Hyperliquid's rate limit is for orders and requests: fills are read later.", {
        retryAfterSeconds: 10,
      })
    own.spend(weight)
  }

  async function whole(user: string, at: At): Promise<readonly unknown[]> {
    take(wholeWeight)
    return queryInfo({ type: 'userFills', user }, list, at)
  }

  /** Since the newest known one. */
  async function newest(user: string, { fills, timeMs }: ReadFills, at: At): Promise<readonly unknown[]> {
    if (timeMs === undefined) return whole(user, at)
    take(newestWeight)
    const told = await queryInfo({ type: 'userFillsByTime', user, startTime: timeMs - overlapMs }, list, at)
    own.spend(Math.floor(told.length / entriesPerWeight))
    if (told.length >= maxFills) return whole(user, at)
    const all = new Map([...fills, ...told].map((each) => [nameOf(each), each]))
    return [...all.values()].toSorted((one, other) => timeOf(other) - timeOf(one)).slice(0, maxFills)
  }

  async function ask(user: string, before: ReadFills | undefined, at: At): Promise<ReadFills> {
    const askedAtMs = nowMs()
    const fills = await (before ? newest(user, before, at) : whole(user, at))
    const times = fills.flatMap((each) => (is(timed, each) ? [each.time] : []))
    const read = { fills, askedAtMs, timeMs: times.length > 0 ? Math.max(...times) : undefined }
    known.delete(user)
    known.set(user, read)
    for (const [oldest] of known) if (known.size > maxWallets) known.delete(oldest)
    return read
  }

  return async (user, at) => {
    const before = known.get(user)
    if (before && isShared(before)) return before.fills
    const asking = underWay.get(user) ?? ask(user, before, at).finally(() => underWay.delete(user))
    underWay.set(user, asking)
    return (await asking).fills
  }
}

/** Of one that cannot be read all of it is its name, and it stays the newest: whoever reads it says that it is missing. */
export const nameOf = (fill: unknown): string => (is(numbered, fill) ? `${fill.oid}/${fill.tid}` : JSON.stringify(fill))
const timeOf = (fill: unknown): number => (is(timed, fill) ? fill.time : Number.MAX_SAFE_INTEGER)

// The last reading of each position. An executor of 2.16 that closes asks for its position first, and takes any error for proof that it is gone: it ends as
// complete, with the funds in the pool. So where no node answers, a position is told as it was a moment ago, unless something may have changed it since.
import { SluiceError, type InterfaceCall } from 'sluice/interface'
import { isPassing } from './errors.ts'
import { isAnyChange } from './past-outcomes.ts'
import { isRead, positionAddress, positionNamed, readPosition, spelt, type NamedPosition, type OwnPosition } from './positions.ts'
import type { Venue } from './venues.ts'

const freshMs = 60_000
const maxKept = 1_000
/** Clients give up a GET after 30 seconds. */
const longestReadingMs = 10_000
const longestNonceMs = 1_000
/** By which clocks of servers on one store may differ. */
const clocksDifferMs = 5_000
/** Whatever waits for a block was ended by its `ttl` long before. */
const longestPendingMs = 24 * 3_600_000
const maxNewNonces = 50

interface Reading {
  readonly found: OwnPosition
  /** When it began: by a clock that is never set, and by that of the journal. */
  readonly sinceMs: number
  readonly since: number
}

export interface LastReadings {
  /**
   * A position as it is now, or as it was at most a minute ago where no node answers, no change of it was signed since and the wallet sent nothing that the
   * journal does not know.
   * @throws SluiceError as `positionNamed` and `readPosition`
   */
  read(address: string, venue: Venue, call: InterfaceCall): Promise<OwnPosition>
}

/** @param clocks other ones, and a shorter wait, for tests */
export function createLastReadings({
  steadyMs = () => performance.now(),
  nowMs = () => Date.now(),
  readingMs = longestReadingMs,
}: { steadyMs?: () => number; nowMs?: () => number; readingMs?: number } = {}): LastReadings {
  /** By the position, those that were read last at the end. */
  const readings = new Map<string, Reading>()
  /** By the handle of its open. */
  const opened = new Map<string, NamedPosition>()

  return {
    async read(address, venue, call) {
      const [sinceMs, since, asked] = [steadyMs(), nowMs(), spelt(address)]
      const handle = keyOf(asked, venue)
      let position = opened.get(handle) ?? asked
      const last = () => {
        const known = readings.get(keyOf(position, venue))
        return known && steadyMs() - known.sinceMs <= freshMs ? known : undefined
      }
      /** Of the position that is meant by now: the handle of an open may stand for another after a reorganisation. */
      const asItWas = async () => {
        const known = last()
        return known && (await isAsItWas(known, { position, venue, call })) ? known.found : undefined
      }
      const reading = (async () => {
        position = await positionNamed(address, venue, call)
        const found = await readPosition(position, venue, call)
        keep(readings, keyOf(position, venue), { found, sinceMs, since })
        if (position.tokenId !== asked.tokenId) keep(opened, handle, position)
        return found
      })()
      try {
        const found = last() && (await takesLonger(reading, readingMs)) ? await asItWas() : undefined
        return found ?? (await reading)
      } catch (thrown) {
        if (!(thrown instanceof SluiceError) || !isPassing(thrown) || isRead(thrown)) {
          readings.delete(keyOf(position, venue))
          throw thrown
        }
        const found = await asItWas().catch(() => undefined)
        if (found) return found
        throw thrown
      }
    },
  }
}

const keyOf = (position: NamedPosition, { on, own }: Venue): string =>
  JSON.stringify([on.chainNetwork, own.connector, positionAddress(position)])

function keep<T>(kept: Map<string, T>, key: string, value: T): void {
  kept.delete(key)
  kept.set(key, value)
  const [oldest] = kept.keys()
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
}

async function takesLonger(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<true>((resolve) => (timer = setTimeout(resolve, ms, true)))
  const ended = () => false
  const isLate = await Promise.race([work.then(ended, ended), late])
  clearTimeout(timer)
  return isLate
}

interface Context {
  readonly position: NamedPosition
  readonly venue: Venue
  readonly call: InterfaceCall
}

/** By all that the server knows: a node that does not answer proves nothing. @throws SluiceError where the journal cannot be read */
async function isAsItWas({ found: { owner }, since }: Reading, { position, venue, call }: Context): Promise<boolean> {
  if (!call.caller.mayUse(owner)) return false
  const changes = { createdAt: since - longestPendingMs, venue, address: owner, call }
  const isChanged = await isAnyChange(
    position,
    changes,
    ({ final, txState, updatedAt }) => !final || (txState === 'CONFIRMED' && updatedAt >= since - clocksDifferMs),
  )
  return !isChanged && (await sentNothingUnknown(owner, since, { venue, call }))
}

/** Whether each nonce that the wallet has used since is one of the journal. True where no node tells its nonce. */
async function sentNothingUnknown(address: string, since: number, { venue, call }: Pick<Context, 'venue' | 'call'>): Promise<boolean> {
  const wallet = { ...venue.on.own, address }
  const next = await call.call('EVMNonce', wallet, { signal: AbortSignal.timeout(longestNonceMs) }).catch((thrown: unknown) => {
    if (thrown instanceof SluiceError && isPassing(thrown)) return undefined
    throw thrown
  })
  if (!next) return true
  for (let nonce = next.nonce - 1; nonce >= 0 && nonce >= next.nonce - maxNewNonces; nonce -= 1) {
    const { transactions } = await call.call('Transactions', { ...wallet, nonce, archived: true })
    const own = transactions.filter(({ txState }) => txState !== 'DROPPED' && txState !== 'EXPIRED')
    if (own.length === 0) return false
    if (own.some(({ createdAt }) => createdAt < since - clocksDifferMs)) return true
  }
  return next.nonce <= maxNewNonces
}

// An allowance by Permit2 ends by itself: what it still held then is freed, without a transaction. The chain's blocks say when, and no clock.
import type { Store } from '../store/store.ts'
import { withDeadline } from '../base/async.ts'
import { allowanceOf, readExpiring, type NamedAllowance } from './refundable.ts'
import type { SpendingLimits } from './spending-limits.ts'

interface Log {
  info(fields: object, message: string): void
}

interface ExpiryOptions {
  readonly store: Pick<Store, 'read' | 'write'>
  readonly limits: Pick<SpendingLimits, 'endAllowance' | 'isIdle'>
  /** What it still held as it ended, by a final block; undefined where that is not known, or not yet. */
  leftOf(allowance: NamedAllowance, expires: number, signal: AbortSignal): Promise<bigint | undefined>
  readonly log: Log
}

export interface ExpiredAllowances {
  /** Frees what has ended. Runs by itself. Never rejects. */
  look(): Promise<void>
  stop(): Promise<void>
}

/** An hour is the shortest window. */
const lookEveryMs = 60_000
/** For one allowance. */
const readWithinMs = 10_000

export function followExpiries({ store, limits, leftOf, log }: ExpiryOptions): ExpiredAllowances {
  const stopping = new AbortController()
  let looking: Promise<void> | undefined
  const interval = setInterval(() => void look(), lookEveryMs).unref()

  const look = (): Promise<void> => (looking ??= lookAtAll().finally(() => (looking = undefined)))

  async function lookAtAll(): Promise<void> {
    if (stopping.signal.aborted || limits.isIdle?.() === true) return
    try {
      for (const [name, { expires }] of await store.read((db) => readExpiring(db))) {
        const allowance = allowanceOf(name)
        if (allowance && expires !== undefined && !stopping.signal.aborted) await lookAt(name, allowance, expires)
      }
    } catch (error) {
      log.info({ reason: reasonOf(error) }, 'allowances that may have expired not read; read again in a minute')
    }
  }

  async function lookAt(name: string, allowance: NamedAllowance, expires: number): Promise<void> {
    try {
      const leftRaw = await withDeadline(stopping.signal, readWithinMs, (signal) => leftOf(allowance, expires, signal))
      if (leftRaw === undefined) return
      await store.write((tx) => limits.endAllowance({ name, expires, leftRaw }, tx))
      log.info({ ...allowance, expires, leftRaw: String(leftRaw) }, 'allowance expired: what it still held is freed')
    } catch (error) {
      log.info({ ...allowance, expires, reason: reasonOf(error) }, 'allowance that may have expired not read; read again in a minute')
    }
  }

  return {
    look,
    async stop() {
      clearInterval(interval)
      stopping.abort()
      await looking
    },
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown')

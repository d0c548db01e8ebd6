// An allowance by Permit2 ends by itself: what it still held then is freed, without a transaction. The chain's blocks say when, and no clock.
import type { Store } from '../store/store.ts'
import { withDeadline } from '../base/async.ts'
import type { ExpiringAllowance } from '../contracts/index.ts'
import { allowanceOf, readExpiring } from './refundable.ts'
import type { SpendingLimits } from './spending-limits.ts'
import { reasonOf } from '../base/errors.ts'
import { networkPath, type NetworkName } from '../base/networks.ts'

interface Log {
  info(fields: object, message: string): void
}

interface ExpiryOptions {
  readonly store: Pick<Store, 'read' | 'write'>
  readonly limits: Pick<SpendingLimits, 'endAllowance' | 'isIdle'>
  /** What those of a network still held as they ended, by a final block; undefined where that is not known, or not yet. */
  leftOf(on: NetworkName, asked: readonly ExpiringAllowance[], signal: AbortSignal): Promise<readonly (bigint | undefined)[]>
  readonly log: Log
}

export interface ExpiredAllowances {
  /** Frees what has ended. Runs by itself. Never rejects. */
  look(): Promise<void>
  stop(): Promise<void>
}

/** An hour is the shortest window. */
const lookEveryMs = 60_000
/** For those of one network. */
const readWithinMs = 10_000
/** So far may the host's clock be behind that of a chain. */
const clockErrorMs = 24 * 3_600_000

interface NamedExpiry extends ExpiringAllowance {
  readonly name: string
}

export function followExpiries({ store, limits, leftOf, log }: ExpiryOptions): ExpiredAllowances {
  const stopping = new AbortController()
  let looking: Promise<void> | undefined
  const interval = setInterval(() => void look(), lookEveryMs).unref()

  const look = (): Promise<void> => (looking ??= lookAtAll().finally(() => (looking = undefined)))

  async function lookAtAll(): Promise<void> {
    if (stopping.signal.aborted || limits.isIdle?.() === true) return
    try {
      const known = await store.read((db) => readExpiring(db))
      const asked = [...known].flatMap(([name, { expires }]): (NetworkName & NamedExpiry)[] => {
        const named = allowanceOf(name)
        if (!named || expires === undefined || expires * 1000 > Date.now() + clockErrorMs) return []
        const { chain, network, address: wallet, allowance } = named
        return [{ name, chain, network, wallet, allowance, expires }]
      })
      const networks = new Set(asked.map(networkPath))
      await Promise.all([...networks].map((network) => lookAt(asked.filter((each) => networkPath(each) === network))))
    } catch (error) {
      log.info({ reason: reasonOf(error) }, 'allowances that may have expired not read; read again in a minute')
    }
  }

  async function lookAt(asked: readonly (NetworkName & NamedExpiry)[]): Promise<void> {
    const [first] = asked
    if (!first) return
    const { chain, network } = first
    try {
      const leftRaws = await withDeadline(stopping.signal, readWithinMs, (signal) => leftOf({ chain, network }, asked, signal))
      for (const [index, { name, wallet, allowance, expires }] of asked.entries()) {
        const leftRaw = leftRaws[index]
        if (leftRaw === undefined || stopping.signal.aborted) continue
        await store.write((tx) => limits.endAllowance({ name, expires, leftRaw }, tx))
        log.info({ chain, network, wallet, allowance, expires, leftRaw: String(leftRaw) }, 'allowance expired: what it still held is freed')
      }
    } catch (error) {
      log.info({ chain, network, reason: reasonOf(error) }, 'allowances that may have expired not read; read again in a minute')
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

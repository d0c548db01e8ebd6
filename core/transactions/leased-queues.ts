import type { Guard } from './journal/journal.ts'
import { createLane } from './nonce-queue.ts'
import type { Lane } from './nonce-queue.ts'
import { laneName, railName } from './lanes/lane-name.ts'
import type { Leases } from './leases.ts'
import type { Site } from './submit-request.ts'
import { createQueue } from './lanes/queue.ts'
import type { Queue } from './lanes/queue.ts'
import type { Recorder } from './journal/recorder.ts'
import { rebuildLane } from './lanes/rebuild-lane.ts'
import { Superseded } from './journal/superseded.ts'
import { nothingSent } from './submit/timeout.ts'

/** A lane as it was taken up, and the hold on it that every write shows. */
export interface HeldLane {
  readonly lane: Lane
  readonly guard: Guard
}

/** The lanes of one network that this server owns, each as the journal has it since the last change of owner. */
export interface Lanes {
  /** Counts a request of a wallet in, and out by the function that it gives. @throws SluiceError OVERLOADED */
  enter(address: string): () => void
  /** Runs work while the wallet's lane is ours; asks its owner for it. @throws Superseded; TIMEOUT; StoreUnavailable */
  use<T>(address: string, signal: AbortSignal, work: (held: HeldLane) => Promise<T>): Promise<T>
  /** Takes up a lane whose owner is dead, or which has none; false where it has a living owner. */
  adopt(address: string): Promise<boolean>
  /** The wallet's lane, if it is ours at this moment. */
  held(address: string): HeldLane | undefined
  /** All that are ours at this moment. */
  all(): readonly HeldLane[]
}

interface TakenUp {
  guard: Guard
  ready: Promise<HeldLane>
  /** Once it is ready. */
  held?: HeldLane
}

export function createLanes({
  site,
  recorder,
  leases,
  limit,
}: {
  site: Site
  recorder: Recorder
  leases: Leases
  /** `limits.walletQueue` */
  limit: number
}): Lanes {
  const { impl } = site
  const taken = new Map<string, TakenUp>()
  const queues = new Map<string, Queue>()
  const nameOf = (address: string) => laneName(site, address)

  /** Once for every change of owner: whatever was known before may have been overtaken. */
  function takeUp(address: string, guard: Guard): Promise<HeldLane> {
    const before = taken.get(address)
    if (before?.guard.fence === guard.fence) return before.ready
    if (before && before.guard.fence > guard.fence)
      return Promise.reject(new Superseded(`${nameOf(address)} has had another owner meanwhile.`))
    const fresh = createLane({ rail: impl.rail, address, limit, name: `${address} on ${railName(site)}` })
    const ready = rebuildLane({ site, recorder, lane: fresh, guard }).then(() => ({ lane: fresh, guard }))
    const entry: TakenUp = { guard, ready }
    taken.set(address, entry)
    ready.then(
      (held) => (entry.held = held),
      () => taken.get(address) === entry && taken.delete(address),
    )
    return ready
  }

  function held(address: string): HeldLane | undefined {
    const found = taken.get(address)?.held
    return found && leases.held(nameOf(address))?.fence === found.guard.fence ? found : undefined
  }

  return {
    enter(address) {
      const queue = queues.get(address) ?? createQueue(limit, `${address} on ${railName(site)}`)
      queues.set(address, queue)
      return queue.enter()
    },
    async use<T>(address: string, signal: AbortSignal, work: (held: HeldLane) => Promise<T>): Promise<T> {
      let begun = false
      const done: { value: T }[] = []
      try {
        await leases.use(nameOf(address), signal, async (guard) => {
          const mine = await takeUp(address, guard)
          begun = true
          done.push({ value: await work(mine) })
        })
      } catch (error) {
        // The signal's own reason says nothing to a caller.
        if (!begun && signal.aborted) throw nothingSent()
        // What was done stays done, whatever becomes of the lane afterwards.
        if (done.length === 0) throw error
      }
      const [outcome] = done
      if (!outcome) throw new Error(`The lane ${nameOf(address)} was not used.`)
      return outcome.value
    },
    async adopt(address) {
      const guard = leases.held(nameOf(address)) ?? (await leases.adopt(nameOf(address)))
      if (guard) await takeUp(address, guard)
      return guard !== undefined
    },
    held,
    all: () => [...taken.keys()].flatMap((address) => held(address) ?? []),
  }
}

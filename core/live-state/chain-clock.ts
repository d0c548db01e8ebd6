import type { Head } from '../contracts/index.ts'

/**
 * How old the blocks of one network are. This machine's clock alone cannot say: it may be wrong, and it may jump. A clock that nobody sets
 * tells how long ago a block came, but not how old it was then. So the network itself is asked: a network that is alive makes its blocks in
 * step with a steady clock.
 */
export interface ChainClock {
  /** A block of the network was seen. */
  observe(head: Pick<Head, 'timestamp'>): void
  /** How old a block is. Observes it, too. */
  ageSeconds(head: Pick<Head, 'timestamp'>): number
}

interface ChainClockOptions {
  /** This machine's clock. */
  nowMs?: () => number
  /** A clock that is never set. It may stand still while the machine sleeps. */
  steadyMs?: () => number
}

/** When a block came, in seconds: by its own time, by the steady clock and by this machine's clock. */
interface Arrival {
  readonly block: number
  readonly steady: number
  readonly machine: number
}

/** A new block that is at most so old by this machine's clock confirms that clock. Blocks may also be a little in the future. */
const agreementSeconds = 60
/** If this machine's clock has moved so far against the steady one since the newest block, one of them cannot be believed. */
const jumpSeconds = 30
/**
 * A node that stays behind by the same time looks like a network that is alive, seen with a clock that is ahead. Shorter lags happen; one of
 * this length, at exactly the network's pace, does not: the node would catch up, or fall further behind.
 */
const implausibleLagSeconds = 3_600
/** A network is alive if its blocks kept step with the steady clock over this time. */
const spanSeconds = 300
const [minPace, maxPace] = [0.98, 1.02]
/** Arrivals of so long are remembered, so far apart. */
const [rememberedSeconds, apartSeconds] = [600, 5]
/** Steady clocks drift, by less than this for each block. */
const driftSeconds = 0.01

export function createChainClock({ nowMs = Date.now, steadyMs = () => performance.now() }: ChainClockOptions = {}): ChainClock {
  let newest: Arrival | undefined
  /** Oldest first. */
  let arrivals: Arrival[] = []
  /** How far the network's time is ahead of the steady clock, from blocks whose age this machine's clock confirmed. */
  let confirmedLead: number | undefined

  const machine = () => nowMs() / 1000
  const steady = () => steadyMs() / 1000
  const leadOf = ({ block, steady: at }: Arrival) => block - at

  function observe({ timestamp: block }: Pick<Head, 'timestamp'>): void {
    const isOlder = newest !== undefined && block <= newest.block
    // At once: this is asked for with each price.
    if (newest && isOlder && newest.block <= newest.machine + agreementSeconds) return
    const arrival = { block, steady: steady(), machine: machine() }
    if (newest && isOlder) {
      if (!isAheadOfItsTime(newest, arrival)) return
      arrivals = arrivals.filter((each) => each.block <= block)
    }
    newest = arrival
    if (arrival.steady - (arrivals.at(-1)?.steady ?? -Infinity) >= apartSeconds)
      arrivals = [...arrivals.filter((each) => arrival.steady - each.steady <= rememberedSeconds), arrival]
    if (isConfirmed(arrival)) confirmedLead = Math.max(leadOf(arrival), (confirmedLead ?? -Infinity) - driftSeconds)
  }

  const isConfirmed = (arrival: Arrival) => Math.abs(arrival.machine - arrival.block) <= agreementSeconds

  /**
   * Whether a block that is older, and came later, shows that a node was wrong about the newest one: this machine's clock confirms the one and not the
   * other, nor was the network ever so far.
   */
  const isAheadOfItsTime = (last: Arrival, later: Arrival): boolean =>
    isConfirmed(later) &&
    last.block > later.machine + agreementSeconds &&
    (confirmedLead === undefined || leadOf(last) > confirmedLead + agreementSeconds)

  /** The network's lead over the steady clock, if the newest block shows that the network is alive and this machine's clock wrong. */
  function leadOfLiveNetwork(last: Arrival): number | undefined {
    if (confirmedLead !== undefined && leadOf(last) >= confirmedLead - agreementSeconds) return confirmedLead
    const [first] = arrivals
    const span = first ? last.steady - first.steady : 0
    if (!first || span < spanSeconds || last.machine - last.block < implausibleLagSeconds) return undefined
    const pace = (last.block - first.block) / span
    return pace >= minPace && pace <= maxPace ? Math.max(...arrivals.map(leadOf)) : undefined
  }

  function ageOf(last: Arrival): number {
    const sinceSeen = steady() - last.steady
    const byMachine = machine() - last.block
    // Until the next block nobody knows which: was the clock set, or did the machine sleep, while the steady clock stood still?
    const hasJumped = Math.abs(machine() - last.machine - sinceSeen) > jumpSeconds
    const lead = hasJumped || isConfirmed(last) ? undefined : leadOfLiveNetwork(last)
    return Math.max(sinceSeen, lead === undefined ? byMachine : steady() + lead - last.block)
  }

  return {
    observe,
    ageSeconds(head) {
      observe(head)
      return newest ? ageOf(newest) + (newest.block - head.timestamp) : 0
    },
  }
}

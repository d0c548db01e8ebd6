/**
 * How a pool's amplification goes from one value to another: `initial_A`, `future_A` and their times, in seconds since the Unix epoch.
 * Where it does not move, both are the same and so are the times.
 */
export interface Ramp {
  readonly initial: bigint
  readonly future: bigint
  readonly initialTime: bigint
  readonly futureTime: bigint
}

/** `_A` of curve-contract, contracts/pools: what it is in a block of that time. */
export function amplificationAt({ initial, future, initialTime, futureTime }: Ramp, timestamp: number): bigint {
  const now = BigInt(timestamp)
  if (now >= futureTime) return future
  const [passed, all] = [now - initialTime, futureTime - initialTime]
  return future > initial ? initial + ((future - initial) * passed) / all : initial - ((initial - future) * passed) / all
}

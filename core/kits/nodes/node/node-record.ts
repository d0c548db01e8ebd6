/** How much the newest counts: about the last eight are seen. */
const weight = 0.2
const shakyAbove = 0.5
const steadyBelow = 0.25

/** How fast a node answers, and how often it does not: moving averages. */
export interface NodeRecord {
  answered(ms: number): void
  failed(): void
  /** How long the same small question took, which every node of a network is asked: only that can be compared. */
  probed(ms: number): void
  latencyMs(): number | undefined
  probeMs(): number | undefined
  errorRate(): number
  /** It fails so often that any other one is better; until it has answered well for a while. */
  isShaky(): boolean
}

export function createRecord(): NodeRecord {
  let latencyMs: number | undefined
  let probeMs: number | undefined
  let errorRate = 0
  let shaky = false

  function count(error: 0 | 1): void {
    errorRate = average(errorRate, error)
    shaky = shaky ? errorRate > steadyBelow : errorRate > shakyAbove
  }

  return {
    answered(ms) {
      latencyMs = average(latencyMs, ms)
      count(0)
    },
    failed: () => count(1),
    probed(ms) {
      probeMs = average(probeMs, ms)
    },
    latencyMs: () => latencyMs,
    probeMs: () => probeMs,
    errorRate: () => errorRate,
    isShaky: () => shaky,
  }
}

const average = (before: number | undefined, now: number) => (before === undefined ? now : before + weight * (now - before))

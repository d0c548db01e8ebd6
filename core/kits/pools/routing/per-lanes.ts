import type { Lanes } from '../../../../kits/amm/routing/graph.ts'

/** Remembers by a key what belongs to pools as they are, whatever the amount: for as long as anybody has them. */
export function perLanes<T>(): (lanes: Lanes) => Map<string, T> {
  const known = new WeakMap<Lanes, Map<string, T>>()
  return (lanes) => {
    const before = known.get(lanes)
    if (before) return before
    const ofLanes = new Map<string, T>()
    known.set(lanes, ofLanes)
    return ofLanes
  }
}

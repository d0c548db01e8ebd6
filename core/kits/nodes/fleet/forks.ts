/**
 * Which nodes are on another fork than most, by the hash that each has for one block far below the head. Where two forks have
 * equally many, the one of the node that comes first is taken: nobody can know better.
 * @param hashes in order of preference; undefined where a node did not say
 */
export function otherForks<N>(hashes: ReadonlyMap<N, string | undefined>): ReadonlySet<N> {
  const votes = new Map<string, number>()
  for (const hash of hashes.values()) if (hash !== undefined) votes.set(hash, (votes.get(hash) ?? 0) + 1)
  const most = Math.max(...votes.values())
  const chosen = [...votes].find(([, count]) => count === most)?.[0]
  return new Set([...hashes].flatMap(([node, hash]) => (hash === undefined || hash === chosen ? [] : node)))
}

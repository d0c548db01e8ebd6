/** Keeps the newest entries of a map or set, which are in the order in which they were added. */
export function dropOldest<K>(of: { readonly size: number; keys(): Iterable<K>; delete(key: K): unknown }, most: number): void {
  for (const oldest of of.keys()) {
    if (of.size <= most) return
    of.delete(oldest)
  }
}

import { distance } from 'fastest-levenshtein'

/** Comparing takes time by the product of the lengths. */
const longestName = 64

/** The known name that was probably meant, or undefined when none is near. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > longestName) return undefined
  const ranked = known
    .map((candidate) => ({ candidate, edits: distance(plain(name), plain(candidate)) }))
    .toSorted((a, b) => a.edits - b.edits)
  const best = ranked[0]
  // A third of the letters may be wrong (two that changed places count twice); more than that is another word.
  return best && best.edits <= Math.max(name.length > 3 ? 2 : 1, Math.floor(name.length / 3)) ? best.candidate : undefined
}

/** "Did you mean …?" where there is a near name, else the list of what is known. */
export function suggestion(name: string, known: readonly string[]): string {
  if (known.length === 0) return 'Remove it: nothing can be set here.'
  const near = nearest(name, known)
  return near === undefined ? `Remove it, or use one of: ${known.join(', ')}.` : `Did you mean "${near}"?`
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '')
}

import { closest, distance } from 'fastest-levenshtein'

/** The known name that was probably meant, if one is near. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || name.length > 64) return undefined
  const [wanted, folded] = [name.toLowerCase(), known.map((each) => each.toLowerCase())]
  const nearestFolded = closest(wanted, folded)
  if (distance(wanted, nearestFolded) > Math.max(1, Math.floor(nearestFolded.length / 3))) return undefined
  return known[folded.indexOf(nearestFolded)]
}

/** ' (did you mean "x"?)', or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const candidate = nearest(name, known)
  return candidate === undefined ? '' : ` (did you mean "${candidate}"?)`
}

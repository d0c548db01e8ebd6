import { closest, distance } from 'fastest-levenshtein'

/** The known name that was probably meant, if one is near. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || name.length > 64) return undefined
  const candidate = closest(name.toLowerCase(), known as string[])
  return distance(name.toLowerCase(), candidate.toLowerCase()) <= Math.max(1, Math.floor(candidate.length / 3)) ? candidate : undefined
}

/** ' (did you mean "x"?)', or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const candidate = nearest(name, known)
  return candidate === undefined ? '' : ` (did you mean "${candidate}"?)`
}

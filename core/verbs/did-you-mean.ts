import { nearest } from '../config/checks/nearest.ts'

/** ' (did you mean "x"?)', or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const candidate = nearest(name, known)
  return candidate === undefined ? '' : ` (did you mean "${candidate}"?)`
}

import { normalize } from 'sluice/decimal'

/** A number of a body, or a text of a query: `0.5`, `1e-07`. */
export const decimalPattern = '^\\d{1,80}(\\.\\d{1,120})?([eE][+-]?\\d{1,2})?$'
const isDecimal = new RegExp(decimalPattern)

/** The one spelling of a number, so that equal ones are equal requests. What is none is refused where it is read. */
export const canonical = (text: string): string => (isDecimal.test(text) ? normalize(text) : text)

/** The same of a field that may be left out. */
export const canonicalOf = (text: string | undefined): string | undefined => (text === undefined ? undefined : canonical(text))

/**
 * An amount as a JSON number, for fields that clients read as one. Never more than the amount: a bot that believes it has more than it has places
 * orders that fail. A double holds fifteen digits of any decimal.
 */
export function numberBelow(amount: string): number {
  const [whole = '', fraction = ''] = amount.split('.')
  const digits = whole.replace(/^0+/, '')
  if (digits.length > 15) return Number(`${digits.slice(0, 15)}e${digits.length - 15}`)
  const leading = digits === '' ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0
  return Number(`${whole}.${fraction.slice(0, leading + 15 - digits.length)}`)
}

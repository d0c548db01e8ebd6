/** Digits with at most one point, above or equal to 0. */
const form = /^\d+(\.\d+)?$/
/** Written without zeros that say nothing. */
const plain = /^(0|[1-9]\d*)(\.\d*[1-9])?$/

/** The one spelling of a number: two that are equal are the same text. Undefined where it is none, or below 0. */
export function canonical(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  if (plain.test(text)) return text
  if (!form.test(text)) return undefined
  const [whole = '', fraction = ''] = text.split('.')
  const [digits, decimals] = [whole.replace(/^0+(?=\d)/, ''), fraction.replace(/0+$/, '')]
  return decimals === '' ? digits : `${digits}.${decimals}`
}

/**
 * Which of two canonical numbers is the larger, below 0 where it is the second. The nearest doubles are in the order of the numbers wherever
 * they differ, since rounding is monotone (IEEE 754, 4.3); only where they are the same do the digits decide.
 */
export function compare(a: string, b: string, aNear = Number(a), bNear = Number(b)): number {
  if (aNear !== bNear) return aNear < bNear ? -1 : 1
  if (a === b) return 0
  const [aWhole = '', aFraction = ''] = a.split('.')
  const [bWhole = '', bFraction = ''] = b.split('.')
  if (aWhole.length !== bWhole.length) return aWhole.length - bWhole.length
  const [aDigits, bDigits] = [`${aWhole}.${aFraction}`, `${bWhole}.${bFraction}`]
  return aDigits < bDigits ? -1 : 1
}

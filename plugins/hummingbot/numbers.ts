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

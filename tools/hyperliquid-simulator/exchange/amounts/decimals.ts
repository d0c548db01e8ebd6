/** A decimal as a whole number of 10^-decimals. @throws RangeError where it is none, or has more decimals than that */
export function toUnits(text: string, decimals: number): bigint {
  const parts = /^(-?)(\d+)(?:\.(\d*?)0*)?$/.exec(text)
  const [, sign, whole = '', fraction = ''] = parts ?? []
  if (!parts || fraction.length > decimals) throw new RangeError(`${text} is no number with at most ${decimals} decimals`)
  const units = BigInt(whole + fraction.padEnd(decimals, '0'))
  return sign ? -units : units
}

/** As the exchange writes numbers: with one decimal at least, and no zeros at the end but that. */
export function fromUnits(units: bigint, decimals: number): string {
  const digits = abs(units)
    .toString()
    .padStart(decimals + 1, '0')
  const whole = decimals === 0 ? digits : digits.slice(0, -decimals)
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${whole}.${fraction || '0'}`
}

export const abs = (value: bigint) => (value < 0n ? -value : value)
export const least = (a: bigint, b: bigint) => (a < b ? a : b)
export const most = (a: bigint, b: bigint) => (a > b ? a : b)

export const floorDiv = (a: bigint, b: bigint): bigint => a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n)
export const ceilDiv = (a: bigint, b: bigint): bigint => -floorDiv(-a, b)
/** To the nearest, halves away from 0. */
export const roundDiv = (a: bigint, b: bigint): bigint => {
  const [n, d] = b < 0n ? [-a, -b] : [a, b]
  return n < 0n ? -((-n * 2n + d) / (2n * d)) : (n * 2n + d) / (2n * d)
}

/** A decimal string as digits and how many of them are behind the point. */
interface Exact {
  readonly digits: bigint
  readonly scale: number
}

function exact(text: string): Exact {
  const [whole = '', fraction = ''] = text.split('.')
  return { digits: BigInt(whole + fraction), scale: fraction.length }
}

function written({ digits, scale }: Exact): string {
  const padded = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0')
  const whole = padded.slice(0, padded.length - scale)
  const fraction = padded.slice(padded.length - scale).replace(/0+$/, '')
  return `${digits < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** Both in the smaller of their units. */
function aligned(a: string, b: string): readonly [bigint, bigint, number] {
  const [left, right] = [exact(a), exact(b)]
  const scale = Math.max(left.scale, right.scale)
  return [left.digits * 10n ** BigInt(scale - left.scale), right.digits * 10n ** BigInt(scale - right.scale), scale]
}

/** Written without zeros that say nothing, and not below 0. */
const isPlain = /^(0|[1-9]\d*)(\.\d*[1-9])?$/

/** Without zeros that say nothing: "1.50" is "1.5", "-0.0" is "0". Whole books are read by it: the usual ones are only cut. */
export function plain(text: string): string {
  const cut = text.includes('.') ? text.replace(/\.?0+$/, '') : text
  return isPlain.test(cut) ? cut : written(exact(text))
}

export function plus(a: string, b: string): string {
  const [left, right, scale] = aligned(a, b)
  return written({ digits: left + right, scale })
}

export function minus(a: string, b: string): string {
  const [left, right, scale] = aligned(a, b)
  return written({ digits: left - right, scale })
}

export function times(a: string, b: string): string {
  const [left, right] = [exact(a), exact(b)]
  return written({ digits: left.digits * right.digits, scale: left.scale + right.scale })
}

export const sum = (all: readonly string[]): string => all.reduce(plus, '0')

/** Below 0, 0 or above 0, as `a` is to `b`. */
export function compare(a: string, b: string): number {
  const [left, right] = aligned(a, b)
  return left < right ? -1 : left > right ? 1 : 0
}

/** With so many digits behind the point; neither below 0. */
export function divided(a: string, b: string, scale: number, rounding: 'up' | 'down'): string {
  const [left, right] = aligned(a, b)
  const scaled = left * 10n ** BigInt(scale)
  return written({ digits: rounding === 'up' ? (scaled + right - 1n) / right : scaled / right, scale })
}

/** What so many of a token's smallest units are. */
export const ofRaw = (raw: bigint, decimals: number): string => written({ digits: raw, scale: decimals })

export const decimalsOf = (text: string): number => exact(plain(text)).scale

export const withoutSign = (text: string): string => plain(text.replace('-', ''))

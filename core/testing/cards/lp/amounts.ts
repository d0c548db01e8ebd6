import { raw } from '../../../../testkit/cards/venue.ts'

/** Smallest units of what a request offered, by the decimals of what was answered about the same token. */
export function rawLike(offered: unknown, like: string): bigint {
  const [whole = '', fraction = ''] = String(offered).split('.')
  const decimals = like.split('.')[1]?.length ?? 0
  return BigInt(whole + fraction.padEnd(decimals, '0').slice(0, decimals))
}

/** The pool's order in that of the request: which amount of a position is the request's first. */
export function inOrderOf<T>(asked: { token0: string }, shown: { token0: string }, [first, second]: readonly [T, T]): [T, T] {
  return asked.token0 === shown.token0 ? [first, second] : [second, first]
}

export const raws = (amounts: readonly string[]): bigint[] => amounts.map(raw)

/** Whether two decimal strings are the same to fifteen digits. */
export function isClose(a: string | number, b: string | number): boolean {
  return Math.abs(Number(a) / Number(b) - 1) < 1e-15 * 10
}

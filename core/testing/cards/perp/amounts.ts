import { expect } from 'chai'

/** The same number, however many zeros each is padded with. */
export function expectSame(actual: string, expected: string, what: string): void {
  expect(trimmed(actual), what).to.equal(trimmed(expected))
}

const trimmed = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text).replace(/^-0$/, '0')

/** For what comes about by many roundings: equal but for that part of the larger. */
export function expectClose(actual: string | number, expected: string | number, part: number, what: string): void {
  const [a, b] = [Number(actual), Number(expected)]
  expect(Math.abs(a - b) <= part * Math.max(Math.abs(a), Math.abs(b)), `${what}: ${actual} and ${expected}`).to.equal(true)
}

/** Equal but for so much: amounts that time and the settlement token's decimals take a little from. */
export function expectNear(actual: number, expected: number, off: number, what: string): void {
  expect(Math.abs(actual - expected) <= off, `${what}: ${actual} and ${expected}`).to.equal(true)
}

import { fractionOf } from '../../../decimal.ts'

// Enough for a price of 18 digits times an amount of 18 decimals.
const decimals = 40n
const one = 10n ** decimals

/** A decimal string with a sign, as so many 10^-40. Exact. */
export function exact(text: string): bigint {
  const negative = text.startsWith('-')
  const { numerator, denominator } = fractionOf(negative ? text.slice(1) : text)
  const magnitude = (numerator * one) / denominator
  return negative ? -magnitude : magnitude
}

export const times = (a: bigint, b: bigint): bigint => (a * b) / one

export const sum = (all: readonly bigint[]): bigint => all.reduce((total, each) => total + each, 0n)

/** The decimal string, without zeros at its end. */
export function plain(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(Number(decimals) + 1, '0')
  const text = `${digits.slice(0, -Number(decimals))}.${digits.slice(-Number(decimals))}`.replace(/\.?0+$/, '')
  return value < 0n ? `-${text}` : text
}

import type { Answer } from '../answer.ts'

/** An amount of tokens as nodes show it: exact as text, and once more as a float for those who want one. */
export function uiAmount(amountRaw: bigint, decimals: number): Answer {
  const digits = amountRaw.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  const uiAmountString = fraction ? `${whole}.${fraction}` : whole
  return { amount: amountRaw.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString }
}

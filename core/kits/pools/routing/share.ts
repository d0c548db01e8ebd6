/** A twentieth of a swap is the least that goes a way of its own. */
export const wholeShare = 20

/** A share of an amount, in twentieths and rounded down. */
export const shareOf = (amountRaw: bigint, share: number): bigint => (amountRaw * BigInt(share)) / BigInt(wholeShare)

/** 7 → "0.35" */
export const shareDecimal = (share: number): string => String((share * 5) / 100)

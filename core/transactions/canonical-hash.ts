/** Hexadecimal digits say the same in either case of letters; in base58 another case is another signature. */
export const canonicalHash = (txHash: string): string => (/^0x/i.test(txHash) ? txHash.toLowerCase() : txHash)

/** Addresses and hashes are looked for in lower case, also those of chains that have both: none differ by that alone. */
export const folded = (text: string): string => text.toLowerCase()

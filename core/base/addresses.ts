/**
 * The same text for every spelling of one address, and another one for every other address: for sets, keys and rows of the store, also where no
 * chain is at hand that knows its canonical spelling (`Chain.address`). In hexadecimal the case of letters is only a checksum; in other alphabets,
 * such as base58, it tells addresses apart. No base58 text begins with 0x: it has no 0.
 */
export const addressKey = (address: string): string => (/^0x/i.test(address) ? address.toLowerCase() : address)

export const isSameAddress = (one: string, other: string): boolean => addressKey(one) === addressKey(other)

/** Hashes in hexadecimal are the same in upper and lower case. In base58 they are not. */
export const canonicalHash = (txHash: string): string => (/^0x/i.test(txHash) ? txHash.toLowerCase() : txHash)

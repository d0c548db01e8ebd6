// Rights over tokens that a wallet gives, and those by a signature, as Permit2 takes them: https://github.com/Uniswap/permit2

/** What tokens take for an allowance that never ends: 2^256 - 1, of some 2^160 - 1 or 2^96 - 1. No amount of any token is that large. */
export const isUnlimited = (amountRaw: bigint): boolean => amountRaw >= 2n ** 128n || amountRaw === 2n ** 96n - 1n

/** So far ahead of now a permit may end at most: what somebody carries away of it is worth nothing then. */
export const maxPermitSeconds = 3_600

/** Permit2 as it is deployed on every chain: https://github.com/Uniswap/permit2 */
export const canonicalPermit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'

/** A spender may take so much of a token of the wallet that signs it. */
export interface Permit<A = string> {
  readonly permit2: A
  readonly token: A
  readonly spender: A
  readonly amountRaw: bigint
  /** Seconds since the Unix epoch: until then, its second included, the signature counts and the spender may take the amount. */
  readonly expires: number
  /** Of the wallet's permits for this token and spender: each is used once, in order. */
  readonly nonce: number
}

const types = {
  PermitDetails: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint160' },
    { name: 'expiration', type: 'uint48' },
    { name: 'nonce', type: 'uint48' },
  ],
  PermitSingle: [
    { name: 'details', type: 'PermitDetails' },
    { name: 'spender', type: 'address' },
    { name: 'sigDeadline', type: 'uint256' },
  ],
}

/**
 * What the wallet signs (EIP-712): a single permit, for one token and spender.
 * https://github.com/Uniswap/permit2/blob/main/src/libraries/PermitHash.sol, and EIP712.sol beside it for the domain, which has no version.
 */
export const permitTypedData = ({ permit2, token, spender, amountRaw, expires, nonce }: Permit, chainId: number) => ({
  domain: { name: 'Permit2', chainId, verifyingContract: permit2 },
  types,
  message: { details: { token, amount: amountRaw, expiration: expires, nonce }, spender, sigDeadline: expires },
})

/** What is read and built upon: voted for by two thirds of the stake, which has never been taken back yet. */
export const confirmed = { commitment: 'confirmed' } as const
/** What makes a transaction final, and its absence too. */
export const finalized = { commitment: 'finalized' } as const

/** Codes of nodes that cannot tell of a transaction what others may: agave `rpc-client-api/src/custom_error.rs`. */
export const noHistory = -32011
export const unknownVersion = -32015

import type { MaybeAccount, ReadonlyUint8Array } from '@solana/kit'

/** An account with its bytes, or that there is none at the address. */
export type Maybe = MaybeAccount<ReadonlyUint8Array>

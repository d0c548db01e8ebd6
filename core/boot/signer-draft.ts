import type { Signable } from '../contracts/index.ts'
import type { SignRequest } from '../wallet/index.ts'

const schemes = { 'evm-transaction': 'secp256k1', 'solana-message': 'ed25519' } as const satisfies Record<Signable['scheme'], string>

/** How the signer is asked for the bytes that a rail drafts. */
export const draftOf = ({ scheme, bytes }: Signable): SignRequest['draft'] => ({ scheme: schemes[scheme], bytes })

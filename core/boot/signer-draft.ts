import { SluiceError, type Signable } from '../contracts/index.ts'
import { readTypedData, type SignRequest } from '../wallet/signer/sign-request.ts'

/** How the signer is asked for the bytes that a rail drafts. @throws SluiceError where typed data is none: a defect of the plugin */
export function draftOf({ scheme, bytes }: Signable): SignRequest['draft'] {
  if (scheme === 'evm-transaction') return { scheme: 'secp256k1', bytes }
  if (scheme === 'solana-message') return { scheme: 'ed25519', bytes }
  const typedData = readTypedData(bytes)
  if (typedData) return { scheme: 'eip712', typedData }
  throw new SluiceError(
    'UNKNOWN_ERROR',
    'What is to be signed is no typed data (EIP-712): nothing was signed. This is a defect of the plugin.',
  )
}

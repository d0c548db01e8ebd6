import { getAddressEncoder } from '@solana/kit'
import { createPublicKey, verify } from 'node:crypto'
import type { Wire } from './read-wire.ts'

/** What stands before the 32 bytes of an ed25519 key in its DER form: RFC 8410. */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** Every signer has signed these very bytes. */
export function isSigned({ transaction, message }: Wire): boolean {
  return message.staticAccounts.slice(0, message.header.numSignerAccounts).every((signer) => {
    const signature = transaction.signatures[signer]
    const key = Buffer.concat([derPrefix, Uint8Array.from(getAddressEncoder().encode(signer))])
    return (
      signature && verify(null, Uint8Array.from(transaction.messageBytes), createPublicKey({ key, format: 'der', type: 'spki' }), signature)
    )
  })
}

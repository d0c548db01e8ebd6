import { getBase58Encoder, getBase64Encoder } from '@solana/kit'
import { largestWireBytes, readWire, UnreadableWire, type Wire } from '../../ledger/read-wire.ts'
import { textOf, type Config } from '../params.ts'
import { invalidParams } from '../rpc-error.ts'

/** The transaction that a caller sent along; in base58 where nothing else is said. */
export function givenWire(value: unknown, { encoding = 'base58' }: Config): Wire {
  const text = textOf(value)
  if (encoding !== 'base58' && encoding !== 'base64')
    throw invalidParams(`unsupported encoding: ${String(encoding)}. Supported encodings: base58, base64`)
  const bytes = decoded(text, encoding)
  if (bytes.length > largestWireBytes)
    throw invalidParams(
      `decoded solana_transaction::versioned::VersionedTransaction too large: ${bytes.length} bytes (max: ${largestWireBytes} bytes)`,
    )
  try {
    return readWire(bytes)
  } catch (error) {
    if (error instanceof UnreadableWire) throw invalidParams(error.message)
    throw error
  }
}

export function decoded(text: string, encoding: 'base58' | 'base64'): Uint8Array {
  try {
    return Uint8Array.from((encoding === 'base64' ? getBase64Encoder() : getBase58Encoder()).encode(text))
  } catch {
    throw invalidParams(`invalid ${encoding} encoding: InvalidByte`)
  }
}

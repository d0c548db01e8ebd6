import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'

const bytes = Type.Refine(Type.Unsafe<Uint8Array>({}), (value) => value instanceof Uint8Array)

const typedData = Type.Object({
  domain: Type.Object(
    {
      name: Type.Optional(Type.String()),
      version: Type.Optional(Type.String()),
      chainId: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: '^[0-9]+$' })])),
      verifyingContract: Type.Optional(Type.String()),
      salt: Type.Optional(Type.String()),
    },
    { additionalProperties: false },
  ),
  types: Type.Record(Type.String(), Type.Array(Type.Object({ name: Type.String(), type: Type.String() }))),
  primaryType: Type.String(),
  message: Type.Record(Type.String(), Type.Unknown()),
})

const signRequest = Type.Object({
  chain: Type.String(),
  network: Type.String(),
  address: Type.String(),
  /** The caller has the permission `admin`: an allowance may go to any spender. */
  admin: Type.Optional(Type.Boolean()),
  draft: Type.Union([
    Type.Object({ scheme: Type.Literal('secp256k1'), bytes }),
    Type.Object({ scheme: Type.Literal('ed25519'), bytes }),
    Type.Object({ scheme: Type.Literal('eip712'), typedData }),
  ]),
})

export type TypedData = Static<typeof typedData>

/**
 * What the signer is asked. `bytes` are those of an unsigned transaction (ethers' `unsignedSerialized`) or, with ed25519, of a
 * compiled message of Solana;
 * numbers in `typedData` are decimal strings where they do not fit a number.
 */
export type SignRequest = Static<typeof signRequest>

export const isSignRequest = (value: unknown): value is SignRequest => Value.Check(signRequest, value)

/** Typed data as it is drafted: JSON in UTF-8. Undefined where it is none. */
export function readTypedData(bytes: Uint8Array): TypedData | undefined {
  try {
    const read: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return Value.Check(typedData, read) ? read : undefined
  } catch {
    return undefined
  }
}

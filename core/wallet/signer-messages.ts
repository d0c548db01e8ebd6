import { Type, type Static, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { errorTable, type ErrorName } from '../errors.ts'

const id = Type.Integer()

const open = Type.Object({
  type: Type.Literal('open'),
  dataDir: Type.String(),
  passphrase: Type.Optional(Type.String()),
  devnet: Type.Boolean(),
  policy: Type.Unknown(),
})
const policy = Type.Object({ type: Type.Literal('policy'), id, policy: Type.Unknown() })
const sign = Type.Object({ type: Type.Literal('sign'), id, request: Type.Unknown() })

/** What the server's process says to the signer's, through the keeper. `open` comes first and once. */
const toSigner = Type.Union([open, policy, sign])
export type ToSigner = Static<typeof toSigner>
export type OpenMessage = Static<typeof open>

const wallet = Type.Object({
  chain: Type.String(),
  address: Type.String(),
  label: Type.Optional(Type.String()),
  devnet: Type.Optional(Type.Literal(true)),
})
export type Wallet = Static<typeof wallet>

const level = Type.Union([Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')])
const errorName = Type.Refine(Type.Unsafe<ErrorName>({}), (value) => typeof value === 'string' && Object.hasOwn(errorTable, value))
/** 65 bytes of secp256k1 (r, s, the parity of y), 64 of ed25519. */
const signature = Type.Refine(
  Type.Unsafe<Uint8Array>({}),
  (value) => value instanceof Uint8Array && (value.length === 65 || value.length === 64),
)

/** What comes back. `down` is the keeper's: the signer ended and is being started again. */
const fromSigner = Type.Union([
  Type.Object({ type: Type.Literal('signed'), id, signature }),
  Type.Object({ type: Type.Literal('done'), id }),
  Type.Object({ type: Type.Literal('failed'), id, name: errorName, message: Type.String() }),
  Type.Object({ type: Type.Literal('ready'), processId: Type.Integer(), wallets: Type.Array(wallet), problems: Type.Array(Type.String()) }),
  Type.Object({ type: Type.Literal('down'), reason: Type.String() }),
  Type.Object({ type: Type.Literal('log'), level, fields: Type.Record(Type.String(), Type.Unknown()), message: Type.String() }),
])
export type FromSigner = Static<typeof fromSigner>

const reader =
  <S extends TSchema>(schema: S) =>
  (message: unknown): Static<S> | undefined =>
    Value.Check(schema, message) ? message : undefined

export const readToSigner = reader(toSigner)
export const readFromSigner = reader(fromSigner)

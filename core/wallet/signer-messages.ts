// The messages between the server's process, the keeper and the signer's process. Each side checks what it receives.
import * as Type from 'typebox'
import type { Static, TSchema } from 'typebox'
import { fits, passing } from '../base/schema-check.ts'
import { stopModes } from '../api/limits.ts'
import { errorTable, type ErrorName } from '../base/errors.ts'
import type { Stop } from '../config/stops.ts'
import { maxSecretBytes, readAddKey, type AddKeyMessage } from './add-key-message.ts'
import { signerFiles } from './policy-files.ts'

const id = Type.Integer()

const secretLength = Type.Integer({ minimum: 1, maximum: maxSecretBytes })

const open = Type.Object({
  type: Type.Literal('open'),
  /** With the options of its kind, which the source checks. */
  keySources: Type.Array(Type.Object({ kind: Type.String() })),
  dataDir: Type.String(),
  /** How long the secrets are that come by the pipe beside this channel: the keystore's passphrase, then that of the seals. */
  passphraseBytes: Type.Optional(secretLength),
  sealBytes: Type.Optional(secretLength),
  /** Where the signer reads what it signs. */
  files: signerFiles,
  /** The operator lets clients send keys. It is said here alone, before code of plugins runs. */
  acceptsKeys: Type.Optional(Type.Literal(true)),
  /** From the keeper alone: what a signer before this one read. Only sluice.lock is looked at again. */
  read: Type.Optional(Type.Unknown()),
})
const sign = Type.Object({ type: Type.Literal('sign'), id, request: Type.Unknown() })

const addKey = passing<AddKeyMessage>((value) => readAddKey(value) !== undefined)

/** What the store has stopped, by the server's word: for all, or for a wallet. It replaces what was told before. */
export const stopsMessage = Type.Object({
  type: Type.Literal('stops'),
  stops: Type.Array(
    Type.Object({
      mode: Type.Enum(stopModes),
      wallet: Type.Optional(Type.String()),
      setBy: Type.String(),
      since: Type.Number(),
      reason: Type.Optional(Type.String()),
    }),
  ),
})
export type StopsMessage = Static<typeof stopsMessage>
export type StopInMessage = StopsMessage['stops'][number]

/** What is of a client is the server's to hold: the signer does not know who asks. */
export const stopsToTell = (stops: readonly Stop[]): StopsMessage => ({
  type: 'stops',
  stops: stops.flatMap(({ mode, scope, setBy, since, reason }) =>
    scope.of === 'client'
      ? []
      : [{ mode, setBy, since, ...(scope.of === 'wallet' && { wallet: scope.subject }), ...(reason !== undefined && { reason }) }],
  ),
})

export const stopOf = ({ wallet, ...stop }: StopInMessage): Stop => ({
  ...stop,
  scope: wallet === undefined ? { of: 'all' } : { of: 'wallet', subject: wallet },
})

/** Messages from the server to the signer, through the keeper. `open` comes first, and once. */
const toSigner = Type.Union([open, sign, addKey, stopsMessage])
export type ToSigner = Static<typeof toSigner>
export type OpenMessage = Static<typeof open>

/** What comes by the pipe beside the message, all secrets together. */
export const secretBytesOf = ({ passphraseBytes = 0, sealBytes = 0 }: Pick<OpenMessage, 'passphraseBytes' | 'sealBytes'>): number =>
  passphraseBytes + sealBytes

export const walletSchema = Type.Object({
  chain: Type.String(),
  address: Type.String(),
  label: Type.Optional(Type.String()),
  devnet: Type.Optional(Type.Literal(true)),
})
export type Wallet = Static<typeof walletSchema>

const level = Type.Union([Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')])
const errorName = passing<ErrorName>((value) => typeof value === 'string' && Object.hasOwn(errorTable, value))
/** With secp256k1 65 bytes (r, s, the parity of y), with ed25519 64 bytes. */
const signature = passing<Uint8Array>((value) => value instanceof Uint8Array && (value.length === 65 || value.length === 64))

/** Who sends one cuts it to this length. */
export const maxFailureText = 4_000
/** Nothing was signed. */
export const failedMessage = Type.Object({
  type: Type.Literal('failed'),
  id,
  name: errorName,
  message: Type.String({ maxLength: maxFailureText }),
  details: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]))),
})

/**
 * Messages to the server. The keeper sends `down`: the signer ended and is being started again; `silent`: it gives no sign of life;
 * `answering`: it does again.
 */
const fromSigner = Type.Union([
  Type.Object({ type: Type.Literal('signed'), id, signature }),
  failedMessage,
  Type.Object({
    type: Type.Literal('ready'),
    processId: Type.Integer(),
    wallets: Type.Array(walletSchema),
    /** Of each key that could not be opened. */
    problems: Type.Array(Type.String()),
    /** A source of keys is unknown, or has keys and opened none. */
    isRefused: Type.Boolean(),
  }),
  /** Of `add-key`: the wallets that it signs for, of each chain that was asked for. */
  Type.Object({ type: Type.Literal('key-added'), id, wallets: Type.Array(walletSchema) }),
  Type.Object({ type: Type.Literal('key-refused'), id, name: errorName, message: Type.String() }),
  /** Whether the count of wallets with limits can be used: why not. Without a word it can. */
  Type.Object({ type: Type.Literal('count'), problem: Type.Optional(Type.String()) }),
  Type.Object({ type: Type.Literal('down'), reason: Type.String() }),
  Type.Object({ type: Type.Literal('silent') }),
  Type.Object({ type: Type.Literal('answering') }),
  Type.Object({ type: Type.Literal('log'), level, fields: Type.Record(Type.String(), Type.Unknown()), message: Type.String() }),
])
export type FromSigner = Static<typeof fromSigner>

const reader =
  <S extends TSchema>(schema: S) =>
  (message: unknown): Static<S> | undefined =>
    fits(schema, message) ? message : undefined

export const readToSigner = reader(toSigner)
export const readFromSigner = reader(fromSigner)

const bytes = passing<Uint8Array>((value) => value instanceof Uint8Array)

const typedData = Type.Object({
  domain: Type.Object(
    {
      name: Type.Optional(Type.String()),
      version: Type.Optional(Type.String()),
      chainId: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: '^[0-9]{1,78}$' })])),
      verifyingContract: Type.Optional(Type.String()),
      salt: Type.Optional(Type.String()),
    },
    { additionalProperties: false },
  ),
  types: Type.Record(Type.String(), Type.Array(Type.Object({ name: Type.String(), type: Type.String() }))),
  primaryType: Type.String(),
  message: Type.Record(Type.String(), Type.Unknown()),
})

/** A single permit of Permit2. What is signed is made from it here, so that nothing else can stand under that name. */
const permit = Type.Object(
  {
    permit2: Type.String(),
    token: Type.String(),
    spender: Type.String(),
    amountRaw: Type.String({ pattern: '^[0-9]{1,49}$' }),
    expires: Type.Integer({ minimum: 1, maximum: 2 ** 48 - 1 }),
    nonce: Type.Integer({ minimum: 0, maximum: 2 ** 48 - 1 }),
    chainId: Type.Integer({ minimum: 1 }),
  },
  { additionalProperties: false },
)
export type PermitRequest = Static<typeof permit>

/** Of a new account whose key the signer makes: the journal's, random. */
const accountId = Type.String({ pattern: '^[0-9a-f-]{36}$' })

const signRequest = Type.Object({
  chain: Type.String(),
  network: Type.String(),
  address: Type.String(),
  /** The version of the plugin that planned it: the beginning of its hash. It chooses among the records that the operator sealed. */
  plugin: Type.Optional(Type.String({ pattern: '^[0-9a-f]{16,64}$' })),
  /** What it does, by the server's word: for what the bytes do not say, while something is stopped. */
  effect: Type.Optional(Type.Enum(['cancels', 'reduces', 'other'])),
  draft: Type.Union([
    /** `replaces`: the signed transaction whose fees are to be raised. */
    Type.Object({ scheme: Type.Literal('secp256k1'), bytes, replaces: Type.Optional(bytes) }),
    /**
     * `newAccounts`: ids of the accounts that sign beside the wallet, in the order of the message. `signsAs`: the one whose signature is asked for; absent:
     * the wallet's own.
     */
    Type.Object({
      scheme: Type.Literal('ed25519'),
      bytes,
      newAccounts: Type.Optional(Type.Array(accountId, { maxItems: 16 })),
      signsAs: Type.Optional(Type.Integer({ minimum: 0, maximum: 15 })),
    }),
    /** The address of a new account: nothing is signed. The answer is its 32 bytes twice, as long as a signature. */
    Type.Object({ scheme: Type.Literal('new-account'), id: accountId }),
    Type.Object({ scheme: Type.Literal('eip712'), typedData }),
    /** The server's own: no rail drafts it, so no plugin asks for it. */
    Type.Object({ scheme: Type.Literal('permit2'), permit }),
  ]),
})

export type TypedData = Static<typeof typedData>

/**
 * A request for one signature. With secp256k1 `bytes` are an unsigned transaction (ethers' `unsignedSerialized`), with ed25519 a
 * compiled message of Solana. Integers in `typedData` that do not fit a number are decimal strings.
 */
export type SignRequest = Static<typeof signRequest>

export const isSignRequest = (value: unknown): value is SignRequest => fits(signRequest, value)

/** Reads typed data from JSON in UTF-8, the form in which rails draft it. Undefined for anything else. */
export function readTypedData(bytes: Uint8Array): TypedData | undefined {
  try {
    const read: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return fits(typedData, read) ? read : undefined
  } catch {
    return undefined
  }
}

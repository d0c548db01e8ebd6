// Where signatures come from: a kind of key source is a file of this folder and its line in `sources.ts`. A KMS or a hardware signer is one.
import type { Static, TObject } from 'typebox'
import { fits } from '../base/schema-check.ts'
import type { CurveName } from './curves.ts'
import type { Passphrase } from './passphrase.ts'

/** An entry of the setting `wallet.keySources`: the kind, and its options. */
export interface KeySourceSetting {
  readonly kind: string
  readonly [option: string]: unknown
}

/** A kind of key source. All but `open` is declared, and opens nothing: settings, documentation and `sluice doctor` show it. */
export interface KeySource {
  /** What it is, in a sentence. */
  readonly description: string
  /** JSON Schema of its options, without `kind`. The reader of settings checks it. */
  readonly options: TObject
  /** `devnet`: keys that everybody knows, which sign on local networks only. `real`: all others. */
  readonly signsFor: 'real' | 'devnet'
  /** It opens its keys with the passphrase of the keystore. */
  readonly needsPassphrase?: true
  /** Whether it has keys on this disk. Absent: they are elsewhere, and it is taken to have some. */
  readonly hasKeys?: (dataDir: string) => boolean
  /** The variables of the environment that the signer's process gets for it, with what each is for. It gets no others. */
  readonly environment: Readonly<Record<string, string>>
  /** Hosts that it connects to, by its options. */
  network(options: object): readonly string[]
  /**
   * Opens every key of the source, in the signer's process. A key that cannot be opened is among the `locked` ones and does not keep the others
   * from signing.
   * @throws Error where the options are not of its schema
   */
  open(options: object, context: KeySourceContext): Promise<OpenedKeys>
}

export interface KeySourceContext {
  readonly dataDir: string
  /** Absent where none is needed, and after the process that holds it was killed. */
  readonly passphrase?: Passphrase | undefined
  /** Those variables that the source declares, where they are set. */
  readonly environment: Readonly<Record<string, string>>
  /** The kind of keys that a chain has. */
  curveOf(chain: string): CurveName
}

export interface OpenedKeys {
  readonly wallets: readonly SigningWallet[]
  readonly locked: readonly LockedWallet[]
}

/** A wallet that can sign. Only its source knows where the key is: in this process, in a device or at a service. */
export interface SigningWallet {
  readonly chain: string
  /** In its canonical spelling. */
  readonly address: string
  readonly curve: CurveName
  readonly label?: string
  readonly devnet?: true
  /**
   * Signs what the policy has allowed.
   * @param payload with secp256k1 a digest of 32 bytes, with ed25519 the message
   * @returns with secp256k1 65 bytes (r, s, the parity of y), with ed25519 64 bytes
   */
  sign(payload: Uint8Array): Uint8Array | Promise<Uint8Array>
}

/** A wallet whose key cannot be opened. */
export interface LockedWallet {
  readonly chain: string
  readonly address: string
  /** Names the key's file or place, and says what to do. */
  readonly problem: string
}

interface KeySourceDeclaration<O extends TObject> extends Pick<KeySource, 'description' | 'signsFor' | 'needsPassphrase' | 'hasKeys'> {
  readonly options: O
  readonly environment?: Readonly<Record<string, string>>
  network?(options: Static<O>): readonly string[]
  open(options: Static<O>, context: KeySourceContext): Promise<OpenedKeys>
}

/** A kind of key source whose functions get options of its schema. */
export function defineKeySource<O extends TObject>({ environment = {}, network, open, ...source }: KeySourceDeclaration<O>): KeySource {
  const checked = (options: object): Static<O> => {
    if (fits(source.options, options)) return options
    throw new Error('The options of a key source are not those that its schema has.')
  }
  return {
    ...source,
    environment,
    network: (options) => network?.(checked(options)) ?? [],
    open: async (options, context) => open(checked(options), context),
  }
}

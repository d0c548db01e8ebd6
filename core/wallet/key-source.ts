// Where signatures come from. The keystore is one source. A KMS or a hardware signer is another: a file that implements `KeySource`,
// its line in `keySources` of signer-process.ts, and its name in the setting `wallet.keySources`.
import { curves, type CurveName } from './keys.ts'
import type { Passphrase } from './passphrase.ts'
import { readReleased } from './policy-files.ts'

/** A source of signatures. It is opened in the signer's process only. */
export interface KeySource {
  /** Opens every key of the source. A key that cannot be opened is among the `locked` ones and does not keep the others from signing. */
  open(options: KeySourceOptions): Promise<OpenedKeys>
}

export interface KeySourceOptions {
  readonly dataDir: string
  /** The passphrase of the keystore. It is absent where none is needed, and after the process that holds it was killed. */
  readonly passphrase?: Passphrase | undefined
  /** What stands after the colon in the setting: of `kms:eu-west-1` it is `eu-west-1`. */
  readonly argument?: string | undefined
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

/**
 * The keys of anvil's and hardhat's accounts 0, 1 and 2, which their documentation prints: https://getfoundry.sh/anvil/overview. No secrets:
 * what reaches these accounts on a public network is taken at once.
 */
export const devnetPrivateKeys: readonly string[] = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
]

/** The same of ed25519: SHA-256 of "sluice devnet wallet 0", 1 and 2. */
export const devnetSeeds: readonly string[] = [
  '0xa4e0c8727f25065025db5e62bcf881feb546eec58bcb17100be013371a528dad',
  '0x3c763f8c7fc29f0ae05c7f86e82dcfd4c5aa05e5be5729f083aa1a0da949e308',
  '0xb9e501782f885b7dc307cb6a0c44b47c92fe30a280c7ff79a7ef924924e006c2',
]

function devnetKeysOf(chain: string): { readonly curve: CurveName; readonly keys: readonly string[] } {
  const released = Object.values(readReleased().chains).find((each) => each.chain === chain)
  const curve = released?.keys ?? 'secp256k1'
  return { curve, keys: curve === 'ed25519' ? devnetSeeds : devnetPrivateKeys }
}

/** The devnet's trading wallets on a chain. */
export function devnetAddresses(chain: string): readonly string[] {
  const { curve, keys } = devnetKeysOf(chain)
  return keys.map((key) => curves[curve].addressOf(key))
}

/** The devnet's trading wallets, on its own chain or on that of the argument, with keys of the kind that this has in the release. */
export const devnetKeys: KeySource = {
  async open({ argument = 'ethereum' }) {
    const { curve, keys } = devnetKeysOf(argument)
    const wallets = keys.map((privateKey, index): SigningWallet => {
      const address = curves[curve].addressOf(privateKey)
      const sign = curves[curve].signerOf(privateKey)
      return { chain: argument, address, curve, label: `devnet ${index}`, devnet: true, sign }
    })
    return { wallets, locked: [] }
  },
}

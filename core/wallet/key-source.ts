// Where signatures come from. The keystore is one source. A KMS or a hardware signer is another: a file that implements `KeySource`,
// its line in `keySources` of signer-process.ts, and its name in the setting `wallet.keySources`.
import { createECDH, createHmac, pbkdf2Sync, type Hmac } from 'node:crypto'
import { curves, curveOrder, devnetWalletCount, wellKnownMnemonic, wellKnownPath, type CurveName } from './keys.ts'

/** A source of signatures. It is opened in the signer's process only. */
export interface KeySource {
  /** Opens every key of the source. A key that cannot be opened is among the `locked` ones and does not keep the others from signing. */
  open(options: KeySourceOptions): Promise<OpenedKeys>
}

export interface KeySourceOptions {
  readonly dataDir: string
  /** The passphrase of the keystore. It is absent where none is needed, and after the process that holds it was killed. */
  readonly passphrase?: string | undefined
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

/** The devnet's trading wallets: anvil's accounts 0, 1 and 2, in memory only. */
export const devnetKeys: KeySource = {
  async open() {
    const wallets = Array.from({ length: devnetWalletCount }, (_, index): SigningWallet => {
      const privateKey = derivedKey(wellKnownMnemonic, wellKnownPath(index))
      const address = curves.secp256k1.addressOf(privateKey)
      const sign = curves.secp256k1.signerOf(privateKey)
      return { chain: 'ethereum', address, curve: 'secp256k1', label: `devnet ${index}`, devnet: true, sign }
    })
    return { wallets, locked: [] }
  },
}

/** BIP-39 and BIP-32, for a mnemonic without a passphrase: what ethers has for this brings its nodes and contracts with it. */
export function derivedKey(mnemonic: string, path: string): string {
  const seed = pbkdf2Sync(mnemonic, 'mnemonic', 2048, 64, 'sha512')
  const [first, ...steps] = path.split('/')
  if (first !== 'm') throw new Error(`"${path}" is not a path from the master key.`)
  let [key, chainCode] = halves(createHmac('sha512', 'Bitcoin seed').update(seed))
  for (const step of steps) {
    const isHardened = step.endsWith("'")
    const index = Buffer.alloc(4)
    index.writeUInt32BE(Number.parseInt(step, 10) + (isHardened ? 2 ** 31 : 0))
    const parent = isHardened ? Buffer.concat([Buffer.of(0), key]) : publicKeyOf(key)
    const [added, nextCode] = halves(createHmac('sha512', chainCode).update(parent).update(index))
    const sum = (BigInt(`0x${added.toString('hex')}`) + BigInt(`0x${key.toString('hex')}`)) % curveOrder
    key = Buffer.from(sum.toString(16).padStart(64, '0'), 'hex')
    chainCode = nextCode
  }
  return `0x${key.toString('hex')}`
}

function halves(hmac: Hmac): [Buffer, Buffer] {
  const digest = hmac.digest()
  return [digest.subarray(0, 32), digest.subarray(32)]
}

function publicKeyOf(key: Buffer): Buffer {
  const curve = createECDH('secp256k1')
  curve.setPrivateKey(key)
  return curve.getPublicKey(null, 'compressed')
}

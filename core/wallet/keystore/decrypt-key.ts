import { decryptKeystoreJson } from 'ethers/wallet'
import { curves, type CurveName } from '../keys.ts'
import { parseObject, readKeyHeader, type KeyHeader } from './key-header.ts'

/** A key file cannot be opened; the message names the file and holds no secret. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError'
  readonly wrongPassphrase: boolean

  constructor(message: string, wrongPassphrase = false) {
    super(message)
    this.wrongPassphrase = wrongPassphrase
  }
}

export interface OpenedKey {
  readonly curve: CurveName
  readonly address: string
  /** 0x and 64 hex digits: of ed25519, the seed. */
  readonly privateKey: string
}

/**
 * Opens an encrypted key file (version 3, scrypt or PBKDF2).
 * @throws KeyFileError
 */
export async function decryptKey(json: string, passphrase: string, file: string): Promise<OpenedKey> {
  const { curve, address: named } = headerOf(json, file)
  try {
    const { privateKey } = await decryptKeystoreJson(curve === 'secp256k1' ? json : withoutAddress(json), passphrase)
    const address = curves[curve].addressOf(privateKey)
    if (named !== undefined && named !== address) throw otherKey(file)
    return { curve, address, privateKey }
  } catch (error) {
    if (error instanceof KeyFileError) throw error
    // ethers names the argument that it refuses; its message may quote the file's content, so it is not passed on.
    const argument = typeof error === 'object' && error !== null && 'argument' in error ? error.argument : undefined
    if (argument === 'password') {
      throw new KeyFileError(`The passphrase does not open ${file}. All keys of the keystore have one passphrase: give that one.`, true)
    }
    if (argument === 'address') throw otherKey(file)
    throw new KeyFileError(`${file} is not a usable key file; restore it from a backup.`)
  }
}

function headerOf(json: string, file: string): KeyHeader {
  try {
    return readKeyHeader(json)
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unreadable'
    throw new KeyFileError(`${file} is not a usable key file (${reason}); restore it from a backup.`)
  }
}

// ethers takes the key for one of secp256k1, and would hold the address of that one against it.
const withoutAddress = (json: string): string => JSON.stringify({ ...parseObject(json), address: '' })

const otherKey = (file: string): KeyFileError =>
  new KeyFileError(`${file} holds another key than that of its address; restore it from a backup.`)

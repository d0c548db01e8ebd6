import { decryptKeystoreJson } from 'ethers/wallet'

/** A key file cannot be opened; the message names the file and holds no secret. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError'
  readonly wrongPassphrase: boolean

  constructor(message: string, wrongPassphrase = false) {
    super(message)
    this.wrongPassphrase = wrongPassphrase
  }
}

/**
 * Opens an encrypted key file (version 3, scrypt or PBKDF2).
 * @returns the private key, 0x and 64 hex digits
 * @throws KeyFileError
 */
export async function decryptKey(json: string, passphrase: string, file: string): Promise<{ address: string; privateKey: string }> {
  try {
    const { address, privateKey } = await decryptKeystoreJson(json, passphrase)
    return { address, privateKey }
  } catch (error) {
    // ethers names the argument that it refuses; its message may quote the file's content, so it is not passed on.
    const argument = typeof error === 'object' && error !== null && 'argument' in error ? error.argument : undefined
    if (argument === 'password') {
      throw new KeyFileError(`The passphrase does not open ${file}. All keys of the keystore have one passphrase: give that one.`, true)
    }
    if (argument === 'address') {
      throw new KeyFileError(`${file} holds another key than that of its address; restore it from a backup.`)
    }
    throw new KeyFileError(`${file} is not a usable key file; restore it from a backup.`)
  }
}

// Where the passphrases of the keystore and of seals come from: a file that the environment names, or the terminal.
import { readFileSync } from 'node:fs'
import { askHidden, hasTerminal } from '../base/terminal.ts'
import { passphraseBytes, readPassphrase } from './passphrase.ts'

const passphraseVariable = 'SLUICE_WALLET_PASSPHRASE_FILE'
const sealVariable = 'SLUICE_SEAL_PASSPHRASE_FILE'

const minPassphraseLength = 8

/** Reads the passphrase from the file that the environment names. A line break at the end of the file is not part of it. */
export const passphraseFromFile = (environment: NodeJS.ProcessEnv = process.env): string | undefined =>
  textOf(secretFromFile(environment[passphraseVariable], passphraseVariable))

interface SealSettings {
  readonly sealPassphraseFile?: string
}

/** The passphrase of the seals of sluice.lock as bytes; undefined where the keystore's makes them. @throws Error where it is too short */
export function sealSecret({ sealPassphraseFile }: SealSettings): Uint8Array | undefined {
  const secret = secretFromFile(sealPassphraseFile, sealVariable)
  if (secret === undefined || secret.length >= minPassphraseLength) return secret
  throw new Error(`${sealVariable} names ${sealPassphraseFile}, which has fewer than ${minPassphraseLength} characters; take more.`)
}

/** The same as a text. */
export const sealPassphrase = (settings: SealSettings): string | undefined => textOf(sealSecret(settings))

/** That of the seals, or of the keystore, where nobody is asked; undefined where no file gives one. */
export function passphraseForSeals(wallet: SealSettings & { readonly passphraseFile?: string | undefined }): string | undefined {
  try {
    return sealPassphrase(wallet) ?? passphraseFromFile({ SLUICE_WALLET_PASSPHRASE_FILE: wallet.passphraseFile })
  } catch {
    // Of the file the checks of the keystore tell.
    return undefined
  }
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return undefined
  const passphrase = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  bytes.fill(0)
  return passphrase
}

/** As bytes, which whoever gets them wipes. */
function secretFromFile(file: string | undefined, variable: string): Uint8Array | undefined {
  if (file === undefined || file === '') return undefined
  let passphrase: Uint8Array
  try {
    passphrase = readPassphrase(file)
  } catch {
    throw new Error(`${variable} names ${file}, which cannot be read; correct the name or the file's mode.`)
  }
  if (passphrase.length === 0) throw new Error(`${variable} names ${file}, which is empty; write the passphrase into it.`)
  return passphrase
}

/**
 * Gets the passphrase of the keystore: the given one, the one in the file, or the answer at the terminal.
 * @throws Error when there is no terminal
 */
export async function getPassphrase(question: string, given?: string): Promise<string> {
  const passphrase = given ?? passphraseFromFile()
  if (passphrase !== undefined) return passphrase
  if (hasTerminal()) return askHidden(question)
  throw new Error(
    `The keystore's passphrase is needed, and there is no terminal to ask at. Write it into a file (mode 600) and name that file in ${passphraseVariable}.`,
  )
}

/** As `getPassphrase`, as bytes for whoever runs long: they are wiped after their use. What is typed stays in the memory for a while. */
export const getSecret = async (question: string, environment: NodeJS.ProcessEnv): Promise<Uint8Array> =>
  secretFromFile(environment[passphraseVariable], passphraseVariable) ?? passphraseBytes(await getPassphrase(question))

/**
 * Gets the passphrase to encrypt another key with. For an empty keystore it is new and asked twice; else it is the one that opens the keystore.
 * @throws Error when it does not open the keys that are there, or is too short
 */
export async function passphraseForNewKey(dataDir: string, given?: string): Promise<string> {
  // A start asks for passphrases too, and needs no key file for that.
  const { decryptKey, listWallets } = await import('./keystore.ts')
  const wallets = listWallets(dataDir)
  const usable = wallets.find(({ problem }) => problem === undefined)
  if (wallets[0]?.problem !== undefined && !usable)
    throw new Error(`${wallets[0].problem} The passphrase can only be checked with a key that can be read.`)
  if (usable) {
    const passphrase = await getPassphrase('Passphrase of the keystore: ', given)
    await decryptKey(readFileSync(usable.file, 'utf8'), passphrase, usable.file)
    return passphrase
  }
  const isTyped = given === undefined && passphraseFromFile() === undefined
  const passphrase = await getPassphrase('New passphrase for the keystore (it protects all keys; the server asks for it at start): ', given)
  if (passphrase.length < minPassphraseLength)
    throw new Error(`The passphrase has fewer than ${minPassphraseLength} characters; take a longer one.`)
  if (isTyped && (await askHidden('The same again: ')) !== passphrase) throw new Error('The two passphrases differ; nothing was changed.')
  return passphrase
}

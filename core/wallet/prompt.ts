import { readFileSync } from 'node:fs'
import { decryptKey } from './keystore/decrypt-key.ts'
import { listWallets } from './keystore.ts'
import { askHidden, hasTerminal } from './keystore/prompt.ts'

export const passphraseVariable = 'SLUICE_WALLET_PASSPHRASE_FILE'

const shortestPassphrase = 8

/** The passphrase in the file that the environment names; a line break at its end is not part of it. */
export function passphraseFromFile(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const file = environment[passphraseVariable]
  if (file === undefined || file === '') return undefined
  let passphrase: string
  try {
    passphrase = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch {
    throw new Error(`${passphraseVariable} names ${file}, which cannot be read; correct the name or the file's mode.`)
  }
  if (passphrase === '') throw new Error(`${passphraseVariable} names ${file}, which is empty; write the passphrase into it.`)
  return passphrase
}

/**
 * The passphrase of the keystore, from where it is to be had: given, the file, or the terminal.
 * @throws Error when there is no way to ask
 */
export async function getPassphrase(question: string, given?: string): Promise<string> {
  const passphrase = given ?? passphraseFromFile()
  if (passphrase !== undefined) return passphrase
  if (hasTerminal()) return askHidden(question)
  throw new Error(
    `The keystore's passphrase is needed, and there is no terminal to ask at. Write it into a file (mode 600) and name that in ${passphraseVariable}.`,
  )
}

/**
 * The passphrase to encrypt another key with: a new one, asked twice, for an empty keystore; else the one that opens it.
 * @throws Error when it does not open what is there, or is too short
 */
export async function passphraseForNewKey(dataDir: string, given?: string): Promise<string> {
  const wallets = listWallets(dataDir)
  const usable = wallets.find(({ problem }) => problem === undefined)
  if (wallets[0]?.problem !== undefined && !usable)
    throw new Error(`${wallets[0].problem} Without a sound key the passphrase cannot be checked.`)
  if (usable) {
    const passphrase = await getPassphrase('Passphrase of the keystore: ', given)
    await decryptKey(readFileSync(usable.file, 'utf8'), passphrase, usable.file)
    return passphrase
  }
  const asked = given === undefined && passphraseFromFile() === undefined
  const passphrase = await getPassphrase('New passphrase for the keystore (it protects all keys; the server asks for it at start): ', given)
  if (passphrase.length < shortestPassphrase)
    throw new Error(`The passphrase has fewer than ${shortestPassphrase} characters; take a longer one.`)
  if (asked && (await askHidden('The same again: ')) !== passphrase) throw new Error('The two do not match; nothing was changed.')
  return passphrase
}

import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { decryptKey, KeyFileError } from '../keys/keystore.ts'
import { curves, type CurveName, isSecp256k1Key, refuseWellKnown } from '../keys/curves.ts'
import { askHidden, hasTerminal } from '../base/terminal.ts'

/** Where the private key of `sluice wallet add` comes from. It is never an argument of the command. */
export type KeyInput =
  | { is: 'new' }
  | { is: 'prompt' }
  /** A file with the bare key; `-` is standard input. */
  | { is: 'keyFile'; file: string }
  /** Another program's encrypted key file, with its own passphrase or the keystore's. */
  | { is: 'keystoreFile'; file: string; passphraseFile?: string | undefined }

const maxFileBytes = 65_536

/**
 * Reads or makes a private key.
 * @returns 0x and 64 digits; of ed25519 it is the seed
 * @throws Error that says what is wrong with the key. A well-known key is refused.
 */
export async function importKey(input: KeyInput, curve: CurveName, keystorePassphrase: string): Promise<string> {
  if (input.is === 'new') return newKey()
  if (input.is === 'keystoreFile') return importKeystoreFile(input, curve, keystorePassphrase)
  if (input.is === 'keyFile') return curves[curve].parse(await readText(input.file))
  if (hasTerminal()) return curves[curve].parse(await askHidden('Private key (not shown): '))
  throw new Error('There is no terminal to ask for the key. Give it in a file with --key-file, or on standard input with --key-file -.')
}

/** For either curve. The format of the keystore takes keys of secp256k1 only, and 1 random number in 2^128 is not a valid one. */
function newKey(): string {
  for (;;) {
    const digits = randomBytes(32).toString('hex')
    if (isSecp256k1Key(digits)) return `0x${digits}`
  }
}

async function importKeystoreFile(
  { file, passphraseFile }: { file: string; passphraseFile?: string | undefined },
  curve: CurveName,
  keystorePassphrase: string,
): Promise<string> {
  const json = await readText(file)
  if (json.trimStart().startsWith('['))
    throw new Error(`${file} is a bare key, as solana-keygen writes it, not an encrypted key file: import it with --key-file.`)
  const ownPassphrase = passphraseFile === undefined ? undefined : (await readText(passphraseFile)).replace(/\r?\n$/, '')
  const key = await decryptKey(json, ownPassphrase ?? keystorePassphrase, file).catch(async (error: unknown) => {
    if (!(error instanceof KeyFileError) || !error.wrongPassphrase) throw error
    if (ownPassphrase !== undefined) throw new Error(`The passphrase in ${passphraseFile} does not open ${file}.`)
    if (hasTerminal()) return decryptKey(json, await askHidden(`Passphrase of ${file}: `), file)
    throw new Error(`The keystore's passphrase does not open ${file}; name a file with its own in --keystore-passphrase-file.`)
  })
  if (key.curve !== curve)
    throw new Error(
      `${file} holds a key of ${key.curve}, and the keys of this chain are of ${curve}. Name the chain that it is for with --chain.`,
    )
  refuseWellKnown(key.address)
  return key.privateKey
}

async function readText(file: string): Promise<string> {
  if (file === '-') return readStandardInput()
  const handle = await open(file, 'r').catch(() => {
    throw new Error(`${file} cannot be opened; check its name and mode.`)
  })
  try {
    const { size } = await handle.stat()
    if (size > maxFileBytes) throw new Error(`${file} is too large to hold a key.`)
    return await handle.readFile('utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error) throw new Error(`${file} cannot be read (${String(error.code)}).`, { cause: error })
    throw error
  } finally {
    await handle.close()
  }
}

async function readStandardInput(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin) {
    text += String(chunk)
    if (text.length > maxFileBytes) throw new Error('Standard input is too long to be a key.')
  }
  return text
}

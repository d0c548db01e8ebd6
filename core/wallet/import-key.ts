import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { decryptKey, KeyFileError } from './keystore.ts'
import { curves, type CurveName, isSecp256k1Key, refuseWellKnown } from './keys.ts'
import { askHidden, hasTerminal } from './prompt.ts'

/** Where a key to add comes from. Never an argument. */
export type KeyInput =
  | { is: 'new' }
  | { is: 'prompt' }
  /** A file with the bare key; `-` is standard input. */
  | { is: 'keyFile'; file: string }
  /** Another program's encrypted key file, with its own passphrase or the keystore's. */
  | { is: 'keystoreFile'; file: string; passphraseFile?: string | undefined }

const largestFileBytes = 65_536

/**
 * The private key from its source, 0x and 64 digits.
 * @throws Error saying what is wrong with it; a well-known key is refused
 */
export async function importKey(source: KeyInput, curve: CurveName, keystorePassphrase: string): Promise<string> {
  if (source.is === 'new') return newKey()
  if (source.is === 'keystoreFile') return importKeystoreFile(source, curve, keystorePassphrase)
  if (source.is === 'keyFile') return curves[curve].parse(await readText(source.file))
  if (hasTerminal()) return curves[curve].parse(await askHidden('Private key (not shown): '))
  throw new Error('There is no terminal to ask for the key at. Give it in a file with --key-file, or on standard input with --key-file -.')
}

/** For either curve: what is no key of secp256k1 cannot be kept, and one in 2^128 random numbers is none. */
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
  const own = passphraseFile === undefined ? undefined : (await readText(passphraseFile)).replace(/\r?\n$/, '')
  const opened = await decryptKey(json, own ?? keystorePassphrase, file).catch(async (error: unknown) => {
    if (!(error instanceof KeyFileError) || !error.wrongPassphrase) throw error
    if (own !== undefined) throw new Error(`The passphrase in ${passphraseFile} does not open ${file}.`)
    if (hasTerminal()) return decryptKey(json, await askHidden(`Passphrase of ${file}: `), file)
    throw new Error(`The keystore's passphrase does not open ${file}; name a file with its own in --keystore-passphrase-file.`)
  })
  if (opened.curve !== curve)
    throw new Error(`${file} holds a key of ${opened.curve}, and the keys of this chain are of ${curve}. Is it for another --chain?`)
  refuseWellKnown(opened.address)
  return opened.privateKey
}

async function readText(file: string): Promise<string> {
  if (file === '-') return readStandardInput()
  const handle = await open(file, 'r').catch(() => {
    throw new Error(`${file} cannot be opened; check its name and mode.`)
  })
  try {
    const { size } = await handle.stat()
    if (size > largestFileBytes) throw new Error(`${file} is too large to hold a key.`)
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
    if (text.length > largestFileBytes) throw new Error('Standard input is too long to be a key.')
  }
  return text
}

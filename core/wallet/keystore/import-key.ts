import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { decryptKey, KeyFileError } from './decrypt-key.ts'
import { parsePrivateKey, refuseWellKnown } from './private-key.ts'
import { askHidden, hasTerminal } from './prompt.ts'

/** Where a key to add comes from. Never an argument. */
export type KeySource =
  | { is: 'new' }
  | { is: 'prompt' }
  /** A file with the bare key; `-` is standard input. */
  | { is: 'keyFile'; file: string }
  /** Another program's encrypted key file, with its own passphrase or the keystore's. */
  | { is: 'keystoreFile'; file: string; passphraseFile?: string | undefined }

const largestFileBytes = 65_536

/**
 * The private key from its source.
 * @throws Error saying what is wrong with it; a well-known key is refused
 */
export async function importKey(source: KeySource, keystorePassphrase: string): Promise<string> {
  if (source.is === 'new') return newKey()
  if (source.is === 'keystoreFile') return importKeystoreFile(source, keystorePassphrase)
  if (source.is === 'keyFile') return parsePrivateKey(await readText(source.file))
  if (hasTerminal()) return parsePrivateKey(await askHidden('Private key (not shown): '))
  throw new Error('There is no terminal to ask for the key at. Give it in a file with --key-file, or on standard input with --key-file -.')
}

function newKey(): string {
  for (;;) {
    try {
      return parsePrivateKey(randomBytes(32).toString('hex'))
    } catch {
      // One in 2^128 random numbers is no key of the curve.
    }
  }
}

async function importKeystoreFile(
  { file, passphraseFile }: { file: string; passphraseFile?: string | undefined },
  keystorePassphrase: string,
): Promise<string> {
  const json = await readText(file)
  const own = passphraseFile === undefined ? undefined : (await readText(passphraseFile)).replace(/\r?\n$/, '')
  const { address, privateKey } = await decryptKey(json, own ?? keystorePassphrase, file).catch(async (error: unknown) => {
    if (!(error instanceof KeyFileError) || !error.wrongPassphrase) throw error
    if (own !== undefined) throw new Error(`The passphrase in ${passphraseFile} does not open ${file}.`)
    if (hasTerminal()) return decryptKey(json, await askHidden(`Passphrase of ${file}: `), file)
    throw new Error(`The keystore's passphrase does not open ${file}; name a file with its own in --keystore-passphrase-file.`)
  })
  refuseWellKnown(address)
  return privateKey
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

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { decryptKey, listWallets } from './keystore.ts'

const passphraseVariable = 'SLUICE_WALLET_PASSPHRASE_FILE'

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

interface Terminal {
  readonly input: NodeJS.ReadableStream & { isTTY?: boolean }
  readonly output: NodeJS.WritableStream
}

// Questions go to stderr: what a command prints may be piped on.
const terminal: Terminal = { input: process.stdin, output: process.stderr }

export const hasTerminal = ({ input }: Terminal = terminal): boolean => input.isTTY === true

/** Asks a question at the terminal. @throws Error when it is ended with Ctrl-C or Ctrl-D */
export const ask = (question: string, at: Terminal = terminal): Promise<string> => readLine(question, at, at.output)

/** As `ask`, and nothing of the answer is shown. */
export async function askHidden(question: string, at: Terminal = terminal): Promise<string> {
  at.output.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  try {
    return await readLine('', at, silent)
  } finally {
    at.output.write('\n')
  }
}

function readLine(question: string, { input }: Terminal, output: NodeJS.WritableStream): Promise<string> {
  // With `terminal` readline takes over the echo, and so `output` decides what is seen. No history: an answer is asked once.
  const lines = createInterface({ input, output, terminal: true, historySize: 0 })
  return new Promise<string>((resolve, reject) => {
    lines.question(question, resolve)
    lines.once('SIGINT', () => lines.close())
    lines.once('close', () => reject(new Error('Cancelled; nothing was changed.')))
  }).finally(() => lines.close())
}

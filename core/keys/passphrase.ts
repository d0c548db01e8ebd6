// The passphrase of the keystore as bytes: a text stays in the memory until V8 happens to overwrite it, bytes can be wiped.
import { closeSync, fstatSync, openSync, read, readSync } from 'node:fs'
import type { ChildProcess } from 'node:child_process'
import { Writable } from 'node:stream'
import { promisify } from 'node:util'

/** Bytes are UTF-8 in NFKC, as the keystore's format takes it. */
export type Passphrase = string | Uint8Array

/** Bytes that the caller may keep or wipe; those that were given stay as they are. */
export const passphraseBytes = (passphrase: Passphrase): Uint8Array =>
  typeof passphrase === 'string' ? bytesOf(passphrase) : Uint8Array.from(passphrase)

/** Never in the pool that small buffers share. */
function bytesOf(text: string): Uint8Array {
  const normal = text.normalize('NFKC')
  const bytes = Buffer.alloc(Buffer.byteLength(normal))
  bytes.write(normal)
  return bytes
}

const maxPassphraseBytes = 65_536
const lineFeed = 10
const carriageReturn = 13

/**
 * Reads a passphrase from a file or a pipe. A line break at its end is no part of it.
 * @throws Error of the system where it cannot be read
 */
export function readPassphrase(file: string): Uint8Array {
  const descriptor = openSync(file, 'r')
  const all = Buffer.alloc(maxPassphraseBytes)
  try {
    if (fstatSync(descriptor).size > maxPassphraseBytes) throw new Error('too long for a passphrase')
    let length = 0
    for (let more = -1; more !== 0 && length < all.length; length += more)
      more = readSync(descriptor, all, length, all.length - length, null)
    if (length > 0 && all[length - 1] === lineFeed) length -= all[length - 2] === carriageReturn ? 2 : 1
    const own = all.subarray(0, length)
    // What is not ASCII has several spellings, and only a text can be brought into one of them.
    return own.every((byte) => byte < 128) ? Uint8Array.from(own) : bytesOf(own.toString('utf8'))
  } finally {
    all.fill(0)
    closeSync(descriptor)
  }
}

/** Beside the channel of messages, which would leave copies of what it carries. After stdin, stdout, stderr and that channel. */
export const secretDescriptor = 4

/**
 * Gives bytes to a process that was started with a pipe as `secretDescriptor`. The caller may wipe them once the process has answered, or once they
 * are written.
 */
export function giveSecret({ stdio }: ChildProcess, secret: Uint8Array, onWritten?: () => void): void {
  const pipe = stdio[secretDescriptor]
  if (!(pipe instanceof Writable)) return onWritten?.()
  // Where the process has ended, its end is told elsewhere.
  if (pipe.listenerCount('error') === 0) pipe.on('error', () => {})
  pipe.write(secret, () => onWritten?.())
}

const readInto = promisify(read)

/**
 * The bytes that the parent gave; undefined where it ended before. One after the other: what is given later is read later.
 * @param more whether further secrets may come. Otherwise the pipe is closed, and this was the last one
 */
export async function takeSecret(length: number, { more = false }: { readonly more?: boolean } = {}): Promise<Uint8Array | undefined> {
  const secret = Buffer.alloc(length)
  try {
    for (let got = 0; got < length;) {
      const { bytesRead } = await readInto(secretDescriptor, secret, got, length - got, null)
      if (bytesRead === 0) return undefined
      got += bytesRead
    }
    if (!more) closeSync(secretDescriptor)
    return secret
  } catch {
    return undefined
  }
}

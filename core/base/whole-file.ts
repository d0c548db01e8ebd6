import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import path from 'node:path'

/**
 * Writes a whole file or none, also on a full disk, and where the process is killed or the power fails: a temporary file beside it is flushed
 * and renamed, then the folder is flushed. A process that is killed leaves that file, whose name begins with a dot and ends in `.tmp`.
 * @throws the error of the file system: an earlier file is as it was
 */
export async function writeWholeFile(file: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const folder = path.dirname(file)
  const temporary = path.join(folder, `.${path.basename(file)}.${randomUUID()}.tmp`)
  try {
    await using(await open(temporary, 'wx', mode), async (handle) => {
      await handle.writeFile(content)
      await handle.sync()
    })
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await flushFolder(folder)
}

/** A file's name is on the disk once its folder is. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return // folders cannot be flushed there
  await using(await open(folder, 'r'), (handle) => handle.sync())
}

async function using(handle: FileHandle, work: (handle: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(handle)
  } finally {
    await handle.close()
  }
}

/** A file that is looked at from time to time: systems do not tell of changes on every volume. */
export interface WatchedFile {
  /** Whether it is another one than when this was asked last. */
  hasChanged(): boolean
  /** The next question is answered with yes. */
  forget(): void
}

/** @param file it need not be there; where it is a link, what that leads to counts */
export function watchFile(file: string): WatchedFile {
  let known: string | undefined = stampOf(file)
  return {
    hasChanged() {
      const before = known
      known = stampOf(file)
      return known !== before
    },
    forget: () => (known = undefined),
  }
}

/** A file that changes at each look keeps nobody waiting for ever: whoever asks next looks again. */
const maxReads = 5

/**
 * Reads a file again whenever it has changed.
 * @param read says whether it could be read: otherwise it is read again at the next look, since that may need no change of the file
 * @returns a look at it, which settles when the file has been read as it was when it was called, or later
 */
export function followFile(file: WatchedFile, read: () => Promise<boolean>): () => Promise<void> {
  let reading: Promise<void> | undefined

  async function readUntilSame(): Promise<void> {
    let isRead = await read()
    // It may have been changed while it was read.
    for (let reads = 1; reads < maxReads && file.hasChanged(); reads += 1) isRead = await read()
    if (!isRead) file.forget()
  }

  return async () => {
    // It may have read what was there before its caller's time.
    if (reading) await reading
    if (!reading && file.hasChanged()) reading = readUntilSame().finally(() => (reading = undefined))
    if (reading) await reading
  }
}

function stampOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true })
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
  } catch {
    return 'none'
  }
}

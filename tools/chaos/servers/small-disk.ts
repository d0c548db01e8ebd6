import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A disk of a few megabytes that a test fills up: a real file system (tmpfs), which only the processes in its namespace see at its path. */
export interface SmallDisk {
  /** As who is on the inside sees it. */
  readonly folder: string
  /** The same from outside. It leads through a link that Node follows and SQLite misreads. */
  readonly outside: string
  /** What a command is to begin with, for its process to be on the inside. */
  readonly inside: readonly string[]
  /** Takes all room but so much, and what others free from then on is theirs. */
  fill(spareBytes?: number): void
  free(): void
  freeBytes(): number
  remove(): Promise<void>
}

/** Says why there can be none: it needs neither root nor a mount of the machine's, but namespaces of users. */
export class NoSmallDisk extends Error {}

/** @throws NoSmallDisk */
export async function createSmallDisk(bytes: number): Promise<SmallDisk> {
  if (process.platform !== 'linux') throw new NoSmallDisk('A disk that becomes full is a tmpfs, which only Linux has.')
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-disk-'))
  // It ends with this process, whose end of the pipe it reads; and the file system with it.
  const script = 'mount -t tmpfs -o "size=$1,mode=700" none "$2" && echo there && exec cat'
  const holder = spawn('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-c', script, 'sh', String(bytes), folder], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const said = await firstWords(holder)
  const { pid } = holder
  if (said.trim() !== 'there' || pid === undefined) {
    rmSync(folder, { recursive: true, force: true })
    throw new NoSmallDisk(`No file system can be mounted in a namespace of users (unshare): ${said.trim()}`)
  }
  const outside = path.join('/proc', String(pid), 'root', folder)
  const ballast = path.join(outside, 'ballast')
  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(outside)
    return bavail * bsize
  }
  return {
    folder,
    outside,
    inside: ['nsenter', `--target=${pid}`, '--user', '--mount', '--preserve-credentials', `--wd=${process.cwd()}`],
    freeBytes,
    fill(spareBytes = 0) {
      try {
        for (let room = freeBytes() - spareBytes; room > 0; room = freeBytes() - spareBytes) appendFileSync(ballast, Buffer.alloc(room))
      } catch (error) {
        // Others write meanwhile.
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      }
    },
    free: () => rmSync(ballast, { force: true }),
    async remove() {
      const ended = once(holder, 'exit')
      holder.stdin?.end()
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function firstWords(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.stdout?.once('data', (data: Buffer) => resolve(String(data)))
    let wrong = ''
    child.stderr?.on('data', (data: Buffer) => (wrong += String(data)))
    child.once('error', (error) => resolve(error.message))
    child.once('close', () => resolve(wrong || 'it ended'))
  })
}

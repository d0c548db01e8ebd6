// Whether the server's user can change a file. Of one that only others can change, what is read is the operator's word without a seal.
import { accessSync, closeSync, constants, fstatSync, lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { openToRead } from '../config/yaml.ts'

/**
 * Whether this user's processes can change a file: by writing it, or by putting another in its place, in its folder or in one above. What belongs to
 * the user counts, since its owner changes its mode. On a disk that is mounted read-only nothing can be changed, but the folders above the mount can.
 */
export function canChange(file: string): boolean {
  try {
    return canChangePath(path.resolve(file), readMounts(), maxLinks)
  } catch {
    return true // it is not there, or cannot be looked at
  }
}

/**
 * Reads a file that stays open meanwhile.
 * @returns what `read` gives, and whether only others than this user can have written what it read
 */
export function readWithOrigin<T>(
  file: string,
  read: (descriptor: number | undefined) => T,
): { readonly value: T; readonly isOfOthers: boolean } {
  let descriptor: number | undefined
  try {
    descriptor = openToRead(file)
  } catch {
    return { value: read(undefined), isOfOthers: false }
  }
  try {
    const value = read(descriptor)
    // Last: the file that cannot be changed is the one that was read.
    return { value, isOfOthers: !canChange(file) && isSame(fstatSync(descriptor, { bigint: true }), statSync(file, { bigint: true })) }
  } catch (error) {
    if (!isOfFiles(error)) throw error
    return { value: read(undefined), isOfOthers: false }
  } finally {
    closeSync(descriptor)
  }
}

interface Identity {
  readonly dev: bigint
  readonly ino: bigint
}
const isSame = (one: Identity, other: Identity): boolean => one.dev === other.dev && one.ino === other.ino

const isOfFiles = (error: unknown): boolean => error instanceof Error && 'syscall' in error

/** As many as Linux follows. */
const maxLinks = 40

/** Where the path leads over a link, the link can be changed in its folder, and what it leads to, too. */
function canChangePath(named: string, mounts: Mounts, links: number): boolean {
  let below: string | undefined
  for (let at = named; ; at = path.dirname(at)) {
    const stat = lstatSync(at, { bigint: true })
    if (mounts.ownDevices.has(stat.dev)) return true
    if (stat.isSymbolicLink()) {
      if (links === 0 || canChangePath(path.resolve(realpathSync(path.dirname(at)), readlinkSync(at)), mounts, links - 1)) return true
    } else {
      // What is mounted in a folder is not replaced by a change of that folder.
      const isHeld = below !== undefined && mounts.points.has(below)
      if (!isHeld && isChangeable(at, Number(stat.uid))) return true
    }
    if (at === path.dirname(at)) return false
    below = at
  }
}

function isChangeable(file: string, owner: number): boolean {
  try {
    accessSync(file, constants.W_OK)
    return true
  } catch (error) {
    const isReadOnly = error instanceof Error && 'code' in error && error.code === 'EROFS'
    return !isReadOnly && owner === process.getuid?.()
  }
}

export interface Mounts {
  readonly points: ReadonlySet<string>
  /** File systems that a program of this user makes (FUSE): it says of owners and rights what it likes. */
  readonly ownDevices: ReadonlySet<bigint>
}

/** Linux tells. Elsewhere no mount is known: then a lock on one needs seals where a folder above can be changed. */
function readMounts(): Mounts {
  if (process.platform !== 'linux') return { points: new Set(), ownDevices: new Set() }
  return mountsOf(readFileSync('/proc/self/mountinfo', 'utf8'), process.getuid?.() ?? 0)
}

/** @param text as in proc_pid_mountinfo(5): id, parent, device, root, mount point, options, fields, `-`, type, source, options of the file system */
export function mountsOf(text: string, user: number): Mounts {
  const points = new Set<string>()
  const ownDevices = new Set<bigint>()
  for (const line of text.split('\n')) {
    const [front = '', back = ''] = line.split(' - ')
    const [, , device = '', , point = ''] = front.split(' ')
    if (point !== '') points.add(point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))))
    const [type = '', , options = ''] = back.split(' ')
    if (type.startsWith('fuse') && options.split(',').includes(`user_id=${user}`)) ownDevices.add(deviceNumber(device))
  }
  return { points, ownDevices }
}

/** As `stat` has it: makedev(3) of the C library. */
function deviceNumber(text: string): bigint {
  const [major = 0n, minor = 0n] = text.split(':').map(BigInt)
  return ((major & 0xfffn) << 8n) | ((major & ~0xfffn) << 32n) | (minor & 0xffn) | ((minor & ~0xffn) << 12n)
}

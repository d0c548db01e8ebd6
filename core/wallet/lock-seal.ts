// Seals of the records in sluice.lock: who has the keystore's passphrase wrote them. The signer goes by records with such a seal, or by a file
// that the server's user cannot change.
import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { accessSync, constants, existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { LockContent, LockedPlugin, Sealing } from '../config/lock.ts'
import { isObject } from '../json.ts'
import { writeWholeFile } from '../whole-file.ts'

const derive = promisify<string, Uint8Array, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt)

/** As for new keys of the keystore. */
export const usualN = 131_072

export const newSealing = (n: number = usualN): Sealing => ({ kdf: 'scrypt', n, r: 8, p: 1, salt: randomBytes(32).toString('hex') })

/** The key of the seals: a hash of the passphrase with a salt and a label of its own. It opens no key. */
export async function sealKey(passphrase: string, { n, r, p, salt }: Sealing): Promise<Buffer> {
  const hash = await derive(passphrase.normalize('NFKC'), Buffer.from(salt, 'hex'), 32, { N: n, r, p, maxmem: 256 * n * r })
  return createHmac('sha256', hash).update('sluice.lock').digest()
}

/** The record with its seal. */
export function seal(key: Buffer, name: string, record: LockedPlugin): LockedPlugin {
  return { ...record, seal: sealOf(key, name, record).toString('hex') }
}

function isSealed(key: Buffer, name: string, record: LockedPlugin): boolean {
  return record.seal !== undefined && timingSafeEqual(sealOf(key, name, record), Buffer.from(record.seal, 'hex'))
}

function sealOf(key: Buffer, name: string, sealed: LockedPlugin): Buffer {
  const { seal: _, ...record } = sealed
  return createHmac('sha256', key)
    .update(JSON.stringify(['record', name, sorted(record)]))
    .digest()
}

/** The order of keys in a file says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, each]) => [key, sorted(each)])
}

export const noSeal = "its record has no seal of the keystore's passphrase"

export const hasSeal = ({ seal: given, allowedAt }: LockedPlugin): boolean => given !== undefined && allowedAt !== undefined

/** Why a record is not what the operator's passphrase stands for; undefined where it is. */
function sealProblem(name: string, record: LockedPlugin, key: Buffer | undefined): string | undefined {
  if (!hasSeal(record)) return noSeal
  if (key !== undefined && isSealed(key, name, record)) return undefined
  return 'its record was changed since it was allowed, or was sealed with another passphrase'
}

/**
 * Whether a user's processes can change a file: by writing it, or by putting another in its place. What belongs to the user counts, since its
 * owner changes its mode. A file on a disk that is mounted read-only cannot be changed.
 */
export function canChange(file: string): boolean {
  if (!existsSync(file)) return true
  const named = path.resolve(file)
  if (realpathSync(named) === named && accessOf(named) === 'EROFS') return false
  return canChangePath(named, maxLinks)
}

/** As many as Linux follows. */
const maxLinks = 40

/** Where the path leads over a link, the link can be changed in its folder, and what it leads to, too. */
function canChangePath(named: string, links: number): boolean {
  for (let at = named; ; at = path.dirname(at)) {
    const stat = lstatSync(at)
    if (stat.isSymbolicLink()) {
      if (links === 0 || canChangePath(path.resolve(realpathSync(path.dirname(at)), readlinkSync(at)), links - 1)) return true
    } else if (accessOf(at) === 'writable' || stat.uid === process.getuid?.()) return true
    if (at === path.dirname(at)) return false
  }
}

function accessOf(file: string): string {
  try {
    accessSync(file, constants.W_OK)
    return 'writable'
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  }
}

/** When the newest record of each plugin was made that this data folder has seen, so that none takes the place of a newer one. */
interface Seen {
  readonly allowedAt: string
  /** It was taken out of the lock: the same record does not come back. */
  readonly removed?: true
}

const seenFile = (dataDir: string): string => path.join(dataDir, 'lock-seen.json')

function readSeen(dataDir: string): ReadonlyMap<string, Seen> {
  try {
    const read: unknown = JSON.parse(readFileSync(seenFile(dataDir), 'utf8'))
    return new Map(
      Object.entries(isObject(read) ? read : {}).flatMap(([name, each]) =>
        isObject(each) && typeof each['allowedAt'] === 'string'
          ? [[name, { allowedAt: each['allowedAt'], ...(each['removed'] === true && { removed: true as const }) }]]
          : [],
      ),
    )
  } catch {
    return new Map()
  }
}

/**
 * The records that may be gone by, and why the others may not.
 * @param key of the seals, where there is a passphrase
 * @param notes whether it is noted that these were seen
 */
export async function heldRecords(dataDir: string, { plugins }: LockContent, key: Buffer | undefined, { notes }: { notes: boolean }) {
  const seen = readSeen(dataDir)
  const held: Record<string, LockedPlugin> = {}
  const problems: { readonly name: string; readonly problem: string }[] = []
  const next: Record<string, Seen> = Object.fromEntries(
    [...seen].map(([name, each]) => [name, Object.hasOwn(plugins, name) ? each : { ...each, removed: true as const }]),
  )
  for (const [name, record] of Object.entries(plugins)) {
    const before = seen.get(name)
    const { allowedAt = '' } = record
    const isOlder = before !== undefined && (allowedAt < before.allowedAt || (before.removed === true && allowedAt === before.allowedAt))
    const problem = sealProblem(name, record, key) ?? (isOlder ? 'its record is older than one that was in force here' : undefined)
    if (problem !== undefined) problems.push({ name, problem })
    else {
      held[name] = record
      next[name] = { allowedAt }
    }
  }
  const isNew = JSON.stringify(next) !== JSON.stringify(Object.fromEntries(seen))
  // Where it cannot be noted, what was seen stays as it was.
  if (notes && isNew) await writeWholeFile(seenFile(dataDir), `${JSON.stringify(next, null, 2)}\n`, 0o600).catch(() => {})
  return { held, problems }
}

/** Notes that a record was taken out of the lock, so that it does not come back. */
export async function noteRemoved(dataDir: string, name: string, { allowedAt }: LockedPlugin): Promise<void> {
  if (allowedAt === undefined || !existsSync(dataDir)) return
  const seen = { ...Object.fromEntries(readSeen(dataDir)), [name]: { allowedAt, removed: true } }
  await writeWholeFile(seenFile(dataDir), `${JSON.stringify(seen, null, 2)}\n`, 0o600)
}

/** A time for a new record: later than that of every record before it. */
export function timeOfRecord(dataDir: string, name: string, before: LockedPlugin | undefined): string {
  const earlier = [before?.allowedAt, readSeen(dataDir).get(name)?.allowedAt].map((text) => Date.parse(text ?? '')).filter(Number.isFinite)
  return new Date(Math.max(Date.now(), ...earlier.map((ms) => ms + 1))).toISOString()
}

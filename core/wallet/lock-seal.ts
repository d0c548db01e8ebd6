// Seals of the records in sluice.lock: who has the keystore's passphrase wrote them. The signer goes by records with such a seal, or by a file
// that the server's user cannot change.
import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import type { LockContent, LockedPlugin, SealParameters } from '../config/lock.ts'
import { isObject } from '../base/json.ts'
import { writeWholeFile } from '../base/whole-file.ts'
import { passphraseBytes, type Passphrase } from '../keys/passphrase.ts'

const derive = promisify<Uint8Array, Uint8Array, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt)

/** As for new keys of the keystore. */
export const usualN = 131_072

export const newSealing = (n: number = usualN): SealParameters => ({ kdf: 'scrypt', n, r: 8, p: 1, salt: randomBytes(32).toString('hex') })

/** The key of the seals: a hash of the passphrase with a salt and a label of its own. It opens no key. */
export async function sealKey(passphrase: Passphrase, { n, r, p, salt }: SealParameters): Promise<Buffer> {
  const bytes = passphraseBytes(passphrase)
  try {
    const hash = await derive(bytes, Buffer.from(salt, 'hex'), 32, { N: n, r, p, maxmem: 256 * n * r })
    const key = createHmac('sha256', hash).update('sluice.lock').digest()
    hash.fill(0)
    return key
  } finally {
    bytes.fill(0)
  }
}

/** A key takes 256 MiB and about a second at most. Nobody makes a lock that asks for more, and who can write it must not keep the signer from signing. */
const maxN = 2 * usualN

export const isTooCostly = ({ n }: SealParameters): boolean => n > maxN

/** The keys of the seals of locks that come one after the other. Undefined for a lock without seals, and for one whose key would cost too much. */
export type SealKeys = (sealing: SealParameters | undefined) => Promise<Buffer | undefined>

/** Remembers the last one: most changes of a lock leave its parameters as they are. */
export function createSealKeys(passphrase: Passphrase): SealKeys {
  let last: { readonly of: SealParameters; readonly key: Buffer } | undefined
  return async (sealing) => {
    if (sealing === undefined || isTooCostly(sealing)) return undefined
    if (!last || !isDeepStrictEqual(last.of, sealing)) last = { of: sealing, key: await sealKey(passphrase, sealing) }
    return last.key
  }
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
function sealProblem(name: string, record: LockedPlugin, key: Buffer | undefined, sealing: SealParameters | undefined): string | undefined {
  if (!hasSeal(record)) return noSeal
  if (sealing && isTooCostly(sealing))
    return `the lock asks for more work than ${maxN} to check its seals (sealing.n), which this version never wrote`
  if (key !== undefined && isSealed(key, name, record)) return undefined
  return 'its record was changed since it was allowed, or was sealed with another passphrase'
}

const seenRecord = Type.Object(
  {
    /** Of the newest record that held. */
    allowedAt: Type.String(),
    /** It was taken out of the lock: the same record does not come back. */
    removed: Type.Optional(Type.Literal(true)),
  },
  { additionalProperties: false },
)
/** What was seen of each plugin, so that no record takes the place of a newer one. */
export const seenRecords = Type.Record(Type.String(), seenRecord)
export type SeenRecords = Static<typeof seenRecords>
type SeenRecord = Static<typeof seenRecord>

const seenFile = (dataDir: string): string => path.join(dataDir, 'lock-seen.json')

function readSeen(dataDir: string): SeenRecords {
  try {
    const read: unknown = JSON.parse(readFileSync(seenFile(dataDir), 'utf8'))
    return Object.fromEntries(
      Object.entries(isObject(read) ? read : {}).flatMap(([name, each]): [string, SeenRecord][] =>
        isObject(each) && typeof each['allowedAt'] === 'string' && Number.isFinite(Date.parse(each['allowedAt']))
          ? [[name, { allowedAt: each['allowedAt'], ...(each['removed'] === true && { removed: true as const }) }]]
          : [],
      ),
    )
  } catch {
    return {}
  }
}

/** The later of two notes of one plugin; a removal is later than the record that it removed. */
function laterOf(one: SeenRecord, other: SeenRecord | undefined): SeenRecord {
  if (other === undefined || one.allowedAt > other.allowedAt) return one
  return other.allowedAt > one.allowedAt || other.removed ? other : one
}

const joinSeen = (one: SeenRecords, other: SeenRecords): SeenRecords => ({
  ...other,
  ...Object.fromEntries(
    Object.entries(one).map(([name, each]) => [name, laterOf(each, Object.hasOwn(other, name) ? other[name] : undefined)]),
  ),
})

interface HeldOptions {
  readonly dataDir: string
  /** Of the seals, where there is a passphrase. */
  readonly key: Buffer | undefined
  /** What this process has seen itself. The data folder's note is joined with it: who can write that takes nothing away from this. */
  readonly seen?: SeenRecords
  /** Whether it is noted in the data folder that these were seen. */
  readonly notes: boolean
}

/** The records that may be gone by, why the others may not, and what was seen by now. */
export async function validRecords({ plugins, sealing }: LockContent, { dataDir, key, seen = {}, notes }: HeldOptions) {
  const noted = readSeen(dataDir)
  const before = joinSeen(seen, noted)
  const held: Record<string, LockedPlugin> = {}
  const problems: { readonly name: string; readonly problem: string }[] = []
  const next: SeenRecords = Object.fromEntries(
    Object.entries(before).map(([name, each]) => [name, Object.hasOwn(plugins, name) ? each : { ...each, removed: true as const }]),
  )
  for (const [name, record] of Object.entries(plugins)) {
    const last = Object.hasOwn(before, name) ? before[name] : undefined
    const { allowedAt = '' } = record
    const isOlder = last !== undefined && (allowedAt < last.allowedAt || (last.removed === true && allowedAt === last.allowedAt))
    const problem = sealProblem(name, record, key, sealing) ?? (isOlder ? 'its record is older than one that was in force here' : undefined)
    if (problem !== undefined) problems.push({ name, problem })
    else {
      held[name] = record
      next[name] = { allowedAt }
    }
  }
  // Where it cannot be noted, what was seen stays as it was there.
  if (notes && !isDeepStrictEqual(next, noted))
    await writeWholeFile(seenFile(dataDir), `${JSON.stringify(next, null, 2)}\n`, 0o600).catch(() => {})
  return { held, problems, seen: next }
}

/** Notes that a record was taken out of the lock, so that it does not come back. */
export async function noteRemoved(dataDir: string, name: string, { allowedAt }: LockedPlugin): Promise<void> {
  if (allowedAt === undefined || !existsSync(dataDir)) return
  const seen = { ...readSeen(dataDir), [name]: { allowedAt, removed: true } }
  await writeWholeFile(seenFile(dataDir), `${JSON.stringify(seen, null, 2)}\n`, 0o600)
}

/**
 * Since when the records before a new one followed each other: undefined where there was none, or where it was taken out and came back by another
 * hand than the operator's.
 * @param key where the lock has seals
 */
export function sinceOf(dataDir: string, name: string, before: LockedPlugin | undefined, key: Buffer | undefined): string | undefined {
  if (before?.allowedAt === undefined || (key !== undefined && sealProblem(name, before, key, undefined) !== undefined)) return undefined
  const last = readSeen(dataDir)[name]
  const isGone = last !== undefined && (last.removed ? before.allowedAt <= last.allowedAt : before.allowedAt < last.allowedAt)
  return isGone ? undefined : (before.since ?? before.allowedAt)
}

/** A time for a new record: later than that of every record before it. */
export function timeOfRecord(dataDir: string, name: string, before: LockedPlugin | undefined): string {
  const earlier = [before?.allowedAt, readSeen(dataDir)[name]?.allowedAt].map((text) => Date.parse(text ?? '')).filter(Number.isFinite)
  return new Date(Math.max(Date.now(), ...earlier.map((ms) => ms + 1))).toISOString()
}

// What the signer reads before it unlocks anything: the records of sluice.lock that hold, and its policy from them, the release and conf.
import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import {
  lockedPlugin,
  lockFile,
  readLockAgain,
  readLockContent,
  type LockContent,
  type LockedPlugin,
  type PluginLock,
} from '../config/lock.ts'
import { fits } from '../base/schema-check.ts'
import type { WalletLimits } from '../config/wallet-limits.ts'
import { command } from '../base/layout.ts'
import type { KeySourceSetting } from '../keys/key-source.ts'
import { mayHaveRealKeys, opensRealKeys } from '../keys/sources.ts'
import { canChange, readWithOrigin } from './changeable.ts'
import { createSealKeys, hasSeal, validRecords, noSeal, seenRecords, type SealKeys, type SeenRecords } from './lock-seal.ts'
import { policyFromFiles, readSources, signingSources, type SignerFiles } from './policy-files.ts'
import type { SignerPolicy } from './policy.ts'
import { readSigningLimits } from './signing-networks.ts'

export interface OwnPolicyOptions {
  readonly files: SignerFiles
  readonly dataDir: string
  readonly keySources: readonly KeySourceSetting[]
  /** Of the seals' own passphrase, or of the keystore's, where one was given. */
  readonly sealKeys: SealKeys | undefined
}

/** A record that nothing is signed for. */
export interface UnheldRecord {
  readonly name: string
  readonly problem: string
  readonly remedy: string
}

/** What the signer goes by, as it was read. Plain JSON: the keeper keeps it for a signer that is started again. */
const ownState = Type.Object(
  {
    sources: signingSources,
    /** Of the wallets: `conf/limits.yml`. */
    limits: Type.Unsafe<WalletLimits>({}),
    /** Of the tokens of the lists, for who has limits: by `chain/network` and address. */
    symbols: Type.Record(Type.String(), Type.Record(Type.String(), Type.String())),
    /** The records in force. */
    records: Type.Record(Type.String(), lockedPlugin),
    /** Those that the lock had at the start, and that were not in force then. */
    left: Type.Record(Type.String(), lockedPlugin),
    /** What was seen since the start, whatever becomes of the data folder. */
    seen: seenRecords,
    /** Records that were in force and were replaced a short time ago. */
    earlier: Type.Array(
      Type.Object({ name: Type.String(), record: lockedPlugin, untilMs: Type.Number() }, { additionalProperties: false }),
    ),
  },
  { additionalProperties: false },
)
type OwnState = Static<typeof ownState>

export interface OwnPolicy {
  readonly policy: SignerPolicy
  /** For what earlier versions of plugins planned, until the server has taken up the new ones. */
  readonly earlier: readonly EarlierPolicy[]
  readonly state: OwnState
  readonly problems: readonly UnheldRecord[]
  /** The lock could not be read: it is to be read again. */
  readonly isUnread?: true
}

/** The same policy with the record that a plugin had before in place of its own. */
interface EarlierPolicy {
  /** Of the version's files. */
  readonly sha256: string
  /** By `steadyMs`. */
  readonly untilMs: number
  readonly policy: SignerPolicy
}

/** What the start of a server has signed. @throws Error where the installation is broken */
export async function readOwnPolicy({ files, ...options }: OwnPolicyOptions): Promise<OwnPolicy> {
  const { confDir } = files
  // A lock that cannot be read allows nothing; the loader says why. Its records are not noted as removed.
  const lock = readFromLock(confDir)
  const { held, problems, seen } = lock ? await recordsThatHold(options, lock, {}) : nothingHeld
  const plugins = lock?.content.plugins ?? {}
  const isNamed = (name: string) => files.plugins.includes(name)
  const records = pick(held, isNamed)
  const { limits, symbols } = readSigningLimits(confDir)
  const state = {
    sources: readSources(files),
    limits,
    symbols: { ...symbols },
    records,
    left: pick(plugins, (name) => !Object.hasOwn(records, name)),
    seen,
    earlier: [],
  }
  return policyOf(
    files,
    state,
    withRemedies(problems, plugins, confDir).filter(({ name }) => isNamed(name)),
  )
}

/** The same of a signer that is started again: nothing is read of the files, but the lock in its time. @throws Error for what nobody read */
export function keptOwnPolicy(files: SignerFiles, kept: unknown): OwnPolicy {
  if (fits(ownState, kept)) return policyOf(files, kept, [])
  throw new Error('What the signer had read before it ended is damaged: restart the server.')
}

/**
 * Takes up a lock that was changed while the server runs: records of connectors that are contained or data alone, which are new, gone or other
 * ones than before, where they hold. One that does not hold leaves the record in force that there was. All else counts at the next start: trusted
 * plugins and chains, which the server has until then, and conf.
 */
export async function takeUpLock({ files, ...options }: OwnPolicyOptions, state: OwnState, nowMs = steadyMs()): Promise<OwnPolicy> {
  const { records, left, sources, limits, symbols } = state
  const { confDir, disabled = [] } = files
  const lock = readFromLock(confDir)
  if (lock === undefined) {
    const isMissed = Object.keys(records).length > 0 || existsSync(lockFile(confDir))
    return isMissed ? { ...policyOf(files, state, [unreadable(confDir)]), isUnread: true } : policyOf(files, state, [])
  }
  const { plugins } = lock.content
  const { held, problems, seen } = await recordsThatHold(options, lock, state.seen)
  const isOfStart = (name: string, record: LockedPlugin) => isDeepStrictEqual(left[name], record)
  const fresh = pick(
    held,
    (name, record) =>
      !isOfServer(record) &&
      !(Object.hasOwn(records, name) && isOfServer(records[name])) &&
      !disabled.includes(name) &&
      !isOfStart(name, record),
  )
  const stay = pick(records, (name, record) => isOfServer(record) || Object.hasOwn(plugins, name))
  const next = { ...stay, ...fresh }
  const earlier = earlierRecords(state, next, nowMs)
  const news = problems.filter(({ name }) => !isDeepStrictEqual(plugins[name], left[name]))
  return policyOf(files, { sources, limits, symbols, records: next, left, seen, earlier }, withRemedies(news, plugins, confDir))
}

/** Enough for the server to start the new version, and for the operator to mend one that does not load. */
export const earlierMs = 3_600_000

/** A clock that only goes forward, and is the same in a signer that is started again. */
export const steadyMs = (): number => Number(process.hrtime.bigint() / 1_000_000n)

/**
 * The records that go on beside the ones that replaced them, for what their version plans. One that was taken out of the lock ends at once, also
 * where the plugin was allowed again before anybody looked: the new record says since when it was not. So does one of the same files, since the
 * server goes on with them.
 */
function earlierRecords({ records, earlier }: OwnState, next: PluginLock, nowMs: number): OwnState['earlier'] {
  const replaced = Object.entries(records).map(([name, record]) => ({ name, record, untilMs: nowMs + earlierMs }))
  return [...earlier.filter(({ untilMs }) => nowMs < untilMs), ...replaced].filter(({ name, record: { allowedAt, sha256, tier } }) => {
    const now = Object.hasOwn(next, name) ? next[name] : undefined
    return now?.since !== undefined && allowedAt !== undefined && allowedAt >= now.since && sha256 !== now.sha256 && tier !== 'trusted'
  })
}

/** Which a server that runs neither takes up nor takes out. */
const isOfServer = (record: LockedPlugin | undefined): boolean => record?.tier === 'trusted' || record?.kind === 'chain'

function policyOf(files: SignerFiles, state: OwnState, problems: readonly UnheldRecord[]): OwnPolicy {
  const { records, sources } = state
  const plugins = [...new Set([...files.plugins, ...Object.keys(records)])]
  const of = (lock: PluginLock) => policyFromFiles({ ...files, plugins }, lock, sources)
  const earlier = state.earlier.map(({ name, record, untilMs }) => ({
    sha256: record.sha256,
    untilMs,
    policy: of({ ...records, [name]: record }),
  }))
  return { policy: of(records), earlier, state, problems }
}

const pick = (all: PluginLock, is: (name: string, record: LockedPlugin) => boolean): Record<string, LockedPlugin> =>
  Object.fromEntries(Object.entries(all).filter(([name, record]) => is(name, record)))

const withRemedies = (problems: readonly { name: string; problem: string }[], plugins: PluginLock, confDir: string): UnheldRecord[] =>
  problems.map(({ name, problem }) => ({ name, problem, remedy: remedyOf(name, plugins, confDir) }))

const unreadable = (confDir: string): UnheldRecord => ({
  name: 'sluice.lock',
  problem: 'the file cannot be read, and what was in force before stays so',
  remedy: `Correct ${lockFile(confDir)}: ${command} plugin verify`,
})

/** What to type, so that the signer signs for a plugin. */
function remedyOf(name: string, plugins: PluginLock, confDir: string): string {
  const verb = plugins[name]?.tier === 'trusted' ? 'trust' : 'allow'
  return `See what it may do, and seal it: ${command} plugin ${verb} ${name}. Or put ${lockFile(confDir)} where the server's user cannot write.`
}

interface LockRead {
  readonly content: LockContent
  /** Only others than the server's user can have written it. */
  readonly isOfOthers: boolean
}

/** Undefined where it is not there or cannot be read. */
function readFromLock(confDir: string): LockRead | undefined {
  const { value, isOfOthers } = readWithOrigin(lockFile(confDir), (descriptor) => readLockAgain(confDir, true, descriptor))
  return value && { content: value, isOfOthers }
}

const nothingHeld: Awaited<ReturnType<typeof recordsThatHold>> = { held: {}, problems: [], seen: {} }

async function recordsThatHold(
  { dataDir, keySources, sealKeys }: Omit<OwnPolicyOptions, 'files'>,
  { content, isOfOthers }: LockRead,
  seen: SeenRecords,
): Promise<{ held: PluginLock; problems: readonly { name: string; problem: string }[]; seen: SeenRecords }> {
  // With a passphrase keys are opened, whatever the data folder has when it is looked at again.
  const opensKeys = sealKeys !== undefined || opensRealKeys(keySources)
  // Keys that everybody has sign for what is there: there are no others, or they stay locked.
  if (!opensKeys || isOfOthers) return { held: content.plugins, problems: [], seen }
  return validRecords(content, { dataDir, key: await sealKeys?.(content.sealing), seen, notes: true })
}

interface LockedSettings {
  readonly confDir: string
  readonly data: { readonly dir: string }
  readonly wallet: { readonly keySources: readonly KeySourceSetting[]; readonly sealPassphraseFile?: string }
}

/** Whether the signer beside the server asks for seals: it has keys that not everybody has, and the server's user can change the lock. */
export const needsSeals = ({ confDir, data, wallet: { keySources, sealPassphraseFile } }: LockedSettings): boolean =>
  (sealPassphraseFile !== undefined || mayHaveRealKeys(keySources, data.dir)) && canChange(lockFile(confDir))

/**
 * The records of sluice.lock that the signer would not go by. Without the passphrase only those are known that have no seal.
 * @throws ConfigError where the lock cannot be read
 */
export async function invalidRecords(settings: LockedSettings, passphrase: string | undefined): Promise<UnheldRecord[]> {
  const { confDir, data } = settings
  const content = readLockContent(confDir)
  const { plugins } = content
  if (!needsSeals(settings)) return []
  const found =
    passphrase === undefined
      ? Object.entries(plugins).flatMap(([name, record]) => (hasSeal(record) ? [] : [{ name, problem: noSeal }]))
      : (await validRecords(content, { dataDir: data.dir, key: await createSealKeys(passphrase)(content.sealing), notes: false })).problems
  return found.map(({ name, problem }) => ({ name, problem, remedy: remedyOf(name, plugins, confDir) }))
}

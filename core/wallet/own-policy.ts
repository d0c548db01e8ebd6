// What the signer reads before it unlocks anything: the records of sluice.lock that hold, and its policy from them, the release and conf.
import { isDeepStrictEqual } from 'node:util'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import * as Value from 'typebox/value'
import {
  lockedPlugin,
  lockFile,
  readLockAgain,
  readLockContent,
  type LockContent,
  type LockedPlugin,
  type PluginLock,
} from '../config/lock.ts'
import { command } from '../layout.ts'
import { keystoreHasKeys } from './keystore.ts'
import { canChange, hasSeal, heldRecords, noSeal, sealKey } from './lock-seal.ts'
import { policyFromFiles, readSources, signingSources, type SignerFiles } from './policy-files.ts'
import type { SignerPolicy } from './policy.ts'

export interface OwnPolicyOptions {
  readonly files: SignerFiles
  readonly dataDir: string
  readonly keySources: readonly string[]
  readonly passphrase: string | undefined
}

/** A record that nothing is signed for. */
export interface UnheldRecord {
  readonly name: string
  readonly problem: string
  readonly cure: string
}

/** What the signer goes by, as it was read. Plain JSON: the keeper keeps it for a signer that is started again. */
const ownState = Type.Object(
  {
    sources: signingSources,
    /** The records in force. */
    records: Type.Record(Type.String(), lockedPlugin),
    /** Those that the lock had at the start, and that were not in force then. */
    left: Type.Record(Type.String(), lockedPlugin),
  },
  { additionalProperties: false },
)
type OwnState = Static<typeof ownState>

export interface OwnPolicy {
  readonly policy: SignerPolicy
  readonly state: OwnState
  readonly problems: readonly UnheldRecord[]
}

/** What the start of a server has signed. @throws Error where the installation is broken */
export async function readOwnPolicy({ files, ...options }: OwnPolicyOptions): Promise<OwnPolicy> {
  const { confDir } = files
  // A lock that cannot be read allows nothing; the loader says why.
  const content = readLockAgain(confDir, false) ?? { plugins: {} }
  const { held, problems } = await recordsThatHold({ confDir, ...options }, content)
  const isNamed = (name: string) => files.plugins.includes(name)
  const records = pick(held, isNamed)
  const state = { sources: readSources(files), records, left: pick(content.plugins, (name) => !Object.hasOwn(records, name)) }
  return policyOf(
    files,
    state,
    withCures(problems, content.plugins, confDir).filter(({ name }) => isNamed(name)),
  )
}

/** The same of a signer that is started again: nothing is read of the files, but the lock in its time. @throws Error for what nobody read */
export function keptOwnPolicy(files: SignerFiles, kept: unknown): OwnPolicy {
  if (Value.Check(ownState, kept)) return policyOf(files, kept, [])
  throw new Error('What the signer had read before it ended is damaged: restart the server.')
}

/**
 * Takes up a lock that was changed while the server runs: records of contained plugins that are new, gone or other ones than before, where
 * they hold. One that does not hold leaves the record in force that there was. All else counts at the next start: trusted plugins, which run in
 * the server until then, and conf.
 */
export async function takeUpLock({ files, ...options }: OwnPolicyOptions, { records, left, sources }: OwnState): Promise<OwnPolicy> {
  const { confDir, disabled = [] } = files
  const content = readLockAgain(confDir, Object.keys(records).length > 0)
  if (content === undefined) return policyOf(files, { sources, records, left }, [unreadable(confDir)])
  const { held, problems } = await recordsThatHold({ confDir, ...options }, content)
  const isOfStart = (name: string, record: LockedPlugin) => isDeepStrictEqual(left[name], record)
  const fresh = pick(
    held,
    (name, record) =>
      record.tier === 'contained' && records[name]?.tier !== 'trusted' && !disabled.includes(name) && !isOfStart(name, record),
  )
  const stay = pick(records, (name, { tier }) => tier === 'trusted' || Object.hasOwn(content.plugins, name))
  const news = problems.filter(({ name }) => !isDeepStrictEqual(content.plugins[name], left[name]))
  return policyOf(files, { sources, records: { ...stay, ...fresh }, left }, withCures(news, content.plugins, confDir))
}

function policyOf(files: SignerFiles, state: OwnState, problems: readonly UnheldRecord[]): OwnPolicy {
  const plugins = [...new Set([...files.plugins, ...Object.keys(state.records)])]
  return { policy: policyFromFiles({ ...files, plugins }, state.records, state.sources), state, problems }
}

const pick = (all: PluginLock, is: (name: string, record: LockedPlugin) => boolean): Record<string, LockedPlugin> =>
  Object.fromEntries(Object.entries(all).filter(([name, record]) => is(name, record)))

const withCures = (problems: readonly { name: string; problem: string }[], plugins: PluginLock, confDir: string): UnheldRecord[] =>
  problems.map(({ name, problem }) => ({ name, problem, cure: cureOf(name, plugins, confDir) }))

const unreadable = (confDir: string): UnheldRecord => ({
  name: 'sluice.lock',
  problem: 'the file cannot be read, and what was in force before stays so',
  cure: `Correct ${lockFile(confDir)}: ${command} plugin verify`,
})

/** What to type, so that the signer signs for a plugin. */
function cureOf(name: string, plugins: PluginLock, confDir: string): string {
  const verb = plugins[name]?.tier === 'trusted' ? 'trust' : 'allow'
  return `See what it may do, and seal it: ${command} plugin ${verb} ${name}. Or put ${lockFile(confDir)} where the server's user cannot write.`
}

/** Where only keys sign that everybody has, since there are no others or they stay locked, and where the server's user cannot change the lock. */
function holdsAsItIs(confDir: string, opensKeys: boolean): boolean {
  return !opensKeys || !canChange(lockFile(confDir))
}

async function recordsThatHold(
  { confDir, dataDir, keySources, passphrase }: Omit<OwnPolicyOptions, 'files'> & { confDir: string },
  content: LockContent,
): Promise<{ held: PluginLock; problems: readonly { name: string; problem: string }[] }> {
  // The keystore is opened with it, whatever the folder has when it is looked at again.
  const opensKeystore = passphrase !== undefined
  const opensKeys = opensKeystore || keySources.some((each) => each !== 'keystore' && each !== 'devnet')
  if (holdsAsItIs(confDir, opensKeys)) return { held: content.plugins, problems: [] }
  return heldRecords(dataDir, content, await keyFor(content, passphrase), { notes: true })
}

const keyFor = async ({ sealing }: LockContent, passphrase: string | undefined): Promise<Buffer | undefined> =>
  passphrase === undefined || sealing === undefined ? undefined : sealKey(passphrase, sealing)

/**
 * The records of sluice.lock that the signer would not go by. Without the passphrase only those are known that have no seal.
 * @throws ConfigError where the lock cannot be read
 */
export async function unheldRecords(confDir: string, dataDir: string, passphrase: string | undefined): Promise<UnheldRecord[]> {
  const content = readLockContent(confDir)
  const { plugins } = content
  if (holdsAsItIs(confDir, keystoreHasKeys(dataDir))) return []
  const found =
    passphrase === undefined
      ? Object.entries(plugins).flatMap(([name, record]) => (hasSeal(record) ? [] : [{ name, problem: noSeal }]))
      : (await heldRecords(dataDir, content, await keyFor(content, passphrase), { notes: false })).problems
  return found.map(({ name, problem }) => ({ name, problem, cure: cureOf(name, plugins, confDir) }))
}

// What the signer reads before it unlocks anything: the records of sluice.lock that hold, and its policy from them, the release and conf.
import { lockFile, readLockContent, type LockContent, type PluginLock } from '../config/lock.ts'
import { ConfigError } from '../config/problems.ts'
import { command } from '../layout.ts'
import { keystoreHasKeys } from './keystore.ts'
import { canChange, hasSeal, heldRecords, noSeal, sealKey } from './lock-seal.ts'
import { policyFromFiles, type SignerFiles } from './policy-files.ts'
import type { SignerPolicy } from './policy.ts'

interface OwnPolicyOptions {
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

/** @throws Error where the installation is broken */
export async function readOwnPolicy({ files, ...options }: OwnPolicyOptions): Promise<{ policy: SignerPolicy; problems: UnheldRecord[] }> {
  const content = lockOf(files.confDir)
  const only = Object.fromEntries(Object.entries(content.plugins).filter(([name]) => files.plugins.includes(name)))
  const { held, problems } = await recordsThatHold({ confDir: files.confDir, ...options }, content)
  const isNamed = ({ name }: { name: string }) => Object.hasOwn(only, name)
  return {
    policy: policyFromFiles(files, Object.fromEntries(Object.entries(held).filter(([name]) => isNamed({ name })))),
    problems: problems.filter(isNamed).map(({ name, problem }) => ({ name, problem, cure: cureOf(name, content.plugins, files.confDir) })),
  }
}

/** A lock that cannot be read allows nothing; the loader says why. */
function lockOf(confDir: string): LockContent {
  try {
    return readLockContent(confDir)
  } catch (error) {
    if (error instanceof ConfigError) return { plugins: {} }
    throw error
  }
}

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
  const opensKeystore = passphrase !== undefined && keystoreHasKeys(dataDir)
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

// Who may run: the release's own plugins, and those that the operator has allowed in sluice.lock, with exactly the bytes that were allowed.
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { readLock, type LockedPlugin, type PluginLock } from '../../config/lock.ts'
import { ConfigError } from '../../config/problems.ts'
import { devnetNetwork, type Settings } from '../../config/settings.ts'
import { readYaml } from '../../config/yaml.ts'
import { isObject } from '../../base/json.ts'
import { command } from '../../base/layout.ts'
import { mayHaveRealKeys } from '../../keys/sources.ts'
import { invalidRecords, needsSeals } from '../../wallet/own-policy.ts'
import { knowOrigin } from '../code/compile.ts'
import { findPlugins, findRefusal, isDeclared, type FindResult, type FoundPlugin } from '../discover/find.ts'
import { keepPlugin, readPluginFiles } from '../discover/plugin-files.ts'
import { chainDecides, faultOf, PluginFault, trustedOnly, type Refusal } from '../refusal.ts'
import { triedCopy } from '../discover/tried-copy.ts'
import { acceptsNone, whyNotContained } from '../isolate/backend.ts'

export interface AllowedPlugins extends FindResult {
  /** Names of plugins that run without having been allowed, because this server only tries. */
  readonly tried: readonly string[]
}

/**
 * The plugins of these folders that may run. A plugin of a third party that is not in sluice.lock, or has other bytes than there, is refused;
 * what was allowed is run from the copy of its bytes in `data/plugins`. No code of plugins runs here.
 */
export async function allowedPlugins(settings: Settings, folders: readonly string[] = settings.plugins.folders): Promise<AllowedPlugins> {
  const { found, refused: notFound, disabled } = findPlugins(folders, settings.plugins.disabled)
  if (found.every(({ builtIn }) => builtIn)) return { found, refused: notFound, disabled, tried: [] }
  const lock = lockOf(settings)
  const isTrial = isSandbox(settings)
  const allowed: FoundPlugin[] = []
  const refused: Refusal[] = []
  const tried: string[] = []
  const asItRuns = (plugin: FoundPlugin): Promise<FoundPlugin> =>
    allowedCopy(plugin, lock, settings).catch(async (thrown: unknown) => {
      if (!isTrial) throw thrown
      const copy = await triedCopy(plugin, settings.data.dir)
      tried.push(plugin.name)
      return copy
    })
  for (const plugin of found) {
    try {
      allowed.push(plugin.builtIn ? plugin : await asItRuns(plugin))
    } catch (thrown) {
      const { name, folder } = plugin
      refused.push(findRefusal(name, folder, faultOf(thrown, 'consent', 'See the reason.'), recordOf(name, lock)?.kind))
    }
  }
  return { found: allowed, refused: [...notFound, ...refused], disabled, tried }
}

/**
 * The same for a command that only looks. A trusted plugin would run in the process of the command, as whoever types it, and so would a contained one where nothing
 * contains it and the operator accepts that: so its record has to hold, by its seal where seals count. Who can write sluice.lock, but does not know the passphrase, has nothing run by that.
 * @param passphrase of the seals; absent where no file has it
 */
export async function allowedForCommand(settings: Settings, passphrase: string | undefined): Promise<AllowedPlugins> {
  const allowed = await allowedPlugins(settings)
  if (!needsSeals(settings)) return allowed
  const isContained = !acceptsNone(settings) || (await whyNotContained(settings)) === undefined
  const uncontained = allowed.found.filter(
    ({ tier, allowedBy }) => tier === 'trusted' || (tier === 'contained' && allowedBy === 'operator' && !isContained),
  )
  if (uncontained.length === 0) return allowed
  const invalid = new Map((await invalidRecords(settings, passphrase)).map((each) => [each.name, each]))
  const refused = uncontained.flatMap(({ name, origin, lockedKind, tier }): Refusal[] => {
    const found = invalid.get(name)
    if (found === undefined && passphrase !== undefined) return []
    const { problem, remedy } = found ?? { problem: 'the seal of its record was not checked', remedy: sealRemedy }
    const why = tier === 'trusted' ? 'It is trusted, and is not run here' : 'Nothing contains it here, so it is not run'
    return [findRefusal(name, origin, new PluginFault('consent', `${why}: ${problem}`, remedy), lockedKind)]
  })
  const away = new Set(refused.map(({ folder }) => folder))
  return { ...allowed, found: allowed.found.filter(({ origin }) => !away.has(origin)), refused: [...allowed.refused, ...refused] }
}

const sealRemedy =
  'Name the file with the passphrase in SLUICE_WALLET_PASSPHRASE_FILE, or that of the seals in SLUICE_SEAL_PASSPHRASE_FILE.'

/**
 * One of them, as it runs by a lock that was changed while the server runs.
 * @throws PluginFault where it is not there, or has other bytes than were allowed
 */
export async function allowedNow(name: string, lock: PluginLock, settings: Settings): Promise<FoundPlugin> {
  const { found, refused } = findPlugins(settings.plugins.folders, settings.plugins.disabled)
  const plugin = found.find((each) => each.name === name)
  if (plugin) return allowedCopy(plugin, lock, settings)
  const refusal = refused.find((each) => each.name === name)
  if (refusal) throw new PluginFault('find', refusal.reason, refusal.remedy)
  throw new PluginFault('find', `Its folder is not there yet, in ${settings.plugins.folders.join(', ')}`, 'Put it there.')
}

type LockOrFault = PluginLock | PluginFault

/** A lock that cannot be read refuses the plugins of third parties, and no others. */
function lockOf({ confDir }: Settings): LockOrFault {
  try {
    return readLock(confDir)
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    const [
      { file, path: at, line, problem, remedy } = { file: 'sluice.lock', path: '', line: undefined, problem: 'is wrong', remedy: '' },
    ] = thrown.problems
    const place = `${file}${line === undefined ? '' : `:${line}`}${at === '' ? '' : ` ${at}`}`
    return new PluginFault('consent', `${place}: ${problem}`, remedy)
  }
}

const recordOf = (name: string, lock: LockOrFault): LockedPlugin | undefined =>
  lock instanceof PluginFault || !Object.hasOwn(lock, name) ? undefined : lock[name]

/** The plugin as it runs: from the copy of the bytes that were allowed. @throws PluginFault */
async function allowedCopy(plugin: FoundPlugin, lock: LockOrFault, { data }: Settings): Promise<FoundPlugin> {
  if (lock instanceof PluginFault) throw lock
  const { name, folder } = plugin
  const locked = recordOf(name, lock)
  if (locked === undefined)
    throw new PluginFault(
      'consent',
      'It was not allowed to run: sluice.lock does not have it',
      `See what it may do, and allow it: ${command} plugin allow ${name}`,
    )
  const files = readPluginFiles(folder)
  if (files.sha256 !== locked.sha256)
    throw new PluginFault(
      'consent',
      `Its files are not those that were allowed: their SHA-256 is ${files.sha256}, that in sluice.lock ${locked.sha256}`,
      `See what changed, and allow it again: ${command} plugin allow ${name}`,
    )
  // The tier of a record lets nothing run that is not of it, whoever wrote the record.
  if (isDeclared(plugin) !== (locked.tier === 'data'))
    throw new PluginFault(
      'consent',
      isDeclared(plugin) ? 'It is data alone, and was not allowed as such' : 'It has code, and was allowed as data alone',
      `See what it may do, and allow it again: ${command} plugin allow ${name}`,
    )
  if (locked.kind === 'chain' && locked.tier === 'contained') throw trustedOnly(name, chainDecides)
  return copyOf(plugin, await keepPlugin(data.dir, name, files), locked)
}

export function copyOf(
  plugin: FoundPlugin,
  kept: string,
  {
    tier,
    sha256,
    hosts,
    kind,
    calls,
    decides,
  }: Pick<LockedPlugin, 'tier' | 'sha256' | 'hosts' | 'calls' | 'decides'> & Partial<Pick<LockedPlugin, 'kind'>>,
): FoundPlugin {
  if (tier === 'trusted') knowOrigin(kept, plugin.origin)
  return {
    ...plugin,
    folder: kept,
    entry: path.join(kept, path.relative(plugin.folder, plugin.entry)),
    tier,
    sha256,
    hosts,
    ...(kind && { lockedKind: kind }),
    ...(kind === 'interface' && { allowedCalls: { ...(calls && { calls }), ...(decides && { decides }) } }),
    allowedBy: 'operator',
  }
}

/**
 * Whether all networks that this server trades on are local: the devnet is on, there is no key but those that everybody knows, and conf/chains
 * sets up no other network. Then a plugin that is dropped in runs at once.
 */
export function isSandbox({ devnet, wallet, data, confDir, signer }: Settings): boolean {
  // What keys a signer service has, nobody says before code of plugins runs.
  if (!devnet.enabled || signer.socket !== undefined || mayHaveRealKeys(wallet.keySources, data.dir)) return false
  const folder = path.join(confDir, 'chains')
  if (!existsSync(folder)) return true
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yml'))
    .every((file) => {
      const chain = path.basename(file, '.yml')
      const networks = readYaml(path.join(folder, file), file, [])?.value
      return networks === undefined || Object.entries(networks).every(([network, entry]) => isOff(entry) || isDevnet(chain, network))
    })
}

const isOff = (entry: unknown): boolean => entry === null || (isObject(entry) && entry['enabled'] === false)

const isDevnet = (chain: string, network: string): boolean => chain === devnetNetwork.chain && network === devnetNetwork.network

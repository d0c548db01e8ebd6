// What `sluice plugin allow` and its kin do: they read, keep and record. What they show is in core/cli.
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { lockFile, readLock, readLockContent, writeLock, type LockedPlugin, type PluginLock } from '../../config/lock.ts'
import { ConfigError, didYouMean } from '../../config/problems.ts'
import type { Settings } from '../../config/settings.ts'
import { shownConf, type ShownConf } from '../../config/shown-conf.ts'
import { substitute } from '../../config/tree.ts'
import { mergedFiles } from '../../config/yaml.ts'
import { isObject } from '../../base/json.ts'
import { command } from '../../base/layout.ts'
import { passphraseForSeals } from '../../keys/get-passphrase.ts'
import { isOutdated, releasedHolders } from '../../wallet/policy-files.ts'
import { isTooCostly, newSealing, noteRemoved, seal, sealKey, sinceOf, timeOfRecord, usualN } from '../../wallet/lock-seal.ts'
import { allowedForCommand, allowedPlugins, copyOf } from './consent.ts'
import { whyNotContained } from '../isolate/backend.ts'
import { examinePlugin } from './examine.ts'
import { findPlugins, type FoundPlugin } from '../discover/find.ts'
import { isKept, keepPlugin, keptFolder, readPluginFiles, type PluginFiles } from '../discover/plugin-files.ts'
import { diskFault, PluginFault } from '../refusal.ts'
import { loadBudget } from '../load-budget.ts'

/** A plugin of a third party as its folder holds it now. */
export interface PluginOnDisk {
  readonly plugin: FoundPlugin
  readonly files: PluginFiles
}

/** Reads the files of a plugin, and runs none. @throws PluginFault */
export function pluginOnDisk(name: string, { plugins }: Settings): PluginOnDisk {
  const { found, refused } = findPlugins(plugins.folders, plugins.disabled)
  const plugin = found.find((each) => each.name === name)
  const refusal = refused.find((each) => each.name === name)
  if (plugin === undefined && refusal) throw new PluginFault('find', refusal.reason, refusal.remedy)
  if (plugin === undefined) {
    const others = found.flatMap((each) => (each.builtIn ? [] : [each.name]))
    throw new PluginFault(
      'find',
      `There is no plugin '${name}'${didYouMean(
        name,
        found.map((each) => each.name),
      )} in ${plugins.folders.join(', ')}`,
      others.length === 0
        ? `There is none of a third party yet: ${command} plugin add <source> fetches one, and ${command} plugin list shows those of the release.`
        : `Those of third parties are ${others.join(', ')}.`,
    )
  }
  if (plugin.builtIn) throw new PluginFault('consent', `${name} is a plugin of this release, which allows it`, 'There is nothing to do.')
  return { plugin, files: readPluginFiles(plugin.folder) }
}

/** What a plugin may touch, as its code, its defaults and conf say. Keeps its bytes, and runs them once in a process of its own. @throws PluginFault */
export async function examine({ plugin, files }: PluginOnDisk, tier: LockedPlugin['tier'], settings: Settings): Promise<LockedPlugin> {
  const { data, limits } = settings
  const is = { tier, sha256: files.sha256 }
  const copy = copyOf(plugin, await keepPlugin(data.dir, plugin.name, files), { ...is, hosts: [] })
  const lock = readLock(settings.confDir)
  const found = await allowedBeside(settings)
  const chains = found.filter(({ builtIn, name }) => builtIn || lock[name]?.kind === 'chain')
  const budget = loadBudget(limits)
  const holders = releasedHolders({ confDir: settings.confDir, environment: process.env })
  const examined = await examinePlugin({ plugin: copy, chains, budget, conf: confOf(plugin.name, settings), holders }, is, settings)
  if (tier === 'data') refuseRecordedChainId(plugin.name, examined, lock)
  return examined
}

/**
 * The plugins that run beside it. Where nothing contains them they run as whoever types the command: of those that are trusted the records have to hold, as for
 * any other command.
 */
async function allowedBeside(given: Settings): Promise<readonly FoundPlugin[]> {
  const settings = { ...given, plugins: { ...given.plugins, disabled: [] } }
  const isContained = (await whyNotContained(settings)) === undefined
  return (isContained ? await allowedPlugins(settings) : await allowedForCommand(settings, passphraseForSeals(settings.wallet))).found
}

/** The signer signs for no chain that is data alone and has the chain id of another. @throws PluginFault */
function refuseRecordedChainId(name: string, { networks }: LockedPlugin, lock: PluginLock): void {
  const idsOf = (record: Pick<LockedPlugin, 'networks'>) => Object.values(record.networks).flatMap(({ chainId }) => chainId ?? [])
  const own = idsOf({ networks })
  const [owner] =
    Object.entries(lock).find(
      ([each, record]) => each !== name && record.kind === 'chain' && idsOf(record).some((id) => own.includes(id)),
    ) ?? []
  if (owner !== undefined)
    throw new PluginFault(
      'create',
      `A chain id of ${name} is that of the chain ${owner}`,
      `Use ${owner}, or correct the chain id of ${name}.`,
    )
}

/**
 * What is in force of the operator's files, by `chains/<name>` and `connectors/<name>`: of the plugin, and of the chains. A wrong file of another
 * chain is no matter of this plugin. @throws ConfigError
 */
function confOf(name: string, { confDir }: Settings): Record<string, ShownConf> {
  const shown: Record<string, ShownConf> = {}
  const read = (kind: 'chain' | 'connector', file: string) => {
    const conf = shownConf(path.join(confDir, file), path.join(path.basename(confDir), file), kind, process.env)
    if (conf) shown[file.slice(0, -'.yml'.length)] = conf
  }
  read('connector', `connectors/${name}.yml`)
  const folder = path.join(confDir, 'chains')
  for (const file of existsSync(folder) ? readdirSync(folder).filter((each) => each.endsWith('.yml')) : [])
    try {
      read('chain', `chains/${file}`)
    } catch (thrown) {
      const isOwn = [name, name.replace(/-chain$/, '')].includes(path.basename(file, '.yml'))
      if (isOwn || !(thrown instanceof ConfigError)) throw thrown
    }
  return shown
}

/** Whether conf says something else than what was recorded, so that the plugin has to be allowed again to have all of it. */
export function isConfNewer({ plugin: { name, folder } }: PluginOnDisk, locked: LockedPlugin, { confDir }: Settings): boolean {
  const file = locked.kind === 'chain' ? `chains/${name.replace(/-chain$/, '')}.yml` : `connectors/${name}.yml`
  const { value } = substitute(mergedFiles([path.join(confDir, file)]), process.env)
  return isOutdated(locked, { defaults: mergedFiles([path.join(folder, 'defaults.yml')]), conf: isObject(value) ? value : {} })
}

/** Records that a plugin may run. @param passphrase of the keystore, which seals the record; absent where it has no keys */
export async function record(
  name: string,
  locked: LockedPlugin,
  { confDir, data }: Settings,
  passphrase: string | undefined,
): Promise<void> {
  const { plugins, sealing: before } = readLockContent(confDir)
  const { [name]: last } = plugins
  const dated = (key: Buffer | undefined): LockedPlugin => {
    const { since: _, ...own } = locked
    const since = sinceOf(data.dir, name, last, key)
    return { ...own, allowedAt: timeOfRecord(data.dir, name, last), ...(since !== undefined && { since }) }
  }
  const write = (plugin: LockedPlugin, sealing: typeof before) =>
    writeLock(confDir, { ...plugins, [name]: plugin }, sealing).catch((thrown: unknown) => {
      throw diskFault(thrown, path.dirname(lockFile(confDir)))
    })
  if (passphrase === undefined) return write(dated(undefined), before)
  // A seal made with less work would tell more of the passphrase. After another salt no record before this one has a seal that holds.
  const sealing = before !== undefined && before.n >= usualN && !isTooCostly(before) ? before : newSealing()
  const key = await sealKey(passphrase, sealing)
  await write(seal(key, name, dated(key)), sealing)
}

/** Takes a plugin out of the lock. */
export async function forget(name: string, { confDir, data }: Settings): Promise<void> {
  const { plugins, sealing } = readLockContent(confDir)
  const { [name]: locked, ...others } = plugins
  if (locked === undefined) return
  await writeLock(confDir, others, sealing)
  await noteRemoved(data.dir, name, locked)
}

/** What is wrong with each plugin of the lock; undefined where its folder and the copy that is run have the bytes that were allowed. */
export function verify(lock: PluginLock, settings: Settings): readonly { name: string; problem: string | undefined }[] {
  return Object.entries(lock).map(([name, locked]) => ({ name, problem: problemOf(name, locked, settings) }))
}

function problemOf(name: string, { sha256 }: LockedPlugin, settings: Settings): string | undefined {
  try {
    const { files } = pluginOnDisk(name, settings)
    if (files.sha256 !== sha256) return `its folder holds other files: SHA-256 ${files.sha256}, allowed ${sha256}`
  } catch (thrown) {
    if (!(thrown instanceof PluginFault)) throw thrown
    return thrown.message
  }
  const kept = keptFolder(settings.data.dir, sha256, name)
  return isKept(kept, sha256) ? undefined : `its copy in ${kept} is not there or has other files: the next start makes it anew`
}

interface ChangedFile {
  readonly how: string
  /** The plugin's word. */
  readonly path: string
}

/** The files that differ from those that were allowed before, where these are still kept. */
export function changedFiles(now: PluginFiles, name: string, before: LockedPlugin, { data }: Settings): readonly ChangedFile[] | undefined {
  const folder = keptFolder(data.dir, before.sha256, name)
  if (!isKept(folder, before.sha256)) return undefined
  const old = new Map(readPluginFiles(folder).files.map(({ path, content }) => [path, content]))
  const changed = now.files.flatMap(({ path, content }) => {
    const was = old.get(path)
    old.delete(path)
    return was === undefined ? [{ how: 'new', path }] : was.equals(content) ? [] : [{ how: 'changed', path }]
  })
  return [...changed, ...[...old.keys()].map((path) => ({ how: 'gone', path }))]
}

// `sluice plugin add|update`: fetches a plugin of a third party, shows what it may do, and puts it where the server takes it up.
import { Command } from 'commander'
import { lockFile, readLock } from '../config/lock.ts'
import { didYouMean } from '../config/problems.ts'
import { command } from '../base/layout.ts'
import {
  PluginFault,
  isDeclared,
  pluginOnDisk,
  putBackLeftovers,
  record,
  sourceOf,
  stagePlugin,
  trustRemedy,
  type StagedPlugin,
} from '../plugins/index.ts'
import type { Settings } from '../config/settings.ts'
import { droppedSpenders, hasSpenders, revokeAll } from './plugin-allowances.ts'
import {
  consentTo,
  passphraseOf,
  run,
  tierOf,
  versionWords,
  whenInForce,
  withYes,
  type ConsentOptions,
  type SettingsOf,
  type Tier,
} from './plugin-consent.ts'

interface AddOptions extends ConsentOptions {
  readonly name?: string
}

const sources = `<source> is a package of the npm registry with its version (@acme/sluice-riverswap@1.2.0), a packed package (.tgz), a folder, or a git URL with a
tag or commit (https://example.org/riverswap.git#v1.2.0). npm and git are those that you have, with your settings; no script of a package is run.`

export function addCommands(settingsOf: SettingsOf): Command[] {
  const add = new Command('add')
    .description('fetch a plugin of a third party, show what it may do, ask, and put it where the server takes it up')
    .argument('<source>', 'a package with its version, a .tgz, a folder or a git URL')
    .option('--yes', 'do not ask')
    .option('--trusted', 'let it run in the server itself: for what cannot be contained')
    .option('--name <name>', "its manifest's name, where the package's name does not say it")
    .option('--url <url>', 'the running server, which says what wallets have approved (default: that of these settings, on this machine)')
    .addHelpText('after', `\n${sources}`)
    .action((source: string, options: AddOptions) => run(async () => added(source, options, settingsOf())))

  const update = new Command('update')
    .description('fetch another version of a plugin that was added, show what changed since it was allowed, and ask')
    .argument('<name>', "the plugin's folder")
    .argument('[version]', 'the version, or a source as for add; without it the newest one of where it came from')
    .option('--yes', 'do not ask')
    .option('--trusted', `for one that is trusted, ${withYes}`)
    .option('--url <url>', 'the running server, which revokes (default: that of these settings, on this machine)')
    .addHelpText('after', `\n${sources}`)
    .action((name: string, version: string | undefined, options: AddOptions) =>
      run(async () => updated(name, version, options, settingsOf())),
    )
  return [add, update]
}

async function added(source: string, { yes, trusted, name, url }: AddOptions, settings: Settings): Promise<string> {
  const staged = await stagePlugin(source, { settings, ...(name !== undefined && { name }) })
  try {
    return await settle(staged, () => tierOf(staged.onDisk, trusted ? 'trusted' : 'contained'), { yes, trusted, url }, settings)
  } catch (thrown) {
    if (!(thrown instanceof PluginFault)) throw thrown
    // It is not there, and so cannot be trusted by its name.
    const remedy = thrown.remedy.replace(trustRemedy(staged.name), `If you trust it: ${command} plugin add ${source} --trusted`)
    throw new PluginFault(thrown.step, thrown.message, remedy)
  }
}

async function updated(name: string, version: string | undefined, options: AddOptions, settings: Settings): Promise<string> {
  const lock = readLock(settings.confDir)
  const before = lock[name]
  if (before === undefined)
    throw new Error(`${name} is not in ${lockFile(settings.confDir)}${didYouMean(name, Object.keys(lock))}: ${command} plugin add <source>`)
  if (options.trusted && before.tier !== 'trusted') throw raised(name, 'trusted')
  await putBackLeftovers(settings)
  const { plugin } = pluginOnDisk(name, settings)
  const { sha256, source } = before
  const replaces = { name, folder: plugin.origin, sha256, ...(source !== undefined && { source }) }
  const staged = await stagePlugin(newer(source, version, name), { settings, replaces })
  return settle(staged, () => tierOfUpdate(staged, before.tier), options, settings)
}

/** From the one that may do least to the one that may do most. */
const tiers: readonly Tier[] = ['data', 'contained', 'trusted']

/** That of before, or a lower one where its code is gone. @throws PluginFault where it would be a higher one: its authors decide what an update brings */
function tierOfUpdate({ name, onDisk }: StagedPlugin, before: Tier): Tier {
  const tier = tierOf(onDisk, isDeclared(onDisk.plugin) ? 'data' : before)
  if (tiers.indexOf(tier) > tiers.indexOf(before)) throw raised(name, tier)
  return tier
}

const raised = (name: string, tier: Tier): PluginFault =>
  new PluginFault(
    'consent',
    tier === 'trusted'
      ? `${name} is not trusted, and an update does not change that: nothing was changed`
      : `${name} was allowed as data alone, and the new version has code: nothing was changed`,
    tier === 'trusted'
      ? `Update it without --trusted. If you trust it then: ${command} plugin trust ${name}`
      : `To let its code run, contained: ${command} plugin remove ${name}, then ${command} plugin add <source>.`,
  )

/** What to fetch for another version. @throws PluginFault where that is not known */
function newer(source: string | undefined, version: string | undefined, name: string): string {
  const [, kind, from = ''] = /^(npm|git):(.+)$/.exec(source ?? '') ?? []
  const isVersion = version === undefined || /^[\w.+~^-]+$/.test(version)
  if (kind === 'npm' && isVersion && !isThere(version)) return `${from}@${version ?? 'latest'}`
  if (kind === 'git' && isVersion && !isThere(version)) return `git+${from}${version === undefined ? '' : `#${version}`}`
  // Of a tarball or a folder no version can be asked for, and the registry has packages of such names, by anybody.
  const isNoSource = version === undefined || (!isThere(version) && /^(v?\d[\w.+-]*|latest|next)$/.test(version))
  if (!isNoSource) return version
  throw new PluginFault(
    'find',
    `${name} came from ${source ?? 'a folder'}, where no other version can be asked for`,
    `Name it: ${command} plugin update ${name} <source>`,
  )
}

/** A file or folder of that name is meant by it. */
function isThere(version: string | undefined): boolean {
  if (version === undefined || !/[/\\.]/.test(version)) return false
  try {
    return ['folder', 'tarball'].includes(sourceOf(version).is)
  } catch {
    return false
  }
}

/** Shows it, asks, and puts it in its place; or leaves everything as it was. */
async function settle(staged: StagedPlugin, tierNow: () => Tier, options: ConsentOptions, settings: Settings): Promise<string> {
  const { name, onDisk, source } = staged
  const before = readLock(settings.confDir)[name]
  try {
    const tier = tierNow()
    if (before?.sha256 === onDisk.files.sha256 && before.tier === tier) return `${name} has these files already.`
    const asked = await consentTo({
      name,
      onDisk,
      before,
      tier,
      yes: options.yes === true,
      trusts: options.trusted === true,
      url: options.url,
      settings,
    })
    const passphrase = await passphraseOf(settings)
    // Its files are moved from there.
    const inForce = whenInForce(asked, onDisk.plugin.folder)
    const dropped = before && droppedSpenders(before, asked)
    const revocation = dropped && hasSpenders(dropped) ? await revokeAll(name, dropped, options, settings) : undefined
    await staged.commit(() => record(name, { ...asked, source }, settings, passphrase))
    const done = `${name}${versionWords(asked.version)} is ${before ? 'updated' : 'added'}, in ${lockFile(settings.confDir)}. ${inForce}`
    const revoked = revocation ? ['Spenders that it has no more:', ...revocation.said, ...(await revocation.finish(asked.sha256))] : []
    return [...revoked, done].join('\n')
  } finally {
    await staged.discard()
  }
}

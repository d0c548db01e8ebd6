// `sluice plugin show|allow|trust|verify|remove`: what a plugin of a third party may do, and the operator's word on it.
import { rmSync } from 'node:fs'
import { Command } from 'commander'
import { readLock, lockFile, type LockedPlugin } from '../config/lock.ts'
import { ConfigError, didYouMean } from '../config/problems.ts'
import type { Settings } from '../config/settings.ts'
import { devnetFileOf } from '../devnet/outside.ts'
import { builtInPlugins, command, version } from '../base/layout.ts'
import {
  PluginFault,
  changedFiles,
  declaredCode,
  dotNameIn,
  examine,
  findPlugins,
  forget,
  isConfNewer,
  isDeclared,
  pluginNames,
  pluginOnDisk,
  record,
  verify,
  whyNotContained,
  withArticle,
  type PluginOnDisk,
} from '../plugins/index.ts'
import { named, oneLine, quoted } from '../base/printable.ts'
import { keystoreHasKeys } from '../keys/keystore-files.ts'
import { canChange } from '../wallet/changeable.ts'
import { invalidRecords } from '../wallet/own-policy.ts'
import { ownersOf, releasedOwners, releasedScope, type ReleasedScope } from '../wallet/policy-files.ts'
import { ask, hasTerminal } from '../base/terminal.ts'
import { passphraseForNewKey, passphraseFromFile, sealPassphrase } from '../keys/get-passphrase.ts'
import { complain, isYes, printError, printResult } from './output.ts'
import { rightsWords } from './plugin-rights.ts'
import { revokeAll, type RevokeOptions } from './plugin-allowances.ts'

export type SettingsOf = () => Settings
export type Tier = LockedPlugin['tier']

export function consentCommands(settingsOf: SettingsOf): Command[] {
  const show = new Command('show')
    .description('show what a plugin may do, and what changed since it was allowed; asks nothing and runs none of its code')
    .argument('<name>', "the plugin's folder")
    .action((name: string) => run(async () => shown(name, settingsOf())))

  const remember = (tier: Tier, description: string) => {
    const remembering = new Command(tier === 'trusted' ? 'trust' : 'allow')
    if (tier === 'trusted') remembering.option('--trusted', withYes)
    return remembering
      .description(description)
      .argument('<name>', "the plugin's folder")
      .option('--yes', 'do not ask')
      .option('--url <url>', 'the running server, which says what wallets have approved (default: that of these settings, on this machine)')
      .addHelpText('after', `\n${about[tier]}\nIt is recorded in sluice.lock beside the conf folder, with the SHA-256 of all its files.`)
      .action((name: string, options: ConsentOptions) => run(async () => consent(name, tier, options, settingsOf())))
  }

  const check = new Command('verify')
    .description('check that the plugins of sluice.lock have the files that were allowed; exits with 1 when not')
    .argument('[name]', 'only this one')
    .action((name?: string) => run(async () => verified(name, settingsOf())))

  const remove = new Command('remove')
    .description('revoke what its spenders may take, and take a plugin out of sluice.lock: it is not loaded any more')
    .argument('<name>', "the plugin's folder")
    .option('--yes', 'revoke without asking')
    .option('--url <url>', 'the running server, which revokes (default: that of these settings, on this machine)')
    .action((name: string, options: RevokeOptions) => run(async () => removed(name, options, settingsOf())))

  return [
    show,
    remember('contained', 'show what a plugin of a third party may do, ask, and let exactly these files run'),
    check,
    remember('trusted', 'let a plugin of a third party run in the server itself, with all the rights of its user'),
    remove,
  ]
}

export interface ConsentOptions extends RevokeOptions {
  /** Trusted without a question, where `yes` is there too: `yes` alone trusts nothing. */
  readonly trusted?: boolean | undefined
}

export const withYes = 'with --yes: trust these files without a question, which --yes alone does not'

const about: Readonly<Record<Tier, string>> = {
  contained:
    'An allowed plugin may have the wallets call the contracts that it names, and tokens approved to its spenders. What its trades do to a wallet\n' +
    'is simulated before they are signed; bots give a limitPrice, unless a built-in connector has the same pair at nearly the same price. It runs in a\n' +
    'process of its own, which sees no file and no network. On Solana its programs get no signature of a wallet: they are called by a new account, which\n' +
    'may take what the trade needs. What cannot run so (chains, exchanges of signed actions) has to be trusted instead.',
  trusted:
    'A trusted plugin runs in the server: it reads what the server reads, the keystore among it, and can change what others do. Chains\n' +
    'and exchanges of signed actions run in no other way. Trust what you have read, or whose authors you would give your server to.',
  data:
    'It is data alone: nothing of it is run. A kit of this release reads it. It may have the wallets call the contracts that it names, and tokens approved\n' +
    'to its spenders, in exact amounts. What its trades do to a wallet is simulated before they are signed; bots give a limitPrice, unless a built-in\n' +
    'connector has the same pair at nearly the same price. The nodes of a chain are those of your conf.',
}

export const run = (command: () => Promise<string>): Promise<void> =>
  printResult(() =>
    command().catch((thrown: unknown) => {
      if (thrown instanceof PluginFault) throw new Error(`${thrown.message}.\n${thrown.remedy}`)
      if (thrown instanceof ConfigError) throw new Error(thrown.message)
      throw thrown
    }),
  )

async function shown(name: string, settings: Settings): Promise<string> {
  const { folders, disabled } = settings.plugins
  const isBuiltIn = findPlugins(folders, disabled).found.some((each) => each.name === name && each.builtIn)
  const scope = isBuiltIn ? releasedScope(name, { confDir: settings.confDir, environment: process.env }) : undefined
  if (scope) return builtInWords(name, scope).join('\n')
  // Of the release's plugins these alone have nothing that the signer goes by.
  if (isBuiltIn)
    return [
      `${name} ${version}, an interface, built in: this release allows it`,
      interfaceServes,
      '  any path: what its request is for',
    ].join('\n')
  const onDisk = pluginOnDisk(name, settings)
  const locked = readLock(settings.confDir)[name]
  const lines = [...(await codeWords(onDisk)), `${name}: ${size(onDisk)}`, `SHA-256 ${onDisk.files.sha256}`]
  if (locked === undefined)
    return [...lines, `It was not allowed: it does not run. To see what it asks for: ${command} plugin allow ${name}`].join('\n')
  if (locked.sha256 === onDisk.files.sha256) {
    const ofConf = isConfNewer(onDisk, locked, settings) ? ['', `${confChanged} ${confRemedy(name, locked)}`] : []
    return [...lines, '', ...words(name, locked, settings), ...ofConf].join('\n')
  }
  return [
    ...lines,
    'These files were not allowed, so it does not run. What was allowed:',
    '',
    ...words(name, locked, settings),
    '',
    ...changes(name, onDisk, locked, settings),
  ].join('\n')
}

/** The code that takes the place of a plugin that is data alone. */
async function codeWords({ plugin }: PluginOnDisk): Promise<string[]> {
  if (!isDeclared(plugin)) return []
  try {
    const files = Object.entries(await declaredCode(plugin.entry)).flatMap(([file, code]) => [`--- ${file}`, code])
    return [
      'plugin.yml is deprecated. Put these files into its place, and allow the plugin again; trust it where it is a chain.',
      ...files,
      '---',
    ]
  } catch (thrown) {
    if (thrown instanceof PluginFault) return [`${thrown.message}.`]
    throw thrown
  }
}

const confChanged = 'Your conf has other contracts than were allowed.'

/** What the signer does until then. */
const confRemedy = (name: string, { tier }: LockedPlugin): string =>
  `On the networks above the signer goes by those in conf from the next start on; for others it signs nothing before you type ${command} plugin ${tier === 'trusted' ? 'trust' : 'allow'} ${name} again.`

async function consent(name: string, asking: Tier, { yes, trusted, url }: ConsentOptions, settings: Settings): Promise<string> {
  const onDisk = pluginOnDisk(name, settings)
  const tier = tierOf(onDisk, asking)
  const before = readLock(settings.confDir)[name]
  let passphrase: string | undefined
  const hasSameFiles = before?.sha256 === onDisk.files.sha256
  const confIsNewer = hasSameFiles && isConfNewer(onDisk, before, settings)
  if (hasSameFiles && before.tier === tier && !confIsNewer) {
    passphrase = await passphraseOf(settings)
    const unheld = (await invalidRecords(settings, passphrase)).find((each) => each.name === name)
    if (!unheld) return `${name} is ${tier === 'trusted' ? 'trusted' : 'allowed'} already, with these files.`
    complain(`The signer does not sign for ${name}: ${unheld.problem}.`)
  }
  const asked = await consentTo({ name, onDisk, before, tier, yes: yes === true, trusts: trusted === true, url, settings })
  await record(name, asked, settings, passphrase ?? (await passphraseOf(settings)))
  return `${name} is ${tier === 'trusted' ? 'trusted' : 'allowed'}, in ${lockFile(settings.confDir)}. ${whenInForce(asked, onDisk.plugin.folder)}`
}

/** Data alone has a tier of its own, whichever was asked for. @throws Error where there is no code to trust */
export function tierOf({ plugin }: PluginOnDisk, asking: Tier): Tier {
  if (!isDeclared(plugin)) return asking === 'data' ? 'contained' : asking
  if (asking !== 'trusted') return 'data'
  const { name } = plugin
  throw new Error(`${name} is data alone: there is no code to trust. See what it may do, and allow it: ${command} plugin allow ${name}`)
}

/** When a running server goes by what was recorded. */
export function whenInForce(record: Pick<LockedPlugin, 'tier' | 'kind'>, folder: string): string {
  if (whyRestart(record) !== undefined) return `A running server takes it up when it is restarted: ${whyRestart(record)}.`
  const alone = 'A running server takes it up by itself.'
  return devnetFileOf(folder) === undefined ? alone : `${alone} Where it runs a devnet, its contracts are deployed there.`
}

/** Why a running server does not take a change of it up. */
function whyRestart({ tier, kind }: Pick<LockedPlugin, 'tier' | 'kind'>): string | undefined {
  if (kind === 'chain') return 'nonces, open transactions and what the signer signs depend on a chain'
  if (kind === 'interface') return 'listeners are opened when it starts'
  return tier === 'trusted' ? 'code that runs in the server cannot be changed while it runs' : undefined
}

interface ConsentRequest {
  readonly name: string
  readonly onDisk: PluginOnDisk
  /** What was allowed of it, if anything was. */
  readonly before: LockedPlugin | undefined
  readonly tier: Tier
  readonly yes: boolean
  /** Said by a flag of its own. */
  readonly trusts: boolean
  /** Of the running server, where it is not that of the settings. */
  readonly url?: string | undefined
  readonly settings: Settings
}

/** Shows what a plugin may do, and asks. Records nothing. @returns the record @throws Error without a yes */
export async function consentTo({ name, onDisk, before, tier, yes, trusts, url, settings }: ConsentRequest): Promise<LockedPlugin> {
  const say = (lines: readonly string[]) => complain(lines.join('\n'))
  say([`${name}: ${size(onDisk)}`, `SHA-256 ${onDisk.files.sha256}`])
  if (before) say(changes(name, onDisk, before, settings))
  if (before?.sha256 === onDisk.files.sha256 && isConfNewer(onDisk, before, settings)) say([confChanged])
  if (tier !== 'data') await askToRun(yes, onDisk.plugin.folder, settings, say)
  const asked = await examine(onDisk, tier, settings)
  if (before && before.kind !== asked.kind) throw ofAnotherKind(name, before.kind, asked.kind)
  say(['', ...words(name, asked, settings), ...(before ? ['', ...declaredChanges(before, asked, settings)] : [])])
  const rights = await rightsWords(asked, settings, url)
  if (rights.length > 0) say(rights)
  const { meaning, question, answer } = lastQuestion(name, asked, before)
  say(['', ...meaning])
  await confirm(question, {
    yes: yes && (tier !== 'trusted' || trusts),
    answer,
    flags: tier === 'trusted' ? '--yes and --trusted: --yes alone trusts nothing' : '--yes',
  })
  return asked
}

const ofAnotherKind = (name: string, was: LockedPlugin['kind'], is: LockedPlugin['kind']): PluginFault =>
  new PluginFault(
    'consent',
    `${name} was allowed as ${withArticle(was)}, and says now that it is ${withArticle(is)}: nothing was changed`,
    `If that is meant: ${command} plugin remove ${name}, and then allow it anew.`,
  )

/** Where it runs, for people. */
const places: Readonly<Record<Tier, string>> = {
  contained: 'contained, in a process of its own',
  trusted: 'trusted, in the server itself',
  data: 'data alone, of which nothing is run',
}

interface LastQuestion {
  readonly meaning: readonly string[]
  readonly question: string
  /** What has to be typed: the name of what is to run in the server. */
  readonly answer: string
}

/** What is asked last, and what the answer means: a change of the tier stands where it is read. */
export function lastQuestion(
  name: string,
  { kind, tier }: Pick<LockedPlugin, 'kind' | 'tier'>,
  before: Pick<LockedPlugin, 'tier'> | undefined,
): LastQuestion {
  const meaning = [
    ...(before && before.tier !== tier ? [`Its tier changes: it was ${places[before.tier]}. From now on it is ${places[tier]}.`] : []),
    about[tier],
  ]
  if (tier !== 'trusted') return { meaning, question: `Allow ${name} as ${withArticle(kind)}? Type yes: `, answer: 'yes' }
  return { meaning, question: `Trust ${name} as ${withArticle(kind)}, in the server itself? Type its name: `, answer: name }
}

/**
 * Where nobody can be asked, contained code is run all the same: without what it declares nobody could say whether it may. @throws Error where the
 * answer is no
 */
async function askToRun(yes: boolean, folder: string, settings: Settings, say: (lines: readonly string[]) => void): Promise<void> {
  const notContained = await whyNotContained(settings)
  if (notContained && settings.plugins.hostSocket !== undefined) throw notContained
  say([
    '',
    notContained === undefined
      ? 'Its code is run once now, to read what it declares: contained, without files, network and environment.'
      : 'Its code is run once now, to read what it declares. This system cannot contain it: it can do there what you can.',
  ])
  if (hasTerminal() || yes) return confirm('Go on? Type yes: ', { yes, answer: 'yes', flags: '--yes' })
  if (notContained)
    throw new Error(
      `There is no terminal to ask at, and what it may do is not shown before its code is run: read ${folder}, and say --yes.`,
    )
}

/** It seals what is recorded: that of the seals, or of the keystore, where it has keys. @throws Error where that does not open them */
export const passphraseOf = async ({ data, wallet }: Settings): Promise<string | undefined> =>
  sealPassphrase(wallet) ?? (keystoreHasKeys(data.dir) ? passphraseForNewKey(data.dir, givenPassphrase(wallet)) : undefined)

const givenPassphrase = ({ passphraseFile }: Settings['wallet']): string | undefined =>
  passphraseFromFile({ SLUICE_WALLET_PASSPHRASE_FILE: passphraseFile })

/** That of the seals where nobody has to be asked. */
const givenForSeals = (wallet: Settings['wallet']): string | undefined => sealPassphrase(wallet) ?? givenPassphrase(wallet)

interface Confirmation {
  /** It was answered by flags. */
  readonly yes: boolean
  readonly answer: string
  /** Which do. */
  readonly flags: string
}

async function confirm(question: string, { yes, answer, flags }: Confirmation): Promise<void> {
  if (yes) return
  if (!hasTerminal()) throw new Error(`There is no terminal to ask at; nothing was changed. Read what is above, and say ${flags}.`)
  const said = await ask(question)
  if (answer === 'yes' ? !isYes(said) : said.trim() !== answer) throw new Error('Not allowed; nothing was changed.')
}

async function verified(name: string | undefined, settings: Settings): Promise<string> {
  const lock = readLock(settings.confDir)
  const only = name === undefined ? lock : Object.fromEntries(Object.entries(lock).filter(([each]) => each === name))
  if (name !== undefined && Object.keys(only).length === 0) throw new Error(`${notLocked(name, settings)}.`)
  const checked = verify(only, settings)
  if (checked.length === 0) return 'No plugin of a third party was allowed.'
  for (const { name: each, problem } of checked) if (problem !== undefined) printError(`${each}: ${problem}`)
  const { confDir, data, wallet } = settings
  const sealsCount = (wallet.sealPassphraseFile !== undefined || keystoreHasKeys(data.dir)) && canChange(lockFile(confDir))
  const passphrase = sealsCount ? (givenForSeals(wallet) ?? (hasTerminal() ? await passphraseOf(settings) : undefined)) : undefined
  const unheld = (await invalidRecords(settings, passphrase)).filter((each) => Object.hasOwn(only, each.name))
  for (const { name: each, problem, remedy } of unheld) printError(`${each}: the signer does not sign for it: ${problem}. ${remedy}`)
  return [
    ...checked.flatMap(({ name: each, problem }) => (problem === undefined ? [`${each} has the files that were allowed.`] : [])),
    ...(!sealsCount || unheld.length > 0
      ? []
      : [
          passphrase === undefined
            ? 'The seals were not checked: name the file with the passphrase in SLUICE_WALLET_PASSPHRASE_FILE.'
            : 'The seals hold.',
        ]),
  ].join('\n')
}

async function removed(name: string, options: RevokeOptions, settings: Settings): Promise<string> {
  const locked = readLock(settings.confDir)[name]
  if (locked === undefined) throw new Error(`${notLocked(name, settings)}; nothing was changed.`)
  const revocation = await revokeAll(name, locked, options, settings)
  await forget(name, settings)
  const folder = locked.source === undefined ? undefined : takeAway(name, locked, settings)
  return [
    ...revocation.said,
    ...(await revocation.finish()),
    `${name} is not allowed any more. ${whyRestart(locked) === undefined ? 'A running server follows its open transactions to their end, and takes nothing new for it.' : `A running server uses it until it is restarted: ${whyRestart(locked)}.`}`,
    ...(folder === undefined ? [] : [`Its folder ${folder} was deleted.`]),
  ].join('\n')
}

function notLocked(name: string, { confDir }: Settings): string {
  if (pluginNames([builtInPlugins]).includes(name))
    return `${name} is a plugin of this release: to do without it, put it into plugins.disabled in conf/server.yml`
  return `${name} is not in ${lockFile(confDir)}${didYouMean(name, Object.keys(readLock(confDir)))}`
}

/** Deletes the folder that `plugin add` made, unless somebody changed it or put something into it since. @returns the folder */
function takeAway(name: string, { sha256 }: LockedPlugin, settings: Settings): string | undefined {
  try {
    const { plugin, files } = pluginOnDisk(name, settings)
    if (files.sha256 !== sha256 || dotNameIn(plugin.origin) !== undefined) return undefined
    rmSync(plugin.origin, { recursive: true, force: true })
    return plugin.origin
  } catch (thrown) {
    if (thrown instanceof PluginFault) return undefined
    throw thrown
  }
}

const size = ({ files: { files } }: PluginOnDisk): string =>
  `${files.length} ${files.length === 1 ? 'file' : 'files'}, ${Math.ceil(files.reduce((sum, { content }) => sum + content.length, 0) / 1024)} KiB`

/** Of what a plugin says of itself nothing can be taken for Sluice's own word. */
export const versionWords = (version: string | undefined): string =>
  version === undefined ? '' : named(version) === version ? ` ${version}` : `, by its own word of the version ${quoted(version)}`

/** As it is written where it is a plain path, else in quotes. */
const spokenPath = (path: string): string => (/^(GET|POST|DELETE) [\w/:.~-]{1,200}$/.test(path) ? path : quoted(path))

const interfaceServes =
  'With a port it answers requests there, and sees all of them. For the caller of a request it may call, with the rights of that caller:'

/** Which requests it answers, and what it may do for their callers. */
function interfaceWords({ tier, calls, decides = [] }: Pick<LockedPlugin, 'tier' | 'calls' | 'decides'>): string[] {
  return [
    interfaceServes,
    ...(calls === undefined
      ? [
          '  any path with GET: every endpoint that reads',
          '  any other path: every endpoint that reads, or makes a transaction. It does not name its paths.',
        ]
      : Object.entries(calls).map(
          ([path, endpoints]) => `  ${spokenPath(path)}: ${endpoints.length === 0 ? 'nothing' : endpoints.map(named).join(', ')}`,
        )),
    ...decides.map(
      (path) =>
        `  ${spokenPath(path)} signs amounts, tokens and wallets that its caller did not name, and as many transactions as it wants`,
    ),
    ...(tier === 'trusted' ? [] : [`${decides.length > 0 ? 'Other' : 'Its'} paths sign what their callers sent, once for each endpoint.`]),
    'Give its callers certificates with few permissions and limits.',
  ]
}

/** What it may do, for people. */
function words(name: string, record: LockedPlugin, { confDir }: Settings): string[] {
  const { version, kind, tier, keys, networks, signs, hosts, deposits } = record
  // A contract takes a call of the wallet for the wallet's own, whichever plugin made it.
  const owners = tier === 'trusted' ? {} : releasedOwners({ confDir, environment: process.env })
  const venues = Object.entries(networks).flatMap(([network, { contracts, spenders, chainId, local }]) => [
    `On ${named(network)}${chainId === undefined ? '' : `, chain id ${chainId}`}${local ? ', a local network: keys that everybody knows sign there' : ''}${Object.keys(contracts).length === 0 ? '.' : ', where wallets may be made to call'}`,
    ...Object.entries(contracts).map(
      ([label, address]) =>
        `  ${named(address)}  ${named(label)}${spenders.includes(address) ? ', and approve tokens to it' : ''}${sharedWords(ownersOf(owners, network, address))}`,
    ),
  ])
  const lines = [
    `${name}${versionWords(version)}, ${withArticle(kind)}, ${tierWords[tier]}`.trimStart(),
    ...(kind === 'interface' ? interfaceWords(record) : []),
    ...(keys === undefined ? [] : [`The keys of its wallets are on the curve ${keys}.`]),
    ...venues,
    ...depositWords(tier, deposits),
    ...signWords(signs),
    ...webWords(tier, hosts),
  ]
  return lines.map(oneLine)
}

function builtInWords(name: string, { kind, networks, spenders, signs }: ReleasedScope): string[] {
  return [
    `${name} ${version}, a ${kind}, built in: this release allows it`,
    ...networks.flatMap(({ on, chainId, contracts }) => [
      `On ${on}${chainId ? `, chain id ${chainId}` : ''}${Object.keys(contracts).length === 0 ? '.' : ', where wallets may be made to call'}`,
      ...Object.entries(contracts).map(
        ([label, address]) => `  ${String(address)}  ${label}${spenders.includes(label) ? ', and approve tokens to it' : ''}`,
      ),
    ]),
    ...signWords(signs),
  ].map(oneLine)
}

const signWords = (signs: ReleasedScope['signs']): string[] =>
  signs.length === 0
    ? ['It has no typed data signed.']
    : ['It may have typed data signed:', ...signs.map(({ domain, primaryType }) => `  ${named(primaryType)} of ${named(domain)}`)]

/** Nobody but a trusted one has any signed. */
const depositWords = (tier: Tier, deposits: LockedPlugin['deposits'] = []): string[] =>
  tier !== 'trusted' || deposits.length === 0
    ? []
    : [
        'It may have deposits sent to these addresses, which leave the wallet by a plain transfer:',
        ...deposits.map(
          ({ chain, network, token, recipient }) =>
            `  ${named(recipient)}  of the token ${named(token)} on ${named(`${chain}/${network}`)}`,
        ),
      ]

const tierWords: Readonly<Record<Tier, string>> = {
  contained: 'allowed',
  trusted: 'trusted: it runs in the server',
  data: 'allowed: it is data alone, without code',
}

const sharedWords = (owners: readonly string[]): string =>
  owners.length === 0 ? '' : ` (of ${owners.join(', ')} too: it reaches what your wallets have there)`

/** A plugin learns the orders that are sent to it, and may tell them to whom it reaches. */
function webWords(tier: LockedPlugin['tier'], hosts: readonly string[]): string[] {
  const all = hosts.map(named).join(', ')
  if (tier === 'data') return ['It reaches no host on the web, and learns no orders.']
  if (tier === 'trusted')
    return [
      hosts.length === 0 ? 'Its defaults name no host.' : `Its defaults name these hosts: ${all}`,
      'It learns the orders that are sent to it, and may tell them to every host: it runs in the server.',
    ]
  if (hosts.length === 0) return ['It reaches no host on the web.', 'It learns the orders that are sent to it.']
  return [`It may ask these hosts on the web: ${all}`, 'It learns the orders that are sent to it, and may tell them to these hosts.']
}

function changes(name: string, { files }: PluginOnDisk, before: LockedPlugin, settings: Settings): string[] {
  const changed = changedFiles(files, name, before, settings)
  if (changed === undefined)
    return [`What was allowed before (SHA-256 ${before.sha256}) is not kept any more, so what changed cannot be shown.`]
  if (changed.length === 0) return []
  return ['Files that changed since it was allowed:', ...changed.map(({ how, path: file }) => `  ${how.padEnd(7)}  ${named(file)}`)]
}

/** What it asks for more, or not any more. */
function declaredChanges(before: LockedPlugin, now: LockedPlugin, settings: Settings): string[] {
  const [old, fresh] = [before, now].map((each) => new Set(words('', each, settings)))
  if (old === undefined || fresh === undefined) return []
  const lines = [
    ...[...fresh].filter((each) => !old.has(each)).map((each) => `+ ${each}`),
    ...[...old].filter((each) => !fresh.has(each)).map((each) => `- ${each}`),
  ]
  return lines.length === 0 ? ['It asks for what it was allowed before.'] : ['Against what was allowed before:', ...lines]
}

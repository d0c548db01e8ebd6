import { existsSync, statSync, readdirSync, type Dirent } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { builtInPlugins } from '../base/layout.ts'
import { alertsFile, readAlerts, type AlertSettings } from './alerts-file.ts'
import { checkFile, compile, type Override, type SeparateEntries } from './check.ts'
import { readClients, type Client, type ClosedRight, type UnlistedClients } from './clients.ts'
import { ConfigError, type ConfigProblem, nearest, suggestion } from './problems.ts'
import {
  serverFile,
  sslFile,
  type SettingsFile,
  serverSchema,
  sslSchema,
  type ServerSettings,
  type SslSettings,
  passphraseVariable,
  sealVariable,
  refusePassphrase,
  type SettingKey,
  settingKeys,
} from './settings-schema.ts'
import { mapTexts, variable, type Environment, type Section } from './tree.ts'
import type { PluginKind } from '../contracts/plugin.ts'
import type { KeySourceSetting } from '../keys/key-source.ts'
import { keySourceSetting } from '../keys/sources.ts'
import { openingForm, readOpening } from './openings.ts'
import { locate, readYaml, readTextFile } from './yaml.ts'

/** All settings, checked, with absolute paths. */
export type Settings = Omit<ServerSettings, 'wallet'> & {
  ssl: SslSettings
  /** Absent without `conf/alerts.yml`: nobody is told of anything. */
  alerts?: AlertSettings
  clients: readonly Client[]
  unlisted: UnlistedClients
  /** Entries about rights that are wrong: nobody gets these rights. */
  closed: readonly ClosedRight[]
  wallet: Omit<ServerSettings['wallet'], 'keySources'> & {
    readonly keySources: readonly KeySourceSetting[]
    /** The file with the keystore's passphrase. The passphrase is read where it is used, and not kept in memory. */
    passphraseFile?: string
    /** The file with the passphrase of the seals of sluice.lock, where they do not have the keystore's. */
    sealPassphraseFile?: string
  }
  /** The folder with conf, certs, data and plugins: relative paths of the settings start here. */
  home: string
  confDir: string
  /** The same with secrets masked, for printing. */
  shown: Section
  /** For the operator; none of them stops the start. */
  warnings: readonly string[]
}

interface SettingsSources {
  flags?: Flags
  env?: Environment
  /** The value of `--home`; by default `SLUICE_HOME`, then the folder above a named conf folder, then the working directory. */
  home?: string
  /** The value of `--conf`; by default `SLUICE_CONF`, then `conf` in the home. */
  confDir?: string
}

const validateServer = compile(serverSchema)
const validateSsl = compile(sslSchema)

/**
 * Reads conf/server.yml, conf/ssl.yml, conf/clients.yml and conf/alerts.yml. Precedence: flag, environment, file, default. @throws ConfigError with every
 * problem
 */
export function loadSettings({ flags = {}, env = process.env, confDir, home: namedHome }: SettingsSources = {}): Settings {
  const named = confDir ?? variable(env, 'SLUICE_CONF')
  const home = resolve(namedHome ?? variable(env, 'SLUICE_HOME') ?? (named === undefined ? '.' : dirname(resolve(named))))
  const folder = named === undefined ? join(home, 'conf') : resolve(named)
  // Before anything is read there, which would fail in words of its own. A start makes the home, but no conf that was named.
  if (named !== undefined && !isFolder(folder)) throw wrongFolder(folder, 'conf', confDir !== undefined)
  let there = home
  while (!existsSync(there)) there = dirname(there)
  if (!isFolder(there)) throw wrongFolder(there, 'home', namedHome !== undefined)
  const problems: ConfigProblem[] = []
  const inConf = (file: string) => join(basename(folder), file)
  const read = (file: string, withTraps = false) => readYaml(join(folder, file), inConf(file), problems, withTraps)
  const layers = ({ file, keys, defaults }: SettingsFile) => ({
    file: inConf(file),
    defaults,
    overrides: overridesOf(keys, flags, env, home, problems),
    yaml: read(file),
  })

  problems.push(...unknownFlags(flags))
  const serverLayers = layers(serverFile)
  refusePassphrase(serverLayers.yaml, env, problems)
  const closedSpenders: ClosedRight[] = []
  const server = checkFile(validateServer, { ...serverLayers, entries: spenderEntries(closedSpenders) }, env, problems)
  for (const [index, text] of server?.value.books.opening.entries() ?? [])
    if (readOpening(text) === undefined)
      problems.push({
        ...locate(`/books/opening/${index}`, serverLayers.yaml ? [serverLayers.yaml] : [], serverLayers.file),
        problem: 'has a date that is none',
        remedy: `Write ${openingForm}.`,
      })
  const ssl = checkFile(validateSsl, layers(sslFile), env, problems)
  const clients = readClients(read('clients.yml', true), inConf('clients.yml'), env, problems)
  const alerts = readAlerts({ confDir: folder, home, env }, overridesOf(alertsFile.keys, flags, env, home, problems), problems)
  const passphraseFile = readPassphraseFile(passphraseVariable, env, home, problems)
  const sealPassphraseFile = readPassphraseFile(sealVariable, env, home, problems)
  const closed = [...closedSpenders, ...(clients?.closed ?? [])]
  if (!server || !ssl || !clients || problems.length > 0) throw new ConfigError([...problems, ...closed])

  const { plugins, data, wallet, signer } = server.value
  return {
    ...server.value,
    plugins: {
      ...plugins,
      folders: plugins.folders.flatMap((path) => pluginFolders(home, path)),
      ...(plugins.hostSocket !== undefined && { hostSocket: resolve(home, plugins.hostSocket) }),
    },
    data: { dir: resolve(home, data.dir) },
    signer: signer.socket === undefined ? {} : { socket: resolve(home, signer.socket) },
    wallet: {
      ...wallet,
      keySources: wallet.keySources.map(keySourceSetting),
      ...(passphraseFile !== undefined && { passphraseFile }),
      ...(sealPassphraseFile !== undefined && { sealPassphraseFile }),
    },
    ssl: { certsDir: resolve(home, ssl.value.certsDir) },
    ...(alerts && { alerts }),
    clients: clients.clients,
    unlisted: clients.unlisted,
    closed,
    home,
    confDir: folder,
    shown: { ...server.shown, ssl: ssl.shown, ...clients.shown },
    warnings: [...unknownVariables(env), ...confFolderWarnings(folder)],
  }
}

/** Spenders that the operator allows hold by themselves. */
const spenderEntries = (closed: ClosedRight[]): SeparateEntries => ({
  at: (pointer) => /^\/wallet\/allowedSpenders\/\d+/.exec(pointer)?.[0],
  onLeftOut: (_entry, wrong) => void closed.push(...wrong.map((each) => ({ ...each, closed: 'nobody may be approved by it' }))),
})

const isFolder = (file: string) => existsSync(file) && statSync(file).isDirectory()

/** What was named as a folder and is none. */
function wrongFolder(folder: string, name: 'home' | 'conf', isFlag: boolean): ConfigError {
  return new ConfigError([
    {
      file: isFlag ? 'command line' : 'environment',
      path: isFlag ? `--${name}` : `SLUICE_${name.toUpperCase()}`,
      problem: `names ${folder}, which ${existsSync(folder) ? 'is not a folder' : 'does not exist'}`,
      remedy: `Name the folder that holds ${name === 'home' ? 'conf, certs and data' : 'server.yml, ssl.yml and clients.yml'}.`,
    },
  ])
}

/** The default means the plugins of this release, and with them those that were put into the home's folder `plugins`. */
function pluginFolders(home: string, path: string): readonly string[] {
  const folder = resolve(home, path)
  if (path !== 'plugins') return [folder]
  return existsSync(folder) && folder !== builtInPlugins ? [builtInPlugins, folder] : [builtInPlugins]
}

/** The folder of the operator's own plugins: the last one of the settings, or the home's, which need not be there. */
export const pluginHome = ({ plugins, home }: Pick<Settings, 'plugins' | 'home'>): string =>
  plugins.folders.findLast((folder) => folder !== builtInPlugins) ?? join(home, 'plugins')

/** Values of the command line by the setting's name, e.g. `{ 'server.port': '9000' }`; text is parsed like text of the environment. */
export type Flags = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** The values of flags and environment for these keys; the flag wins. */
function overridesOf(keys: readonly SettingKey[], flags: Flags, env: Environment, home: string, problems: ConfigProblem[]): Override[] {
  return keys.flatMap(({ name, pointer, environmentName }): Override[] => {
    const flag = flags[name]
    if (flag !== undefined) return [{ pointer, value: flag, file: 'command line', path: name, secret: false }]
    const value = fromEnvironment(environmentName, env, home, problems)
    return value === undefined ? [] : [{ pointer, value: value.text, file: 'environment', path: value.name, secret: true }]
  })
}

function fromEnvironment(
  name: string,
  env: Environment,
  home: string,
  problems: ConfigProblem[],
): { name: string; text: string } | undefined {
  const text = variable(env, name)
  const fileName = `${name}_FILE`
  if (variable(env, fileName) === undefined) return text === undefined ? undefined : { name, text }
  if (text !== undefined) {
    problems.push({ file: 'environment', path: name, problem: `is set together with ${fileName}`, remedy: 'Set only one of the two.' })
    return undefined
  }
  const secret = readSecretFile(fileName, env, home, problems)
  return secret === undefined ? undefined : { name: fileName, text: secret }
}

/** The file that a variable names, which can be read; its content is not kept. */
function readPassphraseFile(name: string, env: Environment, home: string, problems: ConfigProblem[]): string | undefined {
  return readSecretFile(name, env, home, problems) === undefined ? undefined : resolve(home, variable(env, name) ?? '')
}

/** The content of the file that a variable names, without the newline at its end; undefined without such a variable, or after a problem. */
function readSecretFile(name: string, env: Environment, home: string, problems: ConfigProblem[]): string | undefined {
  const path = variable(env, name)
  if (path === undefined) return undefined
  const problem = (what: string, remedy: string) => void problems.push({ file: 'environment', path: name, problem: what, remedy })
  const read = readTextFile(resolve(home, path))
  if (read.is === 'absent') problem(`names ${path}, which does not exist`, 'Create that file, or correct its name.')
  else if (read.is === 'bad') problem(`names ${path}, which ${read.problem}`, read.remedy)
  else {
    const text = read.text.replace(/\r?\n$/, '')
    if (text !== '') return text
    problem(`names ${path}, which is empty`, 'Write the value into that file.')
  }
  return undefined
}

const allKeys = [...settingKeys, ...alertsFile.keys]
const knownVariables = [
  'SLUICE_CONF',
  'SLUICE_HOME',
  // Read by the simulator of Solana.
  'SLUICE_SOLANA_PROGRAMS',
  passphraseVariable,
  sealVariable,
  ...allKeys.flatMap(({ environmentName }) => [environmentName, `${environmentName}_FILE`]),
]

/** A warning for each variable that begins with SLUICE_ and sets nothing. */
function unknownVariables(env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('SLUICE_') && variable(env, name) !== undefined && !knownVariables.includes(name))
    .map((name) => {
      const near = nearest(name, knownVariables)
      return `The environment variable ${name} sets nothing.${near === undefined ? '' : ` Did you mean ${near}?`}`
    })
}

/** As curl and most other programs read them, in either case. */
const proxyVariables = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY']

/** A sentence about proxies of the environment, through which no connection goes. Their values may have a password, and are not shown. */
export function unusedProxy(env: Environment): string | undefined {
  const found = proxyVariables.flatMap((name) => [name, name.toLowerCase()]).filter((name) => variable(env, name) !== undefined)
  if (found.length === 0) return undefined
  const [verb, pronoun] = found.length === 1 ? ['is', 'it'] : ['are', 'them']
  return `${found.join(' and ')} ${verb} set, and Sluice does not use ${pronoun}: it connects to nodes, exchanges, webhooks and token lists directly. Where this machine reaches them only through a proxy, give addresses of a relay in its network, such as rpcUrls in conf/chains`
}

function unknownFlags(flags: Flags): ConfigProblem[] {
  const known = allKeys.map(({ name }) => name)
  return Object.keys(flags)
    .filter((name) => !known.includes(name))
    .map((name) => ({ file: 'command line', path: name, problem: 'is not a known setting', remedy: suggestion(name, known) }))
}

const files = ['server.yml', 'ssl.yml', 'clients.yml', 'limits.yml', 'alerts.yml']
const folders = ['chains', 'connectors', 'interfaces', 'tokens']

/** A warning for each file of the conf folder that looks like settings and is not read. */
function confFolderWarnings(folder: string): string[] {
  const entries = entriesOf(folder)
  if (entries === undefined) {
    return [
      `There is no folder ${folder}, so all settings have their defaults, and certificates may read market data only. Start in the folder that holds it, or name that folder with --home or SLUICE_HOME.`,
    ]
  }
  const lists = namedLists(folder)
  return entries
    .filter((entry) => !files.includes(entry.name) && !folders.includes(entry.name) && !lists.has(join(folder, entry.name)))
    .flatMap((entry) => {
      const near = nearest(entry.name, entry.isDirectory() ? folders : files)
      const looksRead = entry.isDirectory() ? near !== undefined : /\.(ya?ml|json)$/i.test(entry.name)
      if (!looksRead || entry.name.startsWith('.')) return []
      return [notRead(join(folder, entry.name), near)]
    })
}

/** The files that `tokenLists` of conf/chains may name, which may lie anywhere. */
function namedLists(confDir: string): ReadonlySet<string> {
  const chains = join(confDir, 'chains')
  const named = new Set<string>()
  for (const { name } of entriesOf(chains) ?? [])
    if (name.endsWith('.yml'))
      mapTexts(readYaml(join(chains, name), name, [])?.value, (text) => {
        named.add(resolve(dirname(confDir), text))
        return text
      })
  return named
}

/** A warning for each file of these folders without a plugin of its name: the name is probably misspelt. */
export function pluginFileWarnings(confDir: string, plugins: Readonly<Record<`${PluginKind}s`, readonly string[]>>): string[] {
  const lists = namedLists(confDir)
  return (['chains', 'connectors', 'interfaces'] as const).flatMap((folder) => {
    const present = (entriesOf(join(confDir, folder)) ?? []).map(({ name }) => name)
    // A file that is there is another plugin's.
    const absent = plugins[folder].filter((plugin) => !present.includes(`${plugin}.yml`))
    return present
      .filter((name) => /\.(ya?ml|json)$/i.test(name) && !lists.has(join(confDir, folder, name)))
      .filter((name) => !plugins[folder].some((plugin) => name === `${plugin}.yml`))
      .map((file) => {
        const name = file.replace(/\.\w+$/, '')
        const near = nearest(name, absent)
        const why = plugins[folder].includes(name) ? '' : `: there is no ${folder.slice(0, -1)} '${name}' here`
        return `${join(confDir, folder, file)} is not read${why}.${near === undefined ? '' : ` Did you mean ${near}.yml?`}`
      })
  })
}

function entriesOf(folder: string): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return undefined
  }
}

function notRead(path: string, near: string | undefined): string {
  return `${path} is not read.${near === undefined ? '' : ` Did you mean ${near}?`}`
}

/** The network that the devnet is, of the chain whose plugin brings its tokens. */
export const devnetNetwork = { chain: 'ethereum', network: 'local' } as const

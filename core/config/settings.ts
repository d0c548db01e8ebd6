import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readClients, type Client } from './clients.ts'
import { checkFile } from './checks/check-file.ts'
import { compile } from './check.ts'
import { confFolderWarnings } from './settings/conf-folder.ts'
import { ConfigError, type ConfigProblem } from './problems.ts'
import { variable, type Environment } from './settings/environment.ts'
import { overridesOf, readSecretFile, type Flags } from './settings/overrides.ts'
import { readYaml } from './yaml.ts'
import { serverFile, sslFile, type SettingsFile } from './settings/setting-keys.ts'
import { serverSchema, sslSchema, type ServerSettings, type SslSettings } from './settings-schema.ts'
import type { Section } from './tree.ts'
import { unknownFlags, unknownVariables } from './settings/unknown-names.ts'
import { passphraseVariable, refusePassphrase } from './settings/wallet-passphrase.ts'

/** Everything that an operator set, checked; every path is absolute. */
export type Settings = ServerSettings & {
  ssl: SslSettings
  clients: readonly Client[]
  wallet: {
    /** Holds the passphrase of the keystore; the passphrase itself is read where it is used, and not kept. */
    passphraseFile?: string
  }
  /** The folder that contains the conf folder; relative paths of the settings start here. */
  home: string
  confDir: string
  /** The same with secrets masked: what may be printed. */
  shown: Section
  /** To be told to the operator; nothing that stops the start. */
  warnings: readonly string[]
}

export interface SettingsSources {
  flags?: Flags
  env?: Environment
  /** What `--conf` says; else `SLUICE_CONF`, else `conf` in the working directory. */
  confDir?: string
}

const validateServer = compile(serverSchema)
const validateSsl = compile(sslSchema)

/** Reads conf/server.yml, conf/ssl.yml and conf/clients.yml. Precedence: flag, environment, file, default. @throws ConfigError with every problem */
export function loadSettings({ flags = {}, env = process.env, confDir }: SettingsSources = {}): Settings {
  const named = confDir ?? variable(env, 'SLUICE_CONF')
  const folder = resolve(named ?? 'conf')
  const home = dirname(folder)
  const problems: ConfigProblem[] = []
  const inConf = (file: string) => join(basename(folder), file)
  const read = (file: string) => readYaml(join(folder, file), inConf(file), problems)
  const layers = ({ file, keys, defaults }: SettingsFile) => ({
    file: inConf(file),
    defaults,
    overrides: overridesOf(keys, flags, env, home, problems),
    yaml: read(file),
  })

  if (named !== undefined && !existsSync(folder)) {
    const cure = 'Name the folder that holds server.yml, ssl.yml and clients.yml.'
    problems.push({
      file: confDir === undefined ? 'environment' : 'command line',
      path: confDir === undefined ? 'SLUICE_CONF' : '--conf',
      problem: `names ${folder}, which does not exist`,
      cure,
    })
  }
  problems.push(...unknownFlags(flags))
  const serverLayers = layers(serverFile)
  refusePassphrase(serverLayers.yaml, env, problems)
  const server = checkFile(validateServer, serverLayers, env, problems)
  const ssl = checkFile(validateSsl, layers(sslFile), env, problems)
  const clients = readClients(read('clients.yml'), inConf('clients.yml'), env, problems)
  const passphrase = readSecretFile(passphraseVariable, env, home, problems)
  if (!server || !ssl || !clients || problems.length > 0) throw new ConfigError(problems)

  const passphraseFile = passphrase === undefined ? {} : { passphraseFile: resolve(home, variable(env, passphraseVariable) ?? '') }
  const { plugins, data, wallet } = server.value
  return {
    ...server.value,
    plugins: { ...plugins, folders: plugins.folders.map((path) => pluginFolder(home, path)) },
    data: { dir: resolve(home, data.dir) },
    wallet: { ...wallet, ...passphraseFile },
    ssl: { certsDir: resolve(home, ssl.value.certsDir) },
    clients: clients.clients,
    home,
    confDir: folder,
    shown: { ...server.shown, ssl: ssl.shown, ...clients.shown },
    warnings: [...unknownVariables(env), ...confFolderWarnings(folder)],
  }
}

const ownPlugins = fileURLToPath(new URL('../../plugins', import.meta.url))

/** The default stands for Sluice's own plugins also where the configuration lies elsewhere. */
function pluginFolder(home: string, path: string): string {
  const folder = resolve(home, path)
  return path === 'plugins' && !existsSync(folder) ? ownPlugins : folder
}

import { existsSync, constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import path from 'node:path'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { nodesRemedy } from '../handlers/readiness.ts'
import { SluiceError } from '../api/index.ts'
import { describeClosed } from '../config/clients.ts'
import { type Settings, devnetNetwork } from '../config/settings.ts'
import { readWalletLimits } from '../config/wallet-limits.ts'
import { mergedFiles } from '../config/yaml.ts'
import { tradingWallets } from '../devnet/anvil.ts'
import { simulated } from '../devnet/local-sites.ts'
import { isObject } from '../base/json.ts'
import { command } from '../base/layout.ts'
import {
  acceptsNone,
  faultOf,
  findBackend,
  pluginWarnings,
  tryPlugins,
  weaklyContained,
  type ContainmentSettings,
  type LoadResult,
  type LoadedChain,
  type LoadedPlugin,
} from '../plugins/index.ts'
import { examineRights } from './standing-rights.ts'
import { embeddedConnection, embeddedFaults, lockStore } from '../store/embedded.ts'
import { postgresFaults } from '../store/postgres/faults.ts'
import { postgresPool } from '../store/postgres/connection.ts'
import { closeWrongAddresses } from '../wallet/signing.ts'
import { StoreError } from '../store/store.ts'
import { CertificateError, certificateFiles } from '../tls/certificate-files.ts'
import { listClients } from '../tls/certificates.ts'
import { readServerCertificates } from '../tls/server-certificates.ts'
import { listWallets } from '../keys/keystore.ts'
import { keystoreHasKeys } from '../keys/keystore-files.ts'
import type { KeySourceSetting } from '../keys/key-source.ts'
import { describeKeySource, type KeySources } from '../keys/sources.ts'
import { hasCount } from '../wallet/limits/count-file.ts'
import { invalidRecords } from '../wallet/own-policy.ts'
import { passphraseFromFile } from '../wallet/prompt.ts'
import { addressKey } from '../base/addresses.ts'

/**
 * Checks everything that a start needs, without starting anything.
 * @param all asks also the networks that nobody chose: those with the defaults, which connect when they are first used
 */
export async function examine(settings: Settings, { all = false }: { all?: boolean } = {}): Promise<readonly Finding[]> {
  const plugins = await tryPlugins(settings)
  const { loaded, refused } = plugins
  const chains = loaded.filter((plugin) => plugin.kind === 'chain')
  const settingsOf = (chain: string, network: string) => chains.find(({ name }) => name === chain)?.configuration.networks[network]
  const isRequired = (chain: string, network: string) => settingsOf(chain, network)?.required ?? false
  const isChosen = (chain: string, network: string) =>
    all ||
    isRequired(chain, network) ||
    Object.hasOwn(mergedFiles([path.join(settings.confDir, 'chains', `${chain}.yml`)]), network) ||
    (chain === devnetNetwork.chain && network === devnetNetwork.network)
  // Not served on purpose: by `enabled: false`, or because it is the devnet's.
  const devnetChains = [devnetNetwork.chain, ...simulated(loaded)]
  const isLeftOut = (chain: string, network: string) =>
    settingsOf(chain, network)?.enabled === false || (devnetChains.includes(chain) && network === devnetNetwork.network)
  return [
    ...configuration(settings, plugins),
    ...(await examineCertificates(settings)),
    ...(await examineDisk(settings)),
    ...(await examineStore(settings)),
    ...examineKeySources(settings.wallet.keySources),
    ...examineKeystore(settings),
    ...examineClients(settings),
    ...examineLimits(settings),
    ...loaded.flatMap(({ name, unserved, ...plugin }): Finding[] => [
      consentFinding(name, plugin),
      ...unserved
        .filter(({ chain, network }) => !isLeftOut(chain, network))
        .map(({ chain, network, reason, remedy }): Finding => ({
          part: 'plugins',
          state: isRequired(chain, network) ? 'bad' : 'warn',
          what: `${name} does not serve ${chain}/${network}: ${reason}.`,
          remedy,
        })),
    ]),
    ...refused.map(({ name, step, reason, remedy }): Finding => ({
      part: 'plugins',
      state: 'bad',
      what: `${name} is refused (${step}): ${reason}`,
      remedy,
    })),
    ...(await examineSeals(settings)),
    ...(await examineContainment(loaded, settings)),
    ...(await examineRights(
      loaded,
      listWallets(settings.data.dir).filter(({ problem }) => problem === undefined),
      settings,
    )),
    ...(await examineNetworks(chains, isRequired, isChosen, settings)),
  ]
}

/** Who let a plugin run, and where. */
function consentFinding(name: string, { tier, allowedBy, sha256 = '' }: Pick<LoadedPlugin, 'tier' | 'allowedBy' | 'sha256'>): Finding {
  if (allowedBy === 'nobody')
    return {
      part: 'plugins',
      state: 'warn',
      what: `${name} loads. Nobody has allowed it: this server only tries.`,
      remedy: `With a key or a real network it is refused until you say \`${command} plugin allow ${name}\`.`,
    }
  const how = allowedBy === 'release' ? '' : ` It is ${tier === 'trusted' ? 'trusted' : 'allowed'} with SHA-256 ${sha256}.`
  return { part: 'plugins', state: 'good', what: `${name} loads.${how}` }
}

/** Whether the limits of wallets are read and counted, and against whom they hold. */
export function examineLimits({ confDir, data }: Pick<Settings, 'confDir' | 'data'>): Finding[] {
  const part = 'limits'
  try {
    const wallets = Object.keys(readWalletLimits(confDir)).length
    if (wallets === 0) return []
    if (!hasCount(data.dir))
      return [
        {
          part,
          state: 'bad',
          what: `Nothing is signed for the ${wallets} wallets of conf/limits.yml: there is no count of what was signed.`,
          remedy: `Begin one with the server stopped: \`${command} limits reset-count\`.`,
        },
      ]
    return [
      { part, state: 'good', what: `The signer bounds ${wallets} wallets by conf/limits.yml.` },
      {
        part,
        state: 'warn',
        what: "That does not hold against a server that was taken over: the signer and its count are the same user's as the server.",
      },
    ]
  } catch (error) {
    return [{ part, state: 'bad', what: error instanceof Error ? error.message : String(error) }]
  }
}

/** Whether the signer goes by the records of sluice.lock. */
async function examineSeals(settings: Settings): Promise<Finding[]> {
  try {
    const passphrase = passphraseFromFile({ SLUICE_WALLET_PASSPHRASE_FILE: settings.wallet.passphraseFile })
    const unheld = await invalidRecords(settings, passphrase)
    return unheld.map(({ name, problem, remedy }): Finding => ({
      part: 'plugins',
      state: 'bad',
      what: `The signer does not sign for ${name}: ${problem}.`,
      remedy,
    }))
  } catch {
    // Of a lock that cannot be read the plugins' refusals tell; of the passphrase's file, the keystore.
    return []
  }
}

/** Whether the system gives what contains plugins of third parties. */
export async function examineContainment(
  loaded: readonly Pick<LoadedPlugin, 'name' | 'tier'>[],
  settings: ContainmentSettings,
): Promise<Finding[]> {
  const contained = loaded.filter(({ tier }) => tier === 'contained').map(({ name }) => name)
  if (contained.length === 0) return []
  try {
    const { what } = await findBackend(settings)
    return [{ part: 'plugins', state: 'good', what: `Contained by ${what}: ${contained.join(', ')}.` }]
  } catch (thrown) {
    const { message, remedy } = faultOf(thrown, 'find', 'See the reason.')
    if (!acceptsNone(settings)) return [{ part: 'plugins', state: 'bad', what: `${contained.join(', ')}: ${message}.`, remedy }]
    return [
      {
        part: 'plugins',
        state: 'warn',
        what: `Contained by nothing (plugins.weakContainment): ${contained.join(', ')}. Each has a process of its own: ${weaklyContained}. ${message}.`,
      },
    ]
  }
}

function configuration(settings: Settings, plugins: LoadResult): Finding[] {
  const all = [...settings.warnings, ...pluginWarnings(settings, plugins)]
  if (all.length === 0) return [{ part: 'configuration', state: 'good', what: `${settings.confDir} is in order.` }]
  return all.map((what) => ({ part: 'configuration', state: 'warn', what }))
}

/** The result of one check. A `warn` can wait, a `bad` cannot; `remedy` is absent where `what` says what to do. */
export type Finding = { part: string; state: 'good'; what: string } | { part: string; state: 'warn' | 'bad'; what: string; remedy?: string }

const dayMs = 86_400_000
const soonDays = 30
const renewAuthority = `Move the certs folder away, run \`${command} certs init\`, and give every bot its new certificate.`

export async function examineCertificates({ ssl: { certsDir } }: Settings): Promise<Finding[]> {
  if (!existsSync(certificateFiles(certsDir).caCert)) {
    return [
      {
        part: 'certificates',
        state: 'warn',
        what: `There are none in ${certsDir} yet.`,
        remedy: `The first start makes them; \`${command} certs init\` does so now.`,
      },
    ]
  }
  try {
    const { serverValidTo, caValidTo } = await readServerCertificates(certsDir)
    const clients = await listClients(certsDir)
    return [
      expiry('The server certificate', serverValidTo, `Run \`${command} certs renew server\`.`),
      expiry('The certificate authority', caValidTo, renewAuthority),
      ...clients.flatMap(({ state, certificate }) =>
        state === 'valid' && certificate
          ? [
              expiry(
                `The client certificate "${certificate.name}"`,
                certificate.validTo,
                `Run \`${command} certs renew ${certificate.name}\`.`,
              ),
            ]
          : [],
      ),
    ]
  } catch (error) {
    // Its message has the remedy.
    if (error instanceof CertificateError) return [{ part: 'certificates', state: 'bad', what: error.message }]
    throw error
  }
}

function expiry(what: string, validTo: Date, remedy: string): Finding {
  const days = Math.floor((validTo.getTime() - Date.now()) / dayMs)
  const date = validTo.toISOString().slice(0, 10)
  if (days < 0) return { part: 'certificates', state: 'bad', what: `${what} expired on ${date}.`, remedy }
  if (days < soonDays) return { part: 'certificates', state: 'warn', what: `${what} expires in ${days} days, on ${date}.`, remedy }
  return { part: 'certificates', state: 'good', what: `${what} is valid until ${date}.` }
}

const enoughBytes = 500_000_000

export async function examineDisk({ data: { dir } }: Settings): Promise<Finding[]> {
  try {
    // Only a start makes it.
    let there = dir
    while (!existsSync(there)) there = path.dirname(there)
    // With the separator a file is refused.
    await access(there + path.sep, constants.R_OK | constants.W_OK)
    const { bavail, bsize } = await statfs(there)
    const free = bavail * bsize
    const shown = `${(free / 1e9).toFixed(1)} GB free in ${dir}`
    if (free < enoughBytes)
      return [
        {
          part: 'disk',
          state: 'warn',
          what: `Only ${shown}.`,
          remedy: 'Make room, or move data.dir (conf/server.yml) to a larger disk.',
        },
      ]
    return [{ part: 'disk', state: 'good', what: `${shown}.` }]
  } catch (error) {
    return [
      {
        part: 'disk',
        state: 'bad',
        what: `${dir} cannot be written: ${error instanceof Error ? error.message : String(error)}.`,
        remedy: 'Make it belong to the user that Sluice runs as, or correct data.dir in conf/server.yml.',
      },
    ]
  }
}

/** Checks that transactions can be stored. It creates no file and changes no table: that is done by a start. */
export async function examineStore({ store: { url }, data: { dir } }: Settings): Promise<Finding[]> {
  return url === undefined ? [examineEmbedded(dir)] : examinePostgres(url)
}

function examineEmbedded(dataDir: string): Finding {
  const file = path.join(dataDir, 'sluice.db')
  if (!existsSync(file)) return { part: 'store', state: 'good', what: 'None yet: the first start creates it.' }
  try {
    const lock = lockStore(dataDir, 'sluice doctor')
    try {
      return examineFile(file)
    } finally {
      lock.release()
    }
  } catch (error) {
    const reason = embeddedFaults.of(error)?.reason
    if (error instanceof StoreError)
      return { part: 'store', state: 'good', what: `A server runs on it; \`${command} health --ready\` says whether it can be written.` }
    if (reason === undefined) throw error
    return {
      part: 'store',
      state: 'bad',
      what: `${file} cannot be used: ${reason}.`,
      remedy: 'docs/operators/failures.md says what to do without it.',
    }
  }
}

function examineFile(file: string): Finding {
  const connection = embeddedConnection(file)
  try {
    const [result] = connection.prepare('pragma quick_check(1)').all([])
    if (JSON.stringify(result) !== '{"quick_check":"ok"}')
      return {
        part: 'store',
        state: 'bad',
        what: `${file} is damaged: ${JSON.stringify(result)}.`,
        remedy: 'docs/operators/failures.md says what to do without it.',
      }
    connection.prepare('begin immediate').run([])
    connection.prepare('rollback').run([])
    return { part: 'store', state: 'good', what: `${file} is whole and can be written.` }
  } finally {
    connection.close()
  }
}

const oldestMajor = 13
const mostSkewSeconds = 5

interface Facts {
  version: number
  isStandby: boolean
  mayCreate: boolean
  fsync: string
  fullPageWrites: string
  synchronousCommit: string
  skewSeconds: number
}

/** Checks that this user can write to the database, and that the database keeps what it acknowledges. */
export async function examinePostgres(url: string): Promise<Finding[]> {
  const db = new Kysely<object>({
    dialect: new PostgresDialect({ pool: postgresPool({ url, serverName: 'doctor', log: { info: () => {}, warn: () => {} } }) }),
  })
  try {
    const { rows } = await sql<Facts>`
      select current_setting('server_version_num')::int as "version",
             pg_is_in_recovery() as "isStandby",
             has_schema_privilege(current_schema(), 'create') as "mayCreate",
             current_setting('fsync') as "fsync",
             current_setting('full_page_writes') as "fullPageWrites",
             current_setting('synchronous_commit') as "synchronousCommit",
             extract(epoch from clock_timestamp())::float8 - ${Date.now() / 1000}::float8 as "skewSeconds"`.execute(db)
    return rows.flatMap(findingsOf)
  } catch (error) {
    const reason = postgresFaults.of(error)?.reason
    // The driver's message may hold parts of the URL.
    const what = `PostgreSQL cannot be used: ${reason ?? 'store.url is not understood'}.`
    return [{ part: 'store', state: 'bad', what, remedy: 'Start the database, or correct store.url; see docs/operators/operations.md.' }]
  } finally {
    await db.destroy()
  }
}

function findingsOf({ version, isStandby, mayCreate, fsync, fullPageWrites, synchronousCommit, skewSeconds }: Facts): Finding[] {
  const major = Math.floor(version / 10_000)
  const findings: Finding[] = []
  const found = (state: 'warn' | 'bad', what: string, remedy: string) => void findings.push({ part: 'store', state, what, remedy })
  if (major < oldestMajor) found('bad', `PostgreSQL ${major} is too old.`, `Use ${oldestMajor} or newer.`)
  if (isStandby) found('bad', 'It is a standby, which is read-only.', 'Name the primary in store.url.')
  else if (!mayCreate)
    found('bad', 'The user may not create tables.', 'Make the user the owner of the database: alter database … owner to ….')
  for (const [name, value] of [
    ['fsync', fsync],
    ['full_page_writes', fullPageWrites],
    ['synchronous_commit', synchronousCommit],
  ] as const)
    if (value === 'off')
      found('bad', `${name} is off: after a power failure it loses what it acknowledged.`, 'Turn it on in postgresql.conf.')
  if (Math.abs(skewSeconds) > mostSkewSeconds)
    found(
      'warn',
      `The database's clock is ${Math.abs(Math.round(skewSeconds))} s ${skewSeconds > 0 ? 'ahead of' : 'behind'} this machine's.`,
      'Turn on time synchronisation (NTP) on both.',
    )
  return findings.length > 0
    ? findings
    : [{ part: 'store', state: 'good', what: `PostgreSQL ${major} answers, and keeps what it acknowledges.` }]
}

/** What the signer opens, and what its process gets and reaches for that. */
export function examineKeySources(settings: readonly KeySourceSetting[], env = process.env, sources?: KeySources): Finding[] {
  return settings.flatMap((each) => {
    const source = describeKeySource(each, sources)
    if (!source) return []
    const variables = Object.keys(source.environment).map((name) => (env[name] === undefined ? `${name} (not set)` : name))
    const needs = [
      ...(variables.length > 0 ? [`Its variables: ${variables.join(', ')}.`] : []),
      ...(source.network.length > 0 ? [`It connects to ${source.network.join(', ')}.`] : []),
    ]
    return [{ part: 'keys', state: 'good', what: [`${source.kind}: ${source.description}.`, ...needs].join(' ') }]
  })
}

export function examineKeystore({ data, wallet }: Settings): Finding[] {
  const wallets = listWallets(data.dir)
  if (wallets.length === 0)
    return [{ part: 'keystore', state: 'good', what: `No keys of your own; add one with \`${command} wallet add\`.` }]
  const findings = wallets.map(({ chain, address, problem }): Finding =>
    problem === undefined
      ? { part: 'keystore', state: 'good', what: `${chain} ${address}` }
      : { part: 'keystore', state: 'bad', what: problem },
  )
  if (keystoreHasKeys(data.dir) && wallet.passphraseFile === undefined) {
    findings.push({
      part: 'keystore',
      state: 'warn',
      what: 'The passphrase is asked for at each start: no file holds it.',
      remedy: 'For unattended starts write it into a file (mode 600) and name that in SLUICE_WALLET_PASSPHRASE_FILE.',
    })
  }
  return findings
}

/**
 * Finds rights that nobody gets because they are written wrong, and wallets that a client may use and the server does not hold. They are probably misspelt, and the client's requests would only be
 * refused.
 */
export function examineClients(settings: Settings): Finding[] {
  const { clients, closed, data, devnet } = closeWrongAddresses(settings)
  const held = [...listWallets(data.dir).map(({ address }) => address), ...(devnet.enabled ? tradingWallets : [])]
  const known = new Set(held.map((address) => addressKey(address)))
  const wrong = closed.map((each): Finding => ({ part: 'rights', state: 'bad', what: describeClosed(each), remedy: each.remedy }))
  const unheld = clients.flatMap(({ name, wallets }) =>
    (wallets === 'all' ? [] : wallets)
      .filter((address) => !known.has(addressKey(address)))
      .map((address): Finding => ({
        part: 'clients',
        state: 'warn',
        what: `${name} may use ${address}, but the server holds no such wallet.`,
        remedy: `Correct it in conf/clients.yml, or add the wallet with \`${command} wallet add\`.`,
      })),
  )
  return [...wrong, ...unheld]
}

const deadlineMs = 5_000
const mostSkewSecondsOfNetworks = 120
/** Blocks of a network in use are never this old. */
const maxAgeSeconds = 300

/**
 * Checks that the nodes answer, and that this machine's clock agrees with theirs: deadlines of trades are counted from the chain's time.
 */
export async function examineNetworks(
  chains: readonly LoadedChain[],
  required: (chain: string, network: string) => boolean,
  isChosen: (chain: string, network: string) => boolean,
  { devnet }: Settings,
): Promise<Finding[]> {
  const venues = chains.flatMap((chain) => chain.venues)
  const chosen = venues.filter(({ chain, network }) => isChosen(chain, network))
  const others = venues.length - chosen.length
  const findings = (
    await Promise.all(
      chosen.map(async ({ chain, network, implementation }): Promise<Finding[]> => {
        const name = `${chain}/${network}`
        if (devnet.enabled && chain === devnetNetwork.chain && network === devnetNetwork.network)
          return [{ part: 'nodes', state: 'good', what: `${name} is the devnet: it comes up with the server.` }]
        try {
          const { number, timestamp } = await implementation.head({ signal: AbortSignal.timeout(deadlineMs) })
          const skew = timestamp - Date.now() / 1000
          const answers: Finding = { part: 'nodes', state: 'good', what: `${name} answers at ${implementation.rpcUrl()}, block ${number}.` }
          return [answers, ...clock(name, skew), ...(await limitsOf(name, implementation, number))]
        } catch (error) {
          const reason = error instanceof SluiceError ? error.message : `no answer within ${deadlineMs / 1000} s`
          return [
            {
              part: 'nodes',
              state: required(chain, network) ? 'bad' : 'warn',
              what: `${name}: ${reason}`,
              remedy: nodesRemedy({ chain, network, url: implementation.rpcUrl() }),
            },
          ]
        }
      }),
    )
  ).flat()
  if (others === 0) return findings
  const what = `${others} more ${others === 1 ? 'network has' : 'networks have'} the defaults, and no node of them was asked: \`${command} doctor --all\` does.`
  return [...findings, { part: 'nodes', state: 'good', what }]
}

const blocksBack = 10_000n

/** What the nodes of a network take less than is usual: found out by asking for as much. */
async function limitsOf(
  name: string,
  { reader, nodes, evm }: LoadedChain['venues'][number]['implementation'],
  number: bigint,
): Promise<Finding[]> {
  const at = { signal: AbortSignal.timeout(deadlineMs) }
  const fromBlock = Number(number > blocksBack ? number - blocksBack + 1n : 0n)
  // Nothing is expected of the answers.
  await Promise.allSettled([
    evm?.gasPrices?.(at),
    isEvmReader(reader) && reader.logs({ address: reader.wrapped.address, topics: [noEvent], fromBlock }, at),
  ])
  return (nodes?.() ?? []).flatMap(({ url, limits = {} }): Finding[] => {
    const told = Object.entries(limits).map(([of, max]) =>
      of === 'batch' ? `batches of ${max} calls` : `${of} of ${max} ${of === 'eth_getLogs' ? 'blocks' : 'characters'}`,
    )
    if (told.length === 0) return []
    const what = `${name}: ${url} takes ${told.join(' and ')} at most. Sluice asks in such parts, which takes longer.`
    return [{ part: 'nodes', state: 'warn', what, remedy: 'Use a larger plan of its provider, or another node, where that is too slow.' }]
  })
}

/** The first topic of no event. */
const noEvent = `0x${'00'.repeat(31)}01`

interface LogReader {
  readonly wrapped: { readonly address: string }
  logs(filter: { address: string; topics: readonly string[]; fromBlock: number }, at: { signal: AbortSignal }): Promise<unknown>
}

const isEvmReader = (reader: unknown): reader is LogReader =>
  isObject(reader) && 'wrapped' in reader && typeof reader['logs'] === 'function'

/** @param skew seconds that the newest block is ahead of this machine's clock */
function clock(name: string, skew: number): Finding[] {
  if (skew > mostSkewSecondsOfNetworks) {
    const what = `This machine's clock is ${Math.round(skew)} s behind ${name}.`
    return [{ part: 'clock', state: 'bad', what, remedy: 'Set the clock: turn on time synchronisation (NTP).' }]
  }
  if (skew > -maxAgeSeconds) return []
  const what = `The newest block of ${name} is ${Math.round(-skew)} s old: the node is behind, or this machine's clock is ahead.`
  return [{ part: 'clock', state: 'warn', what, remedy: 'Turn on time synchronisation (NTP); where the clock is right, ask another node.' }]
}

import { existsSync } from 'node:fs'
import path from 'node:path'
import { describeClosed } from '../config/clients.ts'
import { devnetNetwork, unusedProxy, type Settings } from '../config/settings.ts'
import { mergedFiles } from '../config/yaml.ts'
import { tradingWallets } from '../devnet/anvil.ts'
import { simulated } from '../devnet/local-sites.ts'
import { command } from '../base/layout.ts'
import {
  acceptsNone,
  allowedForCommand,
  faultOf,
  findBackend,
  pluginWarnings,
  tryPlugins,
  weaklyContained,
  type ContainmentSettings,
  type LoadResult,
  type LoadedPlugin,
} from '../plugins/index.ts'
import { examineLimits } from './doctor-limits.ts'
import { examineSigner } from './doctor-signer.ts'
import { examineRights } from './standing-rights.ts'
import { closeWrongAddresses } from '../config/wrong-addresses.ts'
import { CertificateError, certificateFiles } from '../tls/certificate-files.ts'
import { unknownNames, unknownReferences } from '../limits/unknown-names.ts'
import { certificateNames, listClients } from '../tls/issued-certificates.ts'
import { readServerCertificates } from '../tls/server-certificates.ts'
import { listWallets } from '../keys/keystore.ts'
import { keystoreHasKeys } from '../keys/keystore-files.ts'
import type { KeySourceSetting } from '../keys/key-source.ts'
import { describeKeySource, type KeySources } from '../keys/sources.ts'
import { invalidRecords } from '../wallet/own-policy.ts'
import { passphraseForSeals } from '../keys/get-passphrase.ts'
import { addressKey } from '../base/addresses.ts'
import { examineConnectors } from './doctor-connectors.ts'
import { examineNetworks } from './doctor-networks.ts'
import { examineDisk, examineStore } from './doctor-store.ts'
import type { Finding } from './output.ts'
import { withoutStop } from '../base/printable.ts'

/**
 * Checks everything that a start needs, without starting anything.
 * @param all asks also the networks that nobody chose: those with the defaults, which connect when they are first used
 */
export async function examine(settings: Settings, { all = false }: { all?: boolean } = {}): Promise<readonly Finding[]> {
  const plugins = await tryPlugins(settings, await allowedForCommand(settings, passphraseForSeals(settings.wallet)))
  const { loaded, interfaces, refused } = plugins
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
  const service = settings.signer.socket === undefined ? undefined : await examineSigner(settings.signer.socket, settings)
  const proxy = unusedProxy(process.env)
  return [
    ...configuration(settings, plugins),
    ...(proxy === undefined ? [] : [{ part: 'network', state: 'warn', what: `${proxy}.` } as const]),
    ...(await examineCertificates(settings)),
    ...(await examineDisk(settings)),
    ...(await examineStore(settings)),
    ...(service?.findings ?? [
      ...examineKeySources(settings.wallet.keySources),
      ...examineKeystore(settings),
      ...examineLimits(settings, networksOf(loaded)),
    ]),
    ...examineClients(settings, service?.wallets),
    ...(await examineNames(settings, plugins)),
    ...loaded.flatMap(({ name, unserved, ...plugin }): Finding[] => [
      consentFinding(name, plugin),
      ...unserved
        .filter(({ chain, network }) => !isLeftOut(chain, network))
        .map(({ chain, network, reason, remedy }): Finding => ({
          part: 'plugins',
          state: isRequired(chain, network) ? 'bad' : 'warn',
          what: `${name} does not serve ${chain}/${network}: ${withoutStop(reason)}.`,
          remedy,
        })),
    ]),
    ...[...loaded, ...interfaces].flatMap(({ name, deprecated }) =>
      deprecated.map((what): Finding => ({ part: 'plugins', state: 'warn', what: `${name}: ${withoutStop(what)}.` })),
    ),
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
      service?.wallets ?? listWallets(settings.data.dir).filter(({ problem }) => problem === undefined),
      settings,
    )),
    ...(await examineNetworks(chains, isRequired, isChosen, settings)),
    ...(await examineConnectors(loaded, isChosen)),
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

/** Whether the signer goes by the records of sluice.lock. */
async function examineSeals(settings: Settings): Promise<Finding[]> {
  try {
    const unheld = await invalidRecords(settings, passphraseForSeals(settings.wallet))
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

const dayMs = 86_400_000
const soonDays = 30
const renewAuthority = `Move the certs folder away, run \`${command} certs init\`, and give every bot its new certificate.`

async function examineCertificates({ ssl: { certsDir } }: Settings): Promise<Finding[]> {
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

function examineKeystore({ data, wallet }: Settings): Finding[] {
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

const networksOf = (loaded: readonly LoadedPlugin[]) => loaded.flatMap((plugin) => (plugin.kind === 'chain' ? plugin.venues : []))

/** What conf/clients.yml names and nobody knows. */
async function examineNames({ clients, limits, ssl: { certsDir } }: Settings, { loaded, refused }: LoadResult): Promise<Finding[]> {
  const known = {
    connectors: [...loaded, ...refused].map(({ name }) => name),
    networks: networksOf(loaded).map(({ chain, network, tokens, implementation: { nativeCurrency: coin, coinAddresses = [] } }) => ({
      chain,
      network,
      // As the server lists them: the coin of the network first, and once.
      tokens: [coin, ...tokens.filter(({ address }) => address !== coin.address && !coinAddresses.includes(address))],
    })),
    certificates: await certificateNames(certsDir),
  }
  const references = unknownReferences(limits.referenceTokens, known.networks)
  return [
    ...references.map((what): Finding => ({ part: 'limits', state: 'warn', what, remedy: 'Correct it in conf/server.yml.' })),
    ...unknownNames(clients, known).map((what): Finding => ({
      part: 'clients',
      state: 'warn',
      what,
      remedy: 'Correct it in conf/clients.yml.',
    })),
  ]
}

/**
 * Finds rights that nobody gets because they are written wrong, and wallets that a client may use and the server does not hold. They are probably misspelt, and the client's requests would only be
 * refused.
 */
function examineClients(settings: Settings, ofService?: readonly { readonly address: string }[]): Finding[] {
  const { clients, closed, data, devnet } = closeWrongAddresses(settings)
  const held = [...(ofService ?? listWallets(data.dir)).map(({ address }) => address), ...(devnet.enabled ? tradingWallets : [])]
  const known = new Set(held.map((address) => addressKey(address)))
  const wrong = closed.map((each): Finding => {
    const is = describeClosed({ ...each, closed: `from the next start on ${each.closed}` })
    const what = `${is} A server that runs keeps all clients as they were before the file had an error.`
    return { part: 'rights', state: 'bad', what, remedy: each.remedy }
  })
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

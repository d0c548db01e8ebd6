import path from 'node:path'
import type { Logger } from 'pino'
import { readLock } from './config/lock.ts'
import { StartError } from './config/problems.ts'
import type { Settings } from './config/settings.ts'
import { substitute } from './config/tree.ts'
import { mergedFiles } from './config/yaml.ts'
import { type Chain, type Family, SluiceError, type Signable } from './contracts/index.ts'
import { isObject } from './json.ts'
import type { AllowedPlugins } from './loader/consent.ts'
import type { LoadedConnector, LoadedPlugin, LoadedVenue } from './loader/loaded-plugin.ts'
import { curves } from './wallet/keys.ts'
import { keystoreHasKeys } from './wallet/keystore.ts'
import type { PolicyBounds } from './wallet/policy-bounds.ts'
import type { NetworkPolicy, SignerPolicy } from './wallet/policy.ts'
import { getPassphrase, passphraseFromFile } from './wallet/prompt.ts'
import { readTypedData, type SignRequest } from './wallet/signer-messages.ts'
import { startSigner, type Signer } from './wallet/signer.ts'

type Keys = Family['keys']

/**
 * What the signer may sign, from what the loaded plugins declare. An invalid declaration is left out and logged, so that the signer refuses
 * it and the server still starts.
 * @throws StartError for a spender of the settings that is not an address
 */
export function signerPolicy(loaded: readonly LoadedPlugin[], allowedSpenders: readonly string[]): SignerPolicy {
  const chains = loaded.filter((each) => each.kind === 'chain')
  const connectors = loaded.filter((each) => each.kind === 'connector')
  const signable = chains.map(({ keys, venues }) => ({ keys, venues: venues.filter((venue) => isSignable(venue, keys)) }))
  const withSpenders = chains.flatMap(({ keys, venues }) => (keys === 'secp256k1' ? venues : []))
  return {
    networks: signable.flatMap(({ keys, venues }) => venues.map((venue) => networkPolicy(venue, keys, connectors))),
    allowedSpenders: withSpenders.length === 0 ? [] : allowedSpenders.map((text) => spenderOf(text, withSpenders)),
  }
}

function networkPolicy(on: LoadedVenue<Chain>, keys: Keys, connectors: readonly LoadedConnector[]): NetworkPolicy {
  const { chain, network, implementation } = on
  const isHere = (venue: { chain: string; network: string }) => venue.chain === chain && venue.network === network
  const here = connectors.filter(({ venues }) => venues.some(isHere))
  const venuesHere = here.flatMap(({ venues }) => venues.filter(isHere))
  const declared = (what: string, of: (venue: (typeof venuesHere)[number]) => object) => [
    ...new Set(
      venuesHere.flatMap((venue) => Object.values(of(venue)).flatMap((value: unknown) => addressOf(value, what, on, keys, venue))),
    ),
  ]
  const everywhere = {
    chain,
    network,
    feeCapRaw: implementation.feeCapRaw.toString(),
    local: implementation.local === true,
    contracts: declared('contract', ({ contracts }) => contracts),
  }
  if (keys === 'ed25519') return { keys, ...everywhere }
  return {
    keys,
    ...everywhere,
    chainId: implementation.chainId,
    spenders: declared('spender', ({ implementation: { spenders } }) => spenders ?? {}),
    deposits: depositsOn(on, keys, connectors),
    typedData: here.flatMap(({ manifest }) =>
      (manifest.signs ?? []).map(({ own, ...each }) => ({ ...each, ...(own && { own: [...own] }) })),
    ),
  }
}

/** The deposits over bridges that begin on this network and end at exchanges on other chains. */
function depositsOn(on: LoadedVenue<Chain>, keys: Keys, connectors: readonly LoadedConnector[]) {
  return connectors.flatMap(({ venues }) =>
    venues.flatMap((venue) => {
      const bridge = Object.hasOwn(venue.bridges, on.chain) ? venue.bridges[on.chain] : undefined
      if (bridge?.network !== on.network) return []
      const [token, recipient] = [bridge.token, bridge.recipient].map((text) => addressOf(text, 'bridge', on, keys, venue)[0])
      return token === undefined || recipient === undefined ? [] : [{ token, recipient }]
    }),
  )
}

function isSignable({ plugin, chain, network, implementation: { chainId, feeCapRaw }, log }: LoadedVenue<Chain>, keys: Keys): boolean {
  if ((keys !== 'secp256k1' || chainId > 0) && typeof feeCapRaw === 'bigint' && feeCapRaw >= 0n) return true
  log.warn(
    { plugin, chain, network },
    'network not signed for: the plugin gives no chain id above 0, or no feeCapRaw (a bigint of 0 or more)',
  )
  return false
}

/** The address in the signer's spelling; nothing where it is invalid. */
function addressOf(
  value: unknown,
  what: string,
  { chain, network, implementation }: LoadedVenue<Chain>,
  keys: Keys,
  { plugin, log }: LoadedVenue<object>,
): string[] {
  const address = typeof value === 'string' ? canonical(value, implementation, keys) : undefined
  if (address !== undefined) return [address]
  log.warn({ plugin, chain, network, what }, 'invalid address in the declaration of a plugin, left out of what may be signed')
  return []
}

/** The spelling that the signer compares with a transaction's bytes; undefined where the text is not an address. */
function canonical(text: string, chain: Chain, keys: Keys): string | undefined {
  try {
    const spelt: unknown = chain.address(text)
    return typeof spelt === 'string' ? curves[keys].address(spelt) : undefined
  } catch {
    return undefined
  }
}

function spenderOf(text: string, venues: readonly LoadedVenue<Chain>[]): string {
  const address = venues.map(({ implementation }) => canonical(text, implementation, 'secp256k1')).find((each) => each !== undefined)
  if (address !== undefined) return address
  throw new StartError(
    `wallet.allowedSpenders in conf/server.yml holds "${text}", which is not an address: copy it again, complete and with the right checksum, or write it in lower case.`,
  )
}

/**
 * What no policy of this server can go beyond: the addresses that the defaults of the plugins name which may run, with conf laid over them, the
 * spenders of the settings, and the typed data of sluice.lock. Undefined where a server only tries and plugins run that nobody allowed.
 * Files alone are read: this is before code of plugins runs.
 */
export function signerBounds(
  { confDir, wallet }: Settings,
  { found, tried }: Pick<AllowedPlugins, 'found' | 'tried'>,
): PolicyBounds | undefined {
  if (tried.length > 0) return undefined
  const contracts: Record<string, string[]> = {}
  const deposits: PolicyBounds['deposits'] = []
  for (const { name, folder } of found) {
    const layers = [path.join(folder, 'defaults.yml'), path.join(confDir, 'connectors', `${name}.yml`)]
    const { value } = substitute(mergedFiles(layers), process.env)
    if (!isObject(value)) continue
    for (const [network, addresses] of Object.entries(isObject(value['contractAddresses']) ? value['contractAddresses'] : {}))
      if (isObject(addresses)) (contracts[network] ??= []).push(...Object.values(addresses).filter(isText))
    for (const bridges of Object.values(isObject(value['bridges']) ? value['bridges'] : {}))
      for (const bridge of isObject(bridges) ? Object.values(bridges) : [])
        if (isObject(bridge) && isText(bridge['token']) && isText(bridge['recipient']))
          deposits.push({ token: bridge['token'], recipient: bridge['recipient'] })
  }
  const locked = found.some(({ allowedBy }) => allowedBy === 'operator') ? Object.values(readLock(confDir)) : []
  return { contracts, deposits, allowedSpenders: [...wallet.allowedSpenders], typedData: locked.flatMap(({ signs }) => signs) }
}

const isText = (value: unknown): value is string => typeof value === 'string'

interface SignerParts {
  settings: Settings
  log: Logger
  passphrase: string | undefined
  bounds?: PolicyBounds
}

/** Asks for the passphrase where the keystore has keys, before code of plugins runs beside the prompt. */
export async function askPassphrase({ data, wallet }: Settings): Promise<string | undefined> {
  if (!wallet.keySources.includes('keystore') || !keystoreHasKeys(data.dir)) return undefined
  try {
    return await getPassphrase('Passphrase of the keystore: ', passphraseFromFile({ SLUICE_WALLET_PASSPHRASE_FILE: wallet.passphraseFile }))
  } catch (error) {
    return refuseStart(error)
  }
}

/** Starts the signer's process and unlocks its keys. It signs nothing until it has the policy of the loaded plugins. */
export function openSigner(parts: SignerParts): Promise<Signer> {
  const opening = open(parts)
  // The start awaits it later: until then a failure must not become an unhandled rejection.
  opening.catch(() => {})
  return opening
}

const open = ({ settings: { data, devnet, wallet }, log, passphrase, bounds }: SignerParts): Promise<Signer> =>
  startSigner({
    dataDir: data.dir,
    keySources: wallet.keySources,
    passphrase,
    devnet: devnet.enabled,
    policy: { networks: [], allowedSpenders: [] },
    ...(bounds && { bounds }),
    log,
  }).catch(refuseStart)

function refuseStart(error: unknown): never {
  throw new StartError(error instanceof Error ? error.message : String(error))
}

/** The signer's request for bytes that a rail drafted. @throws SluiceError where typed data is invalid, which is a defect of the plugin */
export function draftOf({ scheme, bytes }: Signable): SignRequest['draft'] {
  if (scheme === 'evm-transaction') return { scheme: 'secp256k1', bytes }
  if (scheme === 'solana-message') return { scheme: 'ed25519', bytes }
  const typedData = readTypedData(bytes)
  if (typedData) return { scheme: 'eip712', typedData }
  throw new SluiceError(
    'UNKNOWN_ERROR',
    'The plugin drafted invalid typed data (EIP-712), so nothing was signed. This is a defect of the plugin.',
  )
}

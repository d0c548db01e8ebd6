// What the signer signs, from files alone: what the release says of its own plugins (signing.json, their defaults.yml), the records of
// sluice.lock, and the operator's conf over both. No code of a plugin runs here.
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { parseUnits } from 'ethers/utils'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import type { LockedPlugin, PluginLock } from '../config/lock.ts'
import { mapTexts, mergeOver, substitute, type Environment, type Section } from '../config/tree.ts'
import { mergedFiles, readYaml } from '../config/yaml.ts'
import { canonicalPermit2 } from '../contracts/permit2.ts'
import { isObject } from '../base/json.ts'
import { builtInPlugins } from '../base/layout.ts'
import { curves, noteSpellings, type CurveName } from '../keys/curves.ts'
import { listedTokens, type ListedTokens } from './listed-tokens.ts'
import type { NetworkPolicy, SignerPolicy, TipRules, TypedDataRules } from './policy.ts'
import { readReleasePolicy, releasePolicy, type ReleasePolicy } from './release-policy.ts'
import { addressKey } from '../base/addresses.ts'

/** What the server says once, before code of plugins runs. */
export const signerFiles = Type.Object({
  confDir: Type.String(),
  /** The plugins that may run, by their folders: those of the release, and those of sluice.lock with the files that were allowed. */
  plugins: Type.Array(Type.String()),
  /** The setting `wallet.allowedSpenders`. */
  allowedSpenders: Type.Array(Type.String()),
  /** By wallets, the addresses that some client may have them send to: `sendTo` of `conf/clients.yml`. */
  recipients: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
  /** The variables that conf names where it says what may be signed. */
  environment: Type.Record(Type.String(), Type.String()),
  /** The setting `plugins.disabled`. */
  disabled: Type.Optional(Type.Array(Type.String())),
  /** Plugins run that no file describes, because this server only tries: keys that everybody knows sign for them on local networks. */
  tries: Type.Boolean(),
})
export type SignerFiles = Static<typeof signerFiles>

interface ChainFacts {
  readonly chain: string
  readonly keys: CurveName
  readonly network: string
  readonly feeCapRaw: string
  readonly chainId: number
  readonly local: boolean
  readonly wrapped?: string
  readonly tip?: TipRules
}

interface ConnectorFacts {
  /** As `chain/network`. */
  readonly on: string
  /** By their names. */
  readonly contracts: Readonly<Record<string, unknown>>
  readonly spenders: readonly string[]
  readonly signs: readonly TypedDataRules[]
  readonly isContained: boolean
  /** By the names of contracts; of the release's connectors alone. */
  readonly readers?: ReleasePolicy['connectors'][string]['readers']
  /** Of the release's connectors alone. */
  readonly signedActions?: ReleasePolicy['connectors'][string]['signedActions']
  /** Only where the operator's file says `signedPermits`. */
  readonly permits?: ReleasePolicy['connectors'][string]['permits']
}

interface Deposit {
  readonly on: string
  readonly token: string
  readonly recipient: string
  /** SHA-256 of the plugin's files. Absent for those of the release. */
  readonly plugin?: string
}

/** What the release and the operator's conf say, as it was read once. Plain JSON. */
export const signingSources = Type.Object(
  {
    released: releasePolicy,
    /** By the names of the built-in connectors. */
    defaults: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())),
    /** By `chains/<name>` and `connectors/<name>`. */
    conf: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())),
    /** Addresses of ERC-20 tokens, by `chain/network`. */
    tokens: Type.Record(Type.String(), Type.Array(Type.String())),
  },
  { additionalProperties: false },
)
export type SigningSources = Static<typeof signingSources>

/** Reads all that a policy is made of, but for the records of sluice.lock. @throws Error where the installation is broken */
export function readSources({ confDir, plugins, environment }: SignerFiles): SigningSources {
  const released = readReleasePolicy()
  const defaults = plugins.flatMap((name) =>
    Object.hasOwn(released.connectors, name) ? [[name, mergedFiles([path.join(builtInPlugins, name, 'defaults.yml')])]] : [],
  )
  noteSpellings(JSON.stringify(defaults))
  const conf = confFiles(confDir).map((file) => [file, fileOf(path.join(confDir, `${file}.yml`), environment)])
  return {
    released,
    defaults: Object.fromEntries(defaults),
    conf: Object.fromEntries(conf),
    tokens: addressesOf(listedTokens(released, confDir)),
  }
}

const addressesOf = (lists: ListedTokens): Record<string, string[]> =>
  Object.fromEntries(Object.entries(lists).map(([on, tokens]) => [on, tokens.map(({ address }) => address)]))

const confFiles = (confDir: string): string[] =>
  ['chains', 'connectors'].flatMap((kind) => {
    const folder = path.join(confDir, kind)
    if (!existsSync(folder)) return []
    return readdirSync(folder).flatMap((file) => (file.endsWith('.yml') ? [`${kind}/${file.slice(0, -'.yml'.length)}`] : []))
  })

/** @param lock the records that hold: those that the operator's passphrase stands for */
export function policyFromFiles(files: SignerFiles, lock: PluginLock, sources: SigningSources = readSources(files)): SignerPolicy {
  const { plugins, allowedSpenders, recipients = {} } = files
  const { released: release } = sources
  const chains = new Map<string, ChainFacts>()
  const connectors: ConnectorFacts[] = []
  const deposits: Deposit[] = []
  const conf = (kind: 'chains' | 'connectors', name: string): Section => ownOf(sources.conf, `${kind}/${name}`) ?? {}

  for (const name of plugins) {
    const chain = ownOf(release.chains, name)
    const connector = ownOf(release.connectors, name)
    const record = chain || connector ? undefined : ownOf(lock, name)
    if (chain) {
      const own = conf('chains', chain.chain)
      for (const [network, facts] of Object.entries(chain.networks))
        add({ chain: chain.chain, network, keys: chain.keys, ...facts, local: facts.local === true }, own)
    }
    if (connector) {
      const settings = { defaults: ownOf(sources.defaults, name) ?? {}, conf: conf('connectors', name) }
      const entries = entriesInForce(settings, 'contractAddresses', connector.networks)
      const permits = mayHavePermits(settings.conf) ? connector.permits : undefined
      for (const [on, contracts] of entries) connectors.push({ on, contracts, ...connector, permits, isContained: false })
      for (const [, bridges] of entriesInForce(settings, 'bridges', connector.networks)) deposits.push(...depositsOf(bridges))
    }
    if (record?.kind === 'chain') {
      const [chainName = ''] = Object.keys(record.networks)[0]?.split('/') ?? []
      const own = conf('chains', chainName)
      for (const facts of recordedChain(record))
        if (record.tier === 'trusted' || (record.tier === 'data' && isOfItsOwn(name, facts))) add(facts, own)
    } else if (record?.kind === 'connector') {
      const own = conf('connectors', name)
      connectors.push(...recordedConnector(record, own))
      deposits.push(...recordedDeposits(record, own))
    }
  }

  /** A chain that is data alone signs for no other's id, and well-known keys do not sign on it. */
  function isOfItsOwn(name: string, { chainId, local }: ChainFacts): boolean {
    const released = Object.values(release.chains).flatMap(({ networks }) => Object.values(networks))
    const recorded = Object.entries(lock).flatMap(([each, record]) =>
      each === name || record.kind !== 'chain' ? [] : recordedChain(record),
    )
    return !local && ![...released, ...recorded].some((each) => each.chainId === chainId)
  }

  /** The release's chains come first and stay. */
  function add(facts: ChainFacts, own: Section): void {
    const on = `${facts.chain}/${facts.network}`
    if (chains.has(on)) return
    const entry = Object.hasOwn(own, facts.network) ? own[facts.network] : undefined
    const feeCap = isObject(entry) ? feeCapOf(entry['feeCap'], facts.keys) : undefined
    const tip = isObject(entry) && facts.keys === 'ed25519' ? tipOf(entry['privateTip']) : undefined
    chains.set(on, { ...facts, ...(feeCap !== undefined && { feeCapRaw: feeCap }), ...(tip && { tip }) })
  }

  return {
    networks: [...chains].flatMap(([on, facts]) => networkPolicy(facts, on, connectors, deposits, ownOf(sources.tokens, on))),
    allowedSpenders: allowedSpenders.flatMap((text) => curves.secp256k1.address(text) ?? []),
    recipients,
  }
}

/** The names of connectors that have a contract, as `ownersOf` finds them. Plain JSON. */
export type ContractOwners = Readonly<Record<string, readonly string[]>>

/** @param on `chain/network` */
export const ownersOf = (owners: ContractOwners, on: string, address: string): readonly string[] =>
  ownOf(owners, contractKey(on, address)) ?? []

const contractKey = (on: string, address: string) => `${on} ${addressKey(address)}`

/** The operator's files, and the variables that they may name. */
interface ConfFiles {
  readonly confDir: string
  readonly environment: Environment
}

/** The contracts of the release's connectors, by its own files and the operator's. */
export const releasedOwners = (files: ConfFiles): ContractOwners => ownersBy(() => true, files)

/** The same, of the contracts in which wallets have something by them. Whoever has a wallet call such a contract may take it out. */
export const releasedHolders = (files: ConfFiles): ContractOwners => ownersBy((name, { holds }) => holds.includes(name), files)

function ownersBy(
  counts: (contract: string, connector: ReleasePolicy['connectors'][string]) => boolean,
  { confDir, environment }: ConfFiles,
): ContractOwners {
  const owners = new Map<string, string[]>()
  for (const [name, connector] of Object.entries(readReleasePolicy().connectors)) {
    const defaults = mergedFiles([path.join(builtInPlugins, name, 'defaults.yml')])
    const conf = fileOf(path.join(confDir, 'connectors', `${name}.yml`), environment)
    // Also where the operator names another contract: wallets may have something in that of the release.
    const entries = [
      ...entriesOf(defaults, 'contractAddresses', connector.networks),
      ...entriesInForce({ defaults, conf }, 'contractAddresses', connector.networks),
    ]
    const addresses = entries.flatMap(([on, contracts]) =>
      Object.entries(contracts).flatMap(([label, address]) => (counts(label, connector) ? [contractKey(on, String(address))] : [])),
    )
    for (const key of new Set(addresses)) owners.set(key, [...(owners.get(key) ?? []), name])
  }
  return Object.fromEntries(owners)
}

/** Which connectors of these files and records may have a spender approved on a network (`chain/network`). Runs no code of a plugin. */
export function spenderOwners(files: SignerFiles, lock: PluginLock): (on: string, spender: string) => readonly string[] {
  const sources = readSources(files)
  const isChain = (name: string) => Object.hasOwn(sources.released.chains, name) || ownOf(lock, name)?.kind === 'chain'
  const chains = files.plugins.filter(isChain)
  const owners = new Map<string, string[]>()
  for (const name of files.plugins.filter((each) => !isChain(each))) {
    const { networks } = policyFromFiles({ ...files, plugins: [...chains, name] }, lock, sources)
    for (const each of networks)
      for (const spender of each.keys === 'secp256k1' ? each.spenders : []) {
        const key = `${each.chain}/${each.network} ${addressKey(spender)}`
        owners.set(key, [...(owners.get(key) ?? []), name])
      }
  }
  return (on, spender) => owners.get(`${on} ${addressKey(spender)}`) ?? []
}

/** What a plugin of the release may touch, of its defaults and conf: runs none of its code. @throws Error where the installation is broken */
export function releasedScope(name: string, { confDir, environment }: ConfFiles): ReleasedScope | undefined {
  const { chains, connectors } = readReleasePolicy()
  const [chain, connector] = [ownOf(chains, name), ownOf(connectors, name)]
  if (chain) {
    const networks = Object.entries(chain.networks).map(([network, { chainId }]) => ({
      on: `${chain.chain}/${network}`,
      chainId,
      contracts: {},
    }))
    return { kind: 'chain', networks, spenders: [], signs: [] }
  }
  if (!connector) return undefined
  const { networks, spenders, signs } = connector
  const defaults = mergedFiles([path.join(builtInPlugins, name, 'defaults.yml')])
  const conf = fileOf(path.join(confDir, 'connectors', `${name}.yml`), environment)
  const inForce = new Map(entriesInForce({ defaults, conf }, 'contractAddresses', networks))
  return { kind: 'connector', networks: networks.map((on) => ({ on, contracts: inForce.get(on) ?? {} })), spenders, signs }
}

export interface ReleasedScope {
  readonly kind: 'chain' | 'connector'
  readonly networks: readonly { readonly on: string; readonly chainId?: number; readonly contracts: Readonly<Record<string, unknown>> }[]
  /** The names of those of its contracts that may be given allowances. */
  readonly spenders: readonly string[]
  readonly signs: readonly TypedDataRules[]
}

const ownOf = <T>(all: Readonly<Record<string, T>>, name: string): T | undefined => (Object.hasOwn(all, name) ? all[name] : undefined)

function networkPolicy(
  { chain, network, keys, chainId, feeCapRaw, local, wrapped, tip }: ChainFacts,
  on: string,
  connectors: readonly ConnectorFacts[],
  deposits: readonly Deposit[],
  tokens: readonly string[] = [],
): NetworkPolicy[] {
  const here = connectors.filter((each) => each.on === on)
  const spelt = (addresses: readonly unknown[]): string[] => [
    ...new Set(addresses.flatMap((each) => (typeof each === 'string' ? (curves[keys].address(each) ?? []) : []))),
  ]
  const spendersOf = (of: readonly ConnectorFacts[]) =>
    spelt(of.flatMap(({ contracts, spenders }) => spenders.map((name) => contracts[name])))
  const everywhere = { chain, network, feeCapRaw, local, contracts: spelt(here.flatMap(({ contracts }) => Object.values(contracts))) }
  if (keys === 'ed25519') {
    const programsOf = (of: readonly ConnectorFacts[]) => spelt(of.flatMap(({ contracts }) => Object.values(contracts)))
    const others = programsOf(here.filter(({ isContained }) => !isContained))
    const ofContained = programsOf(here.filter(({ isContained }) => isContained))
    const contained = ofContained.filter((each) => !others.includes(each))
    const shared = ofContained.filter((each) => others.includes(each))
    return [{ keys, ...everywhere, ...(contained.length > 0 && { contained }), ...(shared.length > 0 && { shared }), ...(tip && { tip }) }]
  }
  if (chainId === 0) return []
  const trusted = spendersOf(here.filter(({ isContained }) => !isContained))
  return [
    {
      keys,
      ...everywhere,
      chainId,
      spenders: spendersOf(here),
      exactSpenders: spendersOf(here.filter(({ isContained }) => isContained)).filter((each) => !trusted.includes(each)),
      tokens: [...tokens],
      ...(wrapped !== undefined && { wrapped }),
      deposits: deposits.flatMap((each) => {
        const [token, recipient] = [each.token, each.recipient].map((text) => curves.secp256k1.address(text))
        const { plugin } = each
        return each.on === on && token !== undefined && recipient !== undefined
          ? [{ token, recipient, ...(plugin !== undefined && { plugin }) }]
          : []
      }),
      typedData: here.flatMap(({ signs }) => signs),
      permitSpenders: spelt(here.flatMap(permitSpendersOf)),
      readers: readersOf(here),
      signedActions: here.flatMap(({ signedActions = [] }) =>
        signedActions.flatMap(({ networks, ...action }) => {
          const named = ownOf(networks, on)
          return named === undefined ? [] : [{ ...action, network: named }]
        }),
      ),
    },
  ]
}

/** By contract. Two connectors that read one contract in two ways leave it without a reader. */
function readersOf(connectors: readonly ConnectorFacts[]): Record<string, string> {
  const found = new Map<string, Set<string>>()
  for (const { contracts, readers = {} } of connectors)
    for (const [name, reader] of Object.entries(readers)) {
      const text = contracts[name]
      const address = typeof text === 'string' ? curves.secp256k1.address(text) : undefined
      if (address !== undefined) found.set(address, new Set([...(found.get(address) ?? []), reader]))
    }
  return Object.fromEntries(
    [...found].flatMap(([address, [reader, ...others]]) => (reader === undefined || others.length > 0 ? [] : [[address, reader]])),
  )
}

/** The setting by which permits are signed, in the operator's own file. A text is what a variable of the environment gives. */
const mayHavePermits = ({ signedPermits }: Section): boolean => signedPermits === true || signedPermits === 'true'

/** None where what the settings call Permit2 is another contract. */
function permitSpendersOf({ contracts, permits }: ConnectorFacts): readonly unknown[] {
  if (!permits) return []
  const permit2 = contracts[permits.permit2]
  const isCanonical = typeof permit2 === 'string' && permit2.toLowerCase() === canonicalPermit2.toLowerCase()
  return isCanonical ? permits.spenders.map((name) => contracts[name]) : []
}

/** The operator's file, with the values of the variables that it names; `{}` where there is none or it is wrong: then the plugin is refused. */
const fileOf = (file: string, environment: Environment): Section => {
  const { value } = substitute(mergedFiles([file]), environment)
  return isObject(value) ? value : {}
}

const longKey = (on: string): string => on.replace('/', '_').replaceAll('-', '_')
const shortKey = (on: string): string => on.slice(on.indexOf('/') + 1)

/** The entry of each network, under its long name, or under its short one where no other network has it: as the loader reads them. */
function entriesOf(settings: Section, of: string, networks: readonly string[]): [on: string, entry: Section][] {
  const all = settings[of]
  if (!isObject(all)) return []
  return networks.flatMap((on): [string, Section][] => {
    const isOnly = networks.filter((each) => shortKey(each) === shortKey(on)).length === 1
    const entry = ownOf(all, longKey(on)) ?? (isOnly ? ownOf(all, shortKey(on)) : undefined)
    return isObject(entry) ? [[on, entry]] : []
  })
}

/** The same of the operator's file laid over the plugin's: either may have a network under its long name. */
function entriesInForce({ defaults, conf }: PluginSettings, of: string, networks: readonly string[]): [on: string, entry: Section][] {
  const [below, above] = [defaults, conf].map((file) => new Map(entriesOf(file, of, networks)))
  return networks.flatMap((on): [string, Section][] => {
    const [under, over] = [below?.get(on), above?.get(on)]
    return under || over ? [[on, mergeOver(under ?? {}, over ?? {})]] : []
  })
}

function depositsOf(bridges: Section): Deposit[] {
  return Object.entries(bridges).flatMap(([chain, bridge]) => {
    if (!isObject(bridge)) return []
    const { network, token, recipient } = bridge
    const isWhole = typeof network === 'string' && typeof token === 'string' && typeof recipient === 'string'
    return isWhole ? [{ on: `${chain}/${network}`, token, recipient }] : []
  })
}

/** A record of an older version has no chain ids: then nothing is signed on that chain until it is trusted again. */
function recordedChain({ keys, networks }: LockedPlugin): ChainFacts[] {
  return Object.entries(networks).flatMap(([on, { chainId, feeCapRaw, local = false }]) => {
    const [chain = '', network = ''] = on.split('/')
    return keys === undefined || chainId === undefined || feeCapRaw === undefined
      ? []
      : [{ chain, network, keys, chainId, feeCapRaw, local }]
  })
}

/** A connector has typed data signed only where it is trusted, whatever its record says. */
function recordedConnector({ networks, signs, tier }: LockedPlugin, own: Section): ConnectorFacts[] {
  const inForce = new Map(entriesOf(own, 'contractAddresses', Object.keys(networks)))
  return Object.entries(networks).map(([on, { contracts, spenders }]) => ({
    on,
    contracts: mergeOver(contracts, inForce.get(on) ?? {}),
    spenders: Object.entries(contracts).flatMap(([name, address]) => (spenders.includes(address) ? [name] : [])),
    signs: tier === 'trusted' ? signs : [],
    isContained: tier !== 'trusted',
  }))
}

/**
 * Of a trusted plugin alone: a transfer to whomever its author names is what others are contained for. Records of 0.2.0 have some of contained ones, too.
 * Where conf has bridges, they take the place of the plugin's own.
 */
function recordedDeposits({ networks, deposits = [], tier, sha256 }: LockedPlugin, own: Section): Deposit[] {
  if (tier !== 'trusted') return []
  const inForce = entriesOf(own, 'bridges', Object.keys(networks)).flatMap(([, bridges]) => depositsOf(bridges))
  const recorded = deposits.map(({ chain, network, ...pair }) => ({ on: `${chain}/${network}`, ...pair }))
  return (inForce.length > 0 ? inForce : recorded).map((each) => ({ ...each, plugin: sha256 }))
}

/** The parts of the files of a plugin and of the operator that say what may be signed. */
interface PluginSettings {
  readonly defaults: Section
  readonly conf: Section
}

/**
 * Whether a record says something else than the files that are in force now. The signer goes by the addresses of conf on the networks of the
 * record; what conf takes away or adds elsewhere is not in the record before the plugin is allowed again.
 */
export function isOutdated({ kind, tier, networks, deposits }: LockedPlugin, { defaults, conf }: PluginSettings): boolean {
  const recorded = Object.keys(networks)
  if (kind === 'chain')
    return Object.entries(conf).some(
      ([network, entry]) => isObject(entry) && entry['enabled'] !== false && !recorded.some((on) => shortKey(on) === network),
    )
  const inForce = new Map(entriesInForce({ defaults, conf }, 'contractAddresses', recorded))
  const own = conf['contractAddresses']
  const known = recorded.flatMap((on) => [longKey(on), shortKey(on)])
  if (isObject(own) && Object.keys(own).some((key) => !known.includes(key))) return true
  // Of several networks one may have the short name by the plugin's manifest, which is not read here: the record says which.
  const shared = (on: string): Section => {
    const entry = isObject(own) ? ownOf(own, shortKey(on)) : undefined
    return isObject(entry) ? entry : {}
  }
  const isOther = recorded.some((on) => {
    const contracts = asText(networks[on]?.contracts ?? {})
    const now = inForce.get(on) ?? {}
    return ![now, mergeOver(now, shared(on))].some((each) => asText(each) === contracts)
  })
  if (tier !== 'trusted') return isOther
  const bridges = entriesInForce({ defaults, conf }, 'bridges', recorded).flatMap(([, each]) => depositsOf(each))
  const before = (deposits ?? []).map(({ chain, network, ...pair }) => ({ on: `${chain}/${network}`, ...pair }))
  const textOf = (each: readonly Deposit[]) => asText(each.map(({ on, token, recipient }) => `${on} ${token} ${recipient}`))
  return isOther || (deposits !== undefined && textOf(bridges) !== textOf(before))
}

/** Spellings of one address are the same. */
const asText = (values: readonly string[] | Section): string =>
  (Array.isArray(values) ? values : Object.entries(values).map((each) => each.join(' ')))
    .map((each: string) => each.split(' ').map(addressKey).join(' '))
    .toSorted()
    .join()

/** The setting `feeCap` of a network: gwei on EVM chains, lamports on Solana. What no chain of the family accepts counts as not set. */
function feeCapOf(value: unknown, keys: CurveName): string | undefined {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value).trim() : ''
  if (keys === 'ed25519') return /^[0-9]{5,10}$/.test(text) ? text : undefined
  if (typeof value === 'number') return value > 0 && value <= 1_000_000 ? parseUnits(value.toFixed(9), 'gwei').toString() : undefined
  return /^\d{1,7}(\.\d{1,9})?$/.test(text) ? parseUnits(text, 'gwei').toString() : undefined
}

/** The setting `privateTip` of a network of Solana. What the chain does not accept counts as not set: then no tip is signed. */
function tipOf(value: unknown): TipRules | undefined {
  const { lamports, accounts } = isObject(value) ? value : {}
  if (typeof lamports !== 'number' || !Number.isSafeInteger(lamports) || lamports <= 0 || !Array.isArray(accounts)) return undefined
  const spelt = accounts.flatMap((each) => (typeof each === 'string' ? (curves.ed25519.address(each) ?? []) : []))
  return spelt.length === accounts.length ? { mostRaw: String(lamports), accounts: spelt } : undefined
}

/** The variables of the environment that conf names where it says what may be signed, with their values. */
export function namedVariables(confDir: string, environment: Environment): Record<string, string> {
  const named: Record<string, string> = {}
  const note = (value: unknown) =>
    mapTexts(value, (text) => {
      for (const [, name = ''] of text.matchAll(/\$\{(\w+)\}/g)) {
        const is = environment[name]
        if (is !== undefined && is !== '') named[name] = is
      }
      return text
    })
  for (const kind of ['chains', 'connectors']) {
    const folder = path.join(confDir, kind)
    if (!existsSync(folder)) continue
    for (const file of readdirSync(folder).filter((each) => each.endsWith('.yml'))) {
      const settings = readYaml(path.join(folder, file), file, [])?.value ?? {}
      note([settings['contractAddresses'], settings['bridges'], settings['signedPermits']])
      if (kind === 'chains')
        note(Object.values(settings).map((entry) => (isObject(entry) ? [entry['feeCap'], entry['privateTip']] : undefined)))
    }
  }
  return named
}

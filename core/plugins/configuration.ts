import { Ajv } from 'ajv'
import { ConfigError, nearest, type ConfigProblem } from '../config/problems.ts'
import type { PluginConfig } from '../config/plugin-config.ts'
import { checkBy } from '../config/check.ts'
import { pointerOf } from '../config/tree.ts'
import { type Manifest, type Bridge, type ConnectorConfig, bridgesSchema } from '../contracts/index.ts'
import type { FoundPlugin } from './discover/find.ts'
import type { LoadedChain } from './loaded-plugin.ts'
import { PluginFault, faultOf } from './refusal.ts'
import { isObject } from '../base/json.ts'

interface NetworkName {
  readonly chain: string
  readonly network: string
}

type Addresses = Readonly<Record<string, string>>

/**
 * This network's entry of a connector's `contractAddresses`. `<chain>_<network>` (hyphens as underscores) wins over `<network>`, which is
 * refused where several chains have a network of that name. `{}` for an exchange without contracts; undefined where only this network has no
 * entry. @throws PluginFault
 */
export function contractsOf(
  name: string,
  config: unknown,
  { chain, network }: NetworkName,
  manifest: Manifest,
  places?: PluginConfig['places'],
): Addresses | undefined {
  const all = contractAddresses(config)
  if (all.size === 0) return {}
  return entryOf(all, 'contractAddresses', name, { chain, network }, manifest, places)
}

/** Of each network name that means one network, alone or by the manifest's `shortNames`: the key with its chain. */
export function networkKeysOf(
  available: Manifest['available_networks'],
  shortNames: NonNullable<Manifest['shortNames']>,
): Readonly<Record<string, string>> {
  const names = new Set(available.flatMap(({ networks }) => networks))
  return Object.fromEntries(
    [...names].flatMap((network) => {
      const chains = available.flatMap(({ chain, networks }) => (networks.includes(network) ? [chain] : []))
      const chain = chains.length === 1 ? chains[0] : shortNames[network]
      return chain === undefined ? [] : [[network, longKey(chain, network)]]
    }),
  )
}

/** The key of `contractAddresses` that holds a network's entry. */
export function contractsKey(config: unknown, { chain, network }: NetworkName): string {
  const long = longKey(chain, network)
  return contractAddresses(config).has(long) ? long : network
}

/** The entry under a network's short or long name. @throws PluginFault */
function entryOf<T>(
  all: ReadonlyMap<string, T>,
  of: 'contractAddresses' | 'bridges',
  name: string,
  { chain, network }: NetworkName,
  manifest: Manifest,
  places: PluginConfig['places'] = {},
): T | undefined {
  const namesakes = manifest.available_networks
    .filter(({ networks }) => networks.includes(network))
    .map((entry) => longKey(entry.chain, network))
  const bare = all.get(network)
  const owner = manifest.shortNames?.[network]
  if (bare !== undefined && namesakes.length > 1 && owner === undefined) {
    const { place, file } = placeOf(name, { places }, [of, network])
    throw new PluginFault(
      'configuration',
      `${place === undefined ? '' : `${place} `}${of}.${network} is ambiguous, it may be any of ${namesakes.join(', ')}`,
      `Write one of these instead of ${network} in ${file}; its author may say which of them it is: shortNames in the manifest.`,
    )
  }
  if (owner !== undefined && owner !== chain && namesakes.length > 1) return all.get(longKey(chain, network))
  return all.get(longKey(chain, network)) ?? bare
}

/** `<file>:<line>` of a value, and the file to name in a remedy: the operator's where the value is in none. */
export function placeOf(name: string, { places = {} }: Pick<PluginConfig, 'places'>, path: readonly string[]) {
  const place = places[pointerOf(path)]
  return { place, file: place?.replace(/:\d+$/, '') ?? `conf/connectors/${name}.yml` }
}

/** A network of the manifest that its chain does not have. */
export interface MisspeltNetwork {
  readonly chain: string
  readonly network: string
  /** `<file>:<line>`, where the author's files tell it. */
  readonly at: string | undefined
  /** The networks of the chain. */
  readonly known: readonly string[]
}

/** A key that names no network is misspelt, or the manifest is. @throws PluginFault */
export function checkNetworkKeys(
  name: string,
  configuration: Pick<PluginConfig, 'config' | 'places'>,
  manifest: Manifest,
  misspelt: readonly MisspeltNetwork[],
): void {
  const { config } = configuration
  const known = manifest.available_networks.flatMap(({ chain, networks }) =>
    networks.flatMap((network) => [network, longKey(chain, network)]),
  )
  const bridges = isObject(config) && isObject(config.bridges) ? Object.keys(config.bridges) : []
  for (const [of, keys] of Object.entries({ contractAddresses: contractAddresses(config).keys(), bridges })) {
    const unknown = [...keys].filter((key) => !known.includes(key))
    const [first] = unknown
    if (first === undefined) continue
    const meant = misspelt.find(({ chain, known: networks }) => networks.some((each) => [each, longKey(chain, each)].includes(first)))
    if (meant) {
      throw new PluginFault(
        'networks',
        `${meant.at === undefined ? '' : `${meant.at}: `}available_networks has '${meant.network}', which is not a network of ${meant.chain}, while ${of} has ${first}`,
        networkRemedy(meant),
      )
    }
    const { place, file } = placeOf(name, configuration, [of, first])
    throw new PluginFault(
      'configuration',
      `${place === undefined ? '' : `${place} `}${of} has ${unknown.join(', ')}, which the connector does not serve`,
      `In ${file}, use ${known.join(', ')}.`,
    )
  }
}

export function networkRemedy({ chain, network, at, known }: MisspeltNetwork): string {
  const near = nearest(network, known)
  const where = `in available_networks of the manifest${at === undefined ? '' : ` (${at})`}`
  return near === undefined ? `Correct it ${where}: ${chain} has ${known.join(', ')}.` : `Write '${near}' instead of '${network}' ${where}.`
}

function contractAddresses(config: unknown): ReadonlyMap<string, Addresses> {
  if (!isObject(config) || !isObject(config.contractAddresses)) return new Map()
  return new Map(
    Object.entries(config.contractAddresses).map(([network, entry]): [string, Addresses] => {
      if (isAddresses(entry)) return [network, entry]
      throw new PluginFault(
        'configuration',
        `contractAddresses.${network} is not a mapping of names to addresses`,
        'Write each address as a quoted string.',
      )
    }),
  )
}

function longKey(chain: string, network: string): string {
  return `${chain}_${network}`.replaceAll('-', '_')
}

function isAddresses(entry: unknown): entry is Addresses {
  return isObject(entry) && Object.values(entry).every((address) => typeof address === 'string')
}

/**
 * The bridges over which deposits reach a connector on this network, by the chain that they come from: its entry of `bridges`, with keys
 * as in `contractAddresses`. Addresses are in that chain's canonical spelling where the chain is loaded. @throws PluginFault
 */
export function bridgesOf(
  name: string,
  { bridges = {} }: Pick<ConnectorConfig, 'bridges'>,
  at: NetworkName,
  manifest: Manifest,
  chains: readonly LoadedChain[],
): Readonly<Record<string, Bridge>> {
  const here = entryOf(new Map(Object.entries(bridges)), 'bridges', name, at, manifest) ?? {}
  if (Object.hasOwn(here, at.chain))
    throw new PluginFault(
      'configuration',
      `bridges: '${at.chain}' is the connector's own chain`,
      `Deposits from there need no bridge: take it out of conf/connectors/${name}.yml.`,
    )
  return Object.fromEntries(Object.entries(here).map(([chain, bridge]) => [chain, spelt(name, chain, bridge, chains)]))
}

/** The transfer to a bridge goes to whomever its settings name. What nobody trusts has none signed. */
export const mayDeposit = ({ builtIn, tier }: Pick<FoundPlugin, 'builtIn' | 'tier'>): boolean => builtIn || tier === 'trusted'

/** What people are told of bridges that have no effect. */
export function unusedBridges(found: FoundPlugin, { config, ...places }: Pick<PluginConfig, 'config' | 'places'>): string[] {
  const [network] = isObject(config.bridges) && !mayDeposit(found) ? Object.keys(config.bridges) : []
  if (network === undefined) return []
  const { file } = placeOf(found.name, places, ['bridges', network])
  return [
    `bridges in ${file} has no effect: deposits from other chains are signed for connectors that are built in or trusted alone. Take it out`,
  ]
}

function spelt(name: string, chain: string, { network, ...addresses }: Bridge, chains: readonly LoadedChain[]): Bridge {
  const on = chains.find((each) => each.name === chain)?.venues.find((venue) => venue.network === network)
  const spell = (key: keyof typeof addresses): string => {
    const text = addresses[key]
    const address = on ? on.implementation.address(text) : text
    if (address !== undefined) return address
    throw new PluginFault(
      'configuration',
      `bridges: ${key} '${text}' is not an address on ${chain} ${network}`,
      `Correct it in conf/connectors/${name}.yml: quoted, complete, and with the right checksum where it has one.`,
    )
  }
  return { network, token: spell('token'), recipient: spell('recipient') }
}

const rules = {
  allowedSlippage: { type: 'string', pattern: '^\\d{1,9}/[1-9]\\d{0,8}$' },
  ttl: { type: 'integer', minimum: 1 },
} as const

/** The keys that core itself uses for trading, whatever the manifest's schema says. */
const baseSchema = {
  type: 'object',
  properties: {
    ...rules,
    contractAddresses: { type: 'object' },
    bridges: bridgesSchema,
    versions: { type: 'object', additionalProperties: { type: 'object', properties: rules, required: Object.keys(rules) } },
  },
  required: [...Object.keys(rules), 'contractAddresses'],
}
const isBase = checkBy<ConnectorConfig>(baseSchema, () =>
  new Ajv({ allErrors: true, meta: false, validateSchema: false }).compile(baseSchema),
)

/** @throws PluginFault */
export function checkBaseKeys({ name, tier }: Pick<FoundPlugin, 'name' | 'tier'>, config: unknown): asserts config is ConnectorConfig {
  if (!isBase(config)) {
    const wrong = (isBase.errors ?? []).map(({ instancePath, params, message }) => {
      const place = [...instancePath.split('/').slice(1), params.missingProperty ?? []].flat().join('.')
      return `${place}: ${message ?? 'is wrong'}`
    })
    throw new PluginFault(
      'configuration',
      [...new Set(wrong)].join('; '),
      `Write these keys, which every connector has, in conf/connectors/${name}.yml or in the plugin's defaults.yml.`,
    )
  }
  for (const [key, { allowedSlippage, ttl }] of [['', config] as const, ...versionsOf(config)]) {
    checkSlippage(name, `${key}allowedSlippage`, allowedSlippage)
    if (tier === 'contained' || tier === 'data') checkContainedRules(name, key, { allowedSlippage, ttl })
  }
}

const versionsOf = ({ versions = {} }: ConnectorConfig) =>
  Object.entries(versions).map(([version, rules]) => [`versions.${version}.`, rules] as const)

/** The files of a plugin set what its trades may lose, and for how long they may be mined: what nobody trusts gets little of both. */
const mostContained = { slippage: { numerator: 1n, denominator: 20n }, ttlSeconds: 3_600 }

function checkContainedRules(name: string, key: string, { allowedSlippage, ttl }: Pick<ConnectorConfig, 'allowedSlippage' | 'ttl'>): void {
  const { slippage, ttlSeconds } = mostContained
  const [numerator = '', denominator = ''] = allowedSlippage.split('/')
  const isLoose = BigInt(numerator) * slippage.denominator > BigInt(denominator) * slippage.numerator
  if (!isLoose && ttl <= ttlSeconds) return
  const [what, most] = isLoose ? [`allowedSlippage ${allowedSlippage}`, '1/20'] : [`ttl ${ttl}`, `${ttlSeconds} (seconds)`]
  throw new PluginFault(
    'configuration',
    `${key}${what} is more than a plugin may have that is neither built in nor trusted`,
    `Write at most ${most} in conf/connectors/${name}.yml.`,
  )
}

/** A slippage of 1 or more leaves a SELL without a bound. Such a fraction is probably upside down. */
function checkSlippage(name: string, key: string, slippage: string): void {
  const [numerator = '', denominator = ''] = slippage.split('/')
  if (BigInt(numerator) < BigInt(denominator)) return
  throw new PluginFault(
    'configuration',
    `${key} ${slippage} is not below 1: trades would have no bound`,
    `Write a fraction below 1 in conf/connectors/${name}.yml, such as 1/100 for one percent.`,
  )
}

/** Runs a function that reads configuration, and throws its errors as faults of the configuration. */
export async function readingConfiguration<T>(read: () => Promise<T>, remedy: string): Promise<T> {
  try {
    return await read()
  } catch (thrown) {
    throw configurationFault(thrown, remedy)
  }
}

/** A refusal from the problems of a plugin's configuration. */
function configurationFault(thrown: unknown, remedy: string): PluginFault {
  if (!(thrown instanceof ConfigError)) return faultOf(thrown, 'configuration', remedy)
  const { problems } = thrown
  const { reason, remedy: each } = explainProblems(problems)
  const step = problems.some(({ path }) => path === 'manifest.schema') ? 'manifest' : 'configuration'
  return new PluginFault(step, reason, each)
}

/** Each with its place, and each remedy once. */
export function explainProblems(problems: readonly ConfigProblem[]): { reason: string; remedy: string } {
  const remedyOf = ({ path, remedy: one }: ConfigProblem) => (one.startsWith('Add it: ') ? one.replace('it', path) : one)
  const reason = problems
    .map(
      ({ file, line, path, problem }) => `${[line === undefined ? file : `${file}:${line}`, path].filter(Boolean).join(' ')}: ${problem}`,
    )
    .join('; ')
  return { reason, remedy: [...new Set(problems.map(remedyOf))].join(' ') }
}

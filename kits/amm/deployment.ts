// What an exchange has on one network: the plugin's constants, the configured addresses, and whether both belong together.
import { AbiCoder, dataLength } from 'ethers'
import { SluiceError, type NetworkNames, type Venue } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import type { CallResult, Evm } from '../evm/types.ts'

/**
 * The plugin's constants for the venue's network.
 * @param byNetwork by `<chain>/<network>`
 * @param what names them in the error: "pools"
 * @throws Error where the plugin has none for this network
 */
export function deploymentOn<T>({ chain, network }: Venue<Evm>, byNetwork: Readonly<Record<string, T>>, what: string): T {
  const deployment = byNetwork[`${chain}/${network}`]
  if (deployment !== undefined) return deployment
  const known = Object.keys(byNetwork).join(', ') || 'none'
  throw new Error(
    `The plugin has no ${what} for ${chain}/${network} (it has ${known}): add them to its deployments, or remove the network from its available_networks.`,
  )
}

/** An address from the network's entry of `contractAddresses`. @throws Error where the configuration lacks it */
export function configuredAddress({ chain, network, contracts }: Venue<Evm>, key: string): string {
  const address = contracts[key]
  if (address) return address
  throw new Error(`The configuration has no ${key} for ${chain}/${network}: add it to the network's entry of contractAddresses.`)
}

/** The key of a router's address: `v2RouterAddress`, or `routerAddress` for an exchange of one version. */
export const routerAddressKey = (version: string | undefined): string => (version ? `${version}RouterAddress` : 'routerAddress')

/** Whether the configuration lists versions of the exchange without this one. */
export const isLeftOut = ({ config }: Venue<Evm>, version: string | undefined): boolean =>
  version !== undefined && listedVersions(config)?.includes(version) === false

/** A view of a contract that has to return a certain address. */
interface ExpectedAddress {
  /** The contract, as the error names it: "The configured router 0x…". */
  readonly contract: string
  /** The view, as the error names it: "factory()". */
  readonly view: string
  readonly address: string
  /** What to do where it differs; correct `contractAddresses` unless given. */
  readonly remedy?: string
}

/**
 * Compares the addresses that views returned, in order, with the expected ones. With a wrong address in the configuration, prices would come
 * from one exchange and trades would go to another.
 * @throws SluiceError SERVICE_UNINITIALIZED for the first that differs
 */
export function requireAddresses(expected: readonly ExpectedAddress[], answers: readonly (CallResult | undefined)[]): void {
  for (const [
    index,
    { contract, view, address, remedy = "Correct contractAddresses in the connector's configuration" },
  ] of expected.entries()) {
    const answer = answers[index]
    const found = addressIn(answer)
    if (found?.toLowerCase() === address.toLowerCase()) continue
    requireNoRevert(contract, view, answer, remedy)
    throw new SluiceError(
      'SERVICE_UNINITIALIZED',
      `${contract} is not this exchange's on this network: its ${view} is ${found ?? 'nothing'}, not ${address}. ${remedy}.`,
    )
  }
}

/**
 * A call to an address without code succeeds and returns nothing: what reverts is a contract, which may be the right one and paused.
 * @param remedy what to do where the contract is another one
 * @throws SluiceError SERVICE_UNINITIALIZED where the view reverted
 */
export function requireNoRevert(contract: string, view: string, answer: CallResult | undefined, remedy: string): void {
  if (answer?.ok !== false) return
  throw new SluiceError(
    'SERVICE_UNINITIALIZED',
    `${contract} reverts when its ${view} is called: it may be paused, then wait. If it is not paused, it is another contract: ${remedy.charAt(0).toLowerCase()}${remedy.slice(1)}.`,
  )
}

/** The address in the first word; undefined where there is none: a call to an address without code succeeds and returns nothing, another contract a number. */
export function addressIn(answer: CallResult | undefined): string | undefined {
  if (!answer?.ok || dataLength(answer.data) < 32 || !/^0x0{24}/.test(answer.data)) return undefined
  return String(AbiCoder.defaultAbiCoder().decode(['address'], answer.data)[0])
}

/** The order in which pools keep two tokens. */
export function sortTokens(a: string, b: string): readonly [token0: string, token1: string] {
  return a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a]
}

// Callers may ask for any token, so the cache is bounded.
const maxCachedPairs = 10_000

/**
 * Caches a value for each two tokens, in either order. The hashes of a pool's address cost more than the rest of a quote, and a quote needs
 * some twenty of them. Cached pairs are found by the addresses as given, without sorting or joining them.
 * @param create gets the tokens in the order of pools
 */
export function cacheByPair<T>(create: (tokens: readonly [token0: string, token1: string]) => T): (a: string, b: string) => T {
  const cache = new Map<string, Map<string, T>>()
  let count = 0
  return (a, b) => {
    const found = cache.get(a)?.get(b)
    if (found !== undefined) return found
    const created = create(sortTokens(a, b))
    if (count >= maxCachedPairs) {
      cache.clear()
      count = 0
    }
    const ofA = cache.get(a) ?? new Map<string, T>()
    cache.set(a, ofA.set(b, created))
    count += 1
    return created
  }
}

/** The error for a node that stopped the lens, which reads many pools at once, before its end. */
export const poolsUnread = (): SluiceError =>
  new SluiceError(
    'NETWORK',
    'The node did not read all pools: try again. If this stays, check in rpcUrls that the node allows calls of 50 million gas.',
  )

/** The labels under `versions` of a connector's configuration. Undefined if there are none. */
export function listedVersions(config: unknown): readonly string[] | undefined {
  if (!isObject(config) || !('versions' in config)) return undefined
  const { versions } = config
  return isObject(versions) ? Object.keys(versions) : undefined
}

/** The networks of a table of deployments, as a manifest names them. The keys of the table are `<chain>/<network>`. */
export function networksIn(deployments: Readonly<Record<string, unknown>>): readonly NetworkNames[] {
  const byChain = new Map<string, string[]>()
  for (const key of Object.keys(deployments)) {
    const [chain = '', network = ''] = key.split('/')
    byChain.set(chain, [...(byChain.get(chain) ?? []), network])
  }
  return [...byChain].map(([chain, networks]) => ({ chain, networks }))
}

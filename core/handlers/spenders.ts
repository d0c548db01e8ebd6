// Who a request to approve names: connectors' contracts or an address, whether they may be approved, and on which terms.
import { didYouMean } from '../config/problems.ts'
import { approvableOf, type At } from '../contracts/index.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import type { Quarantine } from '../transactions/quarantine.ts'
import { isUnlimited } from '../contracts/permit2.ts'
import { readMoment } from './read-fields.ts'
import { notYet, type NetworkEntry, type Registry, type VenueEntry } from '../plugins/index.ts'
import { isSameAddress } from '../base/addresses.ts'

export interface Spenders {
  addresses: readonly string[]
  /** Those, and all others that the connector of this name has. */
  all: readonly string[]
  /** A connector declares it, so everybody may approve it. */
  registered: boolean
  /** Of all of them: spender → the Permit2 contract by which it takes tokens. */
  permit2: ReadonlyMap<string, string>
}

interface SpenderServices {
  readonly settings: {
    readonly wallet: { readonly allowedSpenders: readonly string[] }
    readonly limits: { readonly onLocalNetworks: boolean }
  }
  readonly registry: Pick<Registry, 'plugins' | 'venuesOn'>
}

/** The spenders on a network that take tokens by Permit2. */
export const permit2On = ({ chain, network }: NetworkEntry, registry: Registry): ReadonlyMap<string, string> =>
  new Map(
    registry
      .venuesOn(chain, network)
      .flatMap(({ impl: { permit2 } }) => permit2?.spenders.map((spender) => [spender, permit2.address] as const) ?? []),
  )

/**
 * Reads `spender`: a connector's name (what its swaps need; where it has none all of its spenders, without those of deposits alone),
 * `name/label`, or an address.
 * @throws SluiceError INCOMPLETE_PARAMS
 */
export async function readSpenders(text: string, on: NetworkEntry, registry: Registry, at: At): Promise<Spenders> {
  const { impl, chain, network } = on
  const known = permit2On(on, registry)
  const of = (addresses: readonly string[]) => new Map([...known].filter(([spender]) => addresses.includes(spender)))
  const [name = '', ...rest] = text.split('/')
  const label = rest.length === 0 ? undefined : rest.join('/')
  if (registry.hasConnector(name) || registry.pending(name)) {
    // Only the network was started for the request.
    await registry.wake(chain, network, name)
    const { impl: connector } = registry.venue(name, chain, network)
    const approvable = approvableOf(connector)
    const labelled = label !== undefined && Object.hasOwn(approvable, label) ? [approvable[label] ?? ''] : []
    const all = label === undefined ? [...new Set(Object.values(connector.spenders ?? {}))] : labelled
    const ofSwaps = label === undefined ? ((await connector.AMM?.swapSpenders?.(at)) ?? []).filter((each) => all.includes(each)) : []
    const addresses = ofSwaps.length > 0 ? ofSwaps : all
    if (addresses.length > 0) return { addresses, all, registered: true, permit2: of(all) }
    const labels =
      Object.keys(approvable)
        .map((each) => `${name}/${each}`)
        .join(', ') || 'none'
    throw badFields([{ field: 'spender', problem: `"${text}" names no contract of ${name} (${labels})` }])
  }
  const address = impl.address(text)
  if (address !== undefined) {
    const own = registry.venuesOn(chain, network).flatMap((venue) => Object.values(approvableOf(venue.impl)))
    return { addresses: [address], all: [address], registered: own.includes(address), permit2: of([address]) }
  }
  const connectors = registry.connectors.map((each) => each.name)
  throw badFields([
    { field: 'spender', problem: `"${text}" is neither a registered connector${didYouMean(name, connectors)} nor an address` },
  ])
}

/** The signer signs by files alone: who asks makes no difference. On a devnet nothing is worth anything, unless its limits are tried. @throws SluiceError FORBIDDEN */
export function requireMayApprove(
  { addresses, registered }: Pick<Spenders, 'addresses' | 'registered'>,
  on: Pick<NetworkEntry, 'chain' | 'network'> & { readonly impl: Pick<NetworkEntry['impl'], 'local'> },
  { settings, registry }: SpenderServices,
): void {
  const allowed = settings.wallet.allowedSpenders
  const isFree = on.impl.local && !settings.limits.onLocalNetworks
  if (registered || isFree || addresses.every((each) => allowed.some((one) => isSameAddress(one, each)))) return
  const pending = registry.plugins.find(({ state }) => state === 'pending')
  const line = `[${[...allowed, ...addresses].map((each) => `"${each}"`).join(', ')}]`
  if (pending) throw notYet(pending.name, `Whether it declares the spender ${addresses.join(', ')} is known in a moment`)
  throw new SluiceError(
    'FORBIDDEN',
    `${addresses.join(', ')} belongs to no connector that is registered on ${on.chain}/${on.network}, so nothing was signed. The setting wallet.allowedSpenders decides: an operator writes the line \`  allowedSpenders: ${line}\` below \`wallet:\` in conf/server.yml, and restarts the server.`,
  )
}

/**
 * A spender of quarantined plugins alone gets nothing more. The store is asked: another server may have quarantined one a moment ago.
 * @throws SluiceError FORBIDDEN
 */
export async function refuseOfQuarantined(
  { addresses }: Pick<Spenders, 'addresses'>,
  on: NetworkEntry,
  registry: Pick<Registry, 'venuesOn'>,
  quarantine: Pick<Quarantine, 'refuse'>,
): Promise<void> {
  const venues = registry.venuesOn(on.chain, on.network)
  const refusalOf = (connector: string): Promise<SluiceError | undefined> =>
    quarantine.refuse(connector).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof SluiceError && error.name === 'FORBIDDEN') return error
        throw error
      },
    )
  for (const spender of addresses) {
    const own = venues.filter(({ impl }) => Object.values(approvableOf(impl)).includes(spender))
    if (own.some(({ builtIn }) => builtIn)) continue
    const refusals = await Promise.all([...new Set(own.map(({ connector }) => connector))].map(refusalOf))
    const [first] = refusals
    if (first && refusals.every((each) => each !== undefined)) throw first
  }
}

/**
 * Whether a spender is one of the connectors of this release. These take tokens only from whoever calls them, so what they may take stays the
 * wallet's.
 */
export function isBuiltInSpender({ chain, network }: NetworkEntry, registry: Pick<Registry, 'venuesOn'>): (spender: string) => boolean {
  const known = registry.venuesOn(chain, network).flatMap(({ builtIn, impl }) => (builtIn ? Object.values(approvableOf(impl)) : []))
  return (spender) => known.some((each) => isSameAddress(each, spender))
}

interface WantedApproval {
  readonly owner: string
  readonly token: string
  /** Undefined: without an end. */
  readonly amountRaw: bigint | undefined
}

/**
 * The one of a connector's spenders that takes shares of a pool when they are removed, where the token is the shares, the amount is not more than the wallet has,
 * and the connector is of this release. Such an approval is part of a way out: what a client may touch does not keep it from it.
 */
export async function spenderOfRemoval(
  { all }: Pick<Spenders, 'all'>,
  { owner, token, amountRaw }: WantedApproval,
  { chain, network }: NetworkEntry,
  registry: Pick<Registry, 'venuesOn'>,
  at: At,
): Promise<string | undefined> {
  if (amountRaw === undefined || amountRaw === 0n) return undefined
  const isAsked = ({ builtIn, impl }: VenueEntry) => builtIn && all.some((each) => Object.values(approvableOf(impl)).includes(each))
  const found = await Promise.all(
    registry
      .venuesOn(chain, network)
      .filter(isAsked)
      .map(async ({ impl }) => impl.AMM_SHARES?.removalAllowance?.(token, owner, at)),
  )
  return found.find((each) => each !== undefined && amountRaw <= each.sharesRaw && all.includes(each.spender))?.spender
}

/** Whether the operator names it, whoever else does. */
export const isListedSpender = (spender: string, { settings }: Pick<SpenderServices, 'settings'>): boolean =>
  settings.wallet.allowedSpenders.some((each) => isSameAddress(each, spender))

/**
 * A spender of contained plugins alone gets what a trade needs, and nothing that lasts: a contract may take its whole allowance at any time.
 * @throws SluiceError INCOMPLETE_PARAMS
 */
export function requireExact(
  { addresses }: Spenders,
  amountRaw: bigint | undefined,
  on: NetworkEntry,
  { settings, registry }: SpenderServices,
): void {
  if (amountRaw !== undefined && !isUnlimited(amountRaw)) return
  const venues = registry.venuesOn(on.chain, on.network)
  const isContained = (spender: string) => {
    const own = venues.filter(({ impl }) => Object.values(approvableOf(impl)).includes(spender))
    return own.length > 0 && own.every(({ contained }) => contained === true)
  }
  const contained = addresses.find((each) => isContained(each) && !isListedSpender(each, { settings }))
  if (contained === undefined) return
  throw badFields([
    {
      field: 'amount',
      problem: `${contained} is the spender of a contained plugin: it is approved in exact amounts only, so give the amount of the trade`,
    },
  ])
}

/** The version of the plugin that has these spenders, where only one of third parties has them: the signer may know it beside a newer one. */
export function versionOf({ addresses }: Spenders, { chain, network }: NetworkEntry, registry: Registry): { plugin?: string } {
  const owners = registry
    .venuesOn(chain, network)
    .filter(({ impl }) => addresses.some((each) => Object.values(approvableOf(impl)).includes(each)))
  const [plugin, ...others] = new Set(owners.map((each) => each.plugin))
  return plugin !== undefined && others.length === 0 ? { plugin } : {}
}

/** Seconds since the Unix epoch. @throws SluiceError INCOMPLETE_PARAMS where no spender takes tokens by Permit2 */
export function readExpiry(expires: number | undefined, { addresses, permit2 }: Spenders): number | undefined {
  if (expires === undefined) return undefined
  if (permit2.size === 0)
    throw badFields([
      {
        field: 'expires',
        problem: `${addresses.join(', ')} does not take tokens by Permit2, so its allowance has no expiry: leave it out`,
      },
    ])
  // What Permit2 and the libraries around it call never.
  return expires === neverExpires ? expires : readMoment(expires, 'expires')
}

/** The largest `uint48`. */
export const neverExpires = 2 ** 48 - 1

import { SluiceError, type AMM, type Venue, type NetworkNames } from '../../core/contracts/index.ts'
import type { Evm } from '../evm/types.ts'
import { feeOnTransferCheck } from './fee-on-transfer.ts'
import { followedPricing } from './followed-pricing.ts'
import type { PoolExchange, Router } from './protocol.ts'
import { quoter, routerChecks } from './quoter.ts'
import { partsOf } from './swap-plan.ts'
import { isObject } from '../../core/json.ts'

/**
 * The trading type AMM of an exchange made of pools, of one kind or of several. `spenders` are its routers, by name.
 * If the configuration lists `versions`, pools of other versions are left out. Throws if no router is left.
 */
export function poolAMM(
  venue: Venue<Evm>,
  ...exchanges: readonly PoolExchange[]
): AMM<Evm> & { readonly spenders: Readonly<Record<string, string>> } {
  const listed = listedVersions(venue.config)
  const protocols = exchanges.flatMap((exchange) => exchange.protocols).filter(({ version }) => listed?.includes(version) ?? true)
  const labels = [...new Set(protocols.map(({ version }) => version))]
  const routers = exchanges
    .flatMap((exchange) => exchange.routers)
    .filter((router) => labels.some((version) => router.carries([version], 'in') || router.carries([version], 'out')))
  if (routers.length === 0) {
    throw new Error(
      'No router of the exchange trades with pools of these versions: list a version that it has under `versions` in its configuration.',
    )
  }
  const { reader } = venue
  const trusted = new Set([reader.wrapped.address, ...reader.intermediates.map(({ address }) => address)])
  const requireExactTransfers = feeOnTransferCheck(reader)
  const options = { exchange: { protocols, routers }, reader, checks: routerChecks(), requireExactTransfers, trusted }
  const quote = quoter(options)
  const followed = followedPricing(options)
  // A single version that the configuration does not name is not shown: there is nothing to choose.
  const versions = listed || labels.length > 1 ? labels : []

  return {
    versions,
    spenders: Object.fromEntries(routers.map(({ name, address }) => [name, address])),
    async quote(swap, { version }, at) {
      if (version !== undefined && !labels.includes(version)) {
        throw new SluiceError(
          'UNSUPPORTED',
          `This connector has no version ${version}: leave it out${versions.length > 0 ? ` or give ${versions.join(', ')}` : ''}.`,
        )
      }
      return quote(swap, version, at)
    },
    ...(followed && { followed }),
    swap(quote, terms) {
      const parts = partsOf(quote).map(({ route }) => route.map(({ version }) => version))
      const [only = [], ...others] = parts
      const accepts = (router: Router) => (others.length > 0 ? router.splits?.(parts, quote.swap) : router.carries(only, quote.swap.exact))
      const router = routers.find((each) => each.address === quote.spender && accepts(each))
      if (!router)
        throw new Error(`No router at ${quote.spender} takes a route through ${parts.map((part) => part.join(', ')).join(' and ')}.`)
      return router.plan(quote, terms)
    },
    fill(receipt, memo) {
      for (const router of routers) {
        const fill = router.fill(receipt, memo)
        if (fill) return fill
      }
      return undefined
    },
  }
}

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

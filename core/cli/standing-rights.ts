// What wallets have approved that contracts of plugins could use: a contract may call a spender by itself, which no check of a plan sees.
import { devnetNetwork, type Settings } from '../config/settings.ts'
import type { Grant } from '../contracts/index.ts'
import { formatRaw } from '../base/decimal.ts'
import type { Finding } from './output.ts'
import { knownOf, revoking, spendersOf, type SpendingVenue } from '../handlers/standing-rights.ts'
import type { LoadedChain, LoadedConnector, LoadedPlugin } from '../plugins/index.ts'
import { standingRightsIn } from '../contracts/chain.ts'
import { isUnlimited } from '../contracts/permit2.ts'
import { isSameAddress } from '../base/addresses.ts'

const deadlineMs = 10_000

type ChainVenue = LoadedChain['venues'][number]
type ConnectorOn = SpendingVenue & { readonly name: string; readonly isForeign: boolean; readonly contracts: readonly string[] }

interface WalletName {
  readonly chain: string
  readonly address: string
}

/** Of these wallets, on the networks of plugins that are neither built in nor trusted. The devnet's node runs with its server only. */
export async function examineRights(
  loaded: readonly LoadedPlugin[],
  wallets: readonly WalletName[],
  { wallet, devnet }: Pick<Settings, 'wallet' | 'devnet'>,
): Promise<Finding[]> {
  const networks = loaded.flatMap((plugin) => (plugin.kind === 'chain' ? plugin.venues : []))
  const connectors = loaded.flatMap((plugin) => (plugin.kind === 'connector' ? [plugin] : []))
  const found = await Promise.all(
    networks.map(async (venue): Promise<Finding[]> => {
      const { chain, network } = venue
      if (devnet.enabled && chain === devnetNetwork.chain && network === devnetNetwork.network) return []
      const venues = connectors.flatMap((each) => connectorOn(each, venue))
      const own = wallets.filter((each) => each.chain === chain)
      if (own.length === 0 || !venues.some(({ isForeign }) => isForeign)) return []
      return (await Promise.all(own.map(({ address }) => rightsOf(address, venue, venues, wallet.allowedSpenders)))).flat()
    }),
  )
  return found.flat()
}

const connectorOn = ({ name, builtIn, tier, venues }: LoadedConnector, { chain, network }: ChainVenue): ConnectorOn[] =>
  venues.flatMap((each) =>
    each.chain === chain && each.network === network
      ? [{ name, isForeign: !builtIn && tier !== 'trusted', contracts: Object.values(each.contracts), impl: each.implementation }]
      : [],
  )

/** Each right that stands, and how it is taken back. */
async function rightsOf(
  address: string,
  { chain, network, implementation, tokens }: ChainVenue,
  venues: readonly ConnectorOn[],
  allowedSpenders: readonly string[],
): Promise<Finding[]> {
  const standing = implementation.evm?.standing
  if (!standing) return []
  const plugins = venues.filter(({ isForeign }) => isForeign)
  const names = plugins.map(({ name }) => name).join(', ')
  const { spenders, permit2s, collections } = knownOf(venues, [...allowedSpenders, ...plugins.flatMap(({ contracts }) => contracts)])
  if (spenders.length === 0) return []
  const listed = tokens.filter(({ native }) => native !== true)
  const asked = { tokens: listed.map((each) => each.address), permit2s, collections }
  try {
    const { grants: rights } = standingRightsIn(await standing(address, spenders, asked, { signal: AbortSignal.timeout(deadlineMs) }))
    return rights.map((right): Finding => {
      const owners = venues.filter(({ impl }) => spendersOf(impl).some((each) => isSameAddress(each, right.spender)))
      const of = owners.length === 0 ? '' : ` (${[...new Set(owners.map(({ name }) => name))].join(', ')})`
      return {
        part: 'plugins',
        state: 'warn',
        what: `${right.spender}${of} may take ${amountOf(right, tokens)} from ${address} on ${chain}/${network}. A contract that ${names} calls could use that.`,
        remedy: `Where the wallet does not need it, take it back: ${revoking(right, { chain, network, address, venues })}`,
      }
    })
  } catch {
    return [
      {
        part: 'plugins',
        state: 'warn',
        what: `What ${address} has approved on ${chain}/${network} could not be read. A contract that ${names} calls could use that.`,
        remedy: 'Look again when the nodes of the network answer.',
      },
    ]
  }
}

function amountOf({ token, amountRaw, tokenId }: Grant, tokens: ChainVenue['tokens']): string {
  const known = tokens.find(({ address }) => isSameAddress(address, token))
  if (tokenId !== undefined) return `number ${tokenId} of ${token}`
  if (amountRaw === undefined) return `everything of ${token}`
  return `${isUnlimited(amountRaw) ? 'any amount' : formatRaw(amountRaw, known?.decimals ?? 0)} of ${known?.symbol ?? token}`
}

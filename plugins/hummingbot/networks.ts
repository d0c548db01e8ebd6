// Networks by the names that Hummingbot has for them, and by those that they have here.
import { badFields, SluiceError, Type, type InterfaceCall } from 'sluice/interface'

export interface HummingbotConfig {
  /** `<chain>-<network>` as Hummingbot has it → `<chain>/<network>` as it is here. */
  readonly networks: Readonly<Record<string, string>>
  /** Hummingbot's chain → its network. */
  readonly defaultNetworks: Readonly<Record<string, string>>
  /** A swap that is not mined by then is answered with its hash alone. Clients of 2.16 confuse orders where one waits longer than 25 s. */
  readonly receiptSeconds: number
  /** Opens and closes of positions: their clients cannot follow what they have only the hash of. */
  readonly positionSeconds: number
  /** A request that has waited so long counts as gone: clients give up after 300 s. */
  readonly staleSeconds: number
  /** A lost answer is given to an equal request until so long after its transaction became final. */
  readonly collectSeconds: number
  /** A quote is executed for so long. */
  readonly quoteSeconds: number
}

/** A network by both of its names. */
export interface NamedNetwork {
  /** Hummingbot's. */
  readonly chain: string
  readonly network: string
  readonly chainNetwork: string
  readonly own: { readonly chain: string; readonly network: string }
}

/** What requests name a network by: one word in 2.17, two before, and a chain alone for its default. */
export const networkFields = {
  chainNetwork: Type.Optional(Type.String({ maxLength: 128 })),
  chain: Type.Optional(Type.String({ maxLength: 64 })),
  network: Type.Optional(Type.String({ maxLength: 64 })),
}

/** @throws SluiceError UNSUPPORTED on another chain: nothing was signed */
export function requireEthereum({ chain, chainNetwork }: NamedNetwork, why: string): void {
  if (chain !== 'ethereum') throw new SluiceError('UNSUPPORTED', `${chainNetwork} is no network of EVM: ${why}. Nothing was signed.`)
}

interface NetworkRequest {
  readonly chainNetwork?: string
  readonly chain?: string
  readonly network?: string
}

export interface Networks {
  /** @throws SluiceError INCOMPLETE_PARAMS */
  of(request: NetworkRequest): NamedNetwork
  /** The same where a request may name the network alone: of several chains that have one of that name, ethereum. @throws SluiceError INCOMPLETE_PARAMS */
  ofNetworkAlone(request: NetworkRequest): NamedNetwork
  /** Those that this server has, by a plugin that was loaded. */
  here(call: InterfaceCall): Promise<readonly NamedNetwork[]>
  /** @throws SluiceError INCOMPLETE_PARAMS */
  defaultOf(chain: string): string
  /** By this server's names. @throws SluiceError INCOMPLETE_PARAMS */
  ofOwn(on: { readonly chain: string; readonly network: string }): NamedNetwork
  /** Hummingbot's chain of one of this server's; undefined: it has none. */
  chainOf(own: string): string | undefined
}

export function createNetworks({ networks, defaultNetworks }: Pick<HummingbotConfig, 'networks' | 'defaultNetworks'>): Networks {
  const all = Object.entries(networks).map(([chainNetwork, path]): NamedNetwork => {
    const [chain = '', network = ''] = path.split('/')
    const at = chainNetwork.indexOf('-')
    return { chainNetwork, chain: chainNetwork.slice(0, at), network: chainNetwork.slice(at + 1), own: { chain, network } }
  })
  const byName = new Map(all.map((each) => [each.chainNetwork, each]))

  function defaultOf(chain: string): string {
    const known = Object.hasOwn(defaultNetworks, chain) ? defaultNetworks[chain] : undefined
    if (known !== undefined) return known
    throw badFields([{ field: 'chain', problem: `"${chain}" is none of ${Object.keys(defaultNetworks).join(', ')}` }])
  }

  function of({ chainNetwork, chain, network }: NetworkRequest): NamedNetwork {
    if (chainNetwork === undefined && chain === undefined)
      throw badFields([{ field: 'chainNetwork', problem: 'is required, such as ethereum-mainnet' }])
    const name = chainNetwork ?? `${chain}-${network ?? defaultOf(chain ?? '')}`
    const found = byName.get(name)
    if (found) return found
    const field = chainNetwork === undefined ? 'network' : 'chainNetwork'
    throw badFields([
      {
        field,
        problem: `"${name}" is no network here: networks of conf/interfaces/hummingbot.yml names ${all.map((each) => each.chainNetwork).join(', ')}`,
      },
    ])
  }

  return {
    defaultOf,
    of,
    ofNetworkAlone(request) {
      const { chainNetwork, chain, network } = request
      if (chainNetwork !== undefined || chain !== undefined || network === undefined) return of({ chain: 'ethereum', ...request })
      const having = all.filter((each) => each.network === network)
      return having.find((each) => each.chain === 'ethereum') ?? having[0] ?? of({ chain: 'ethereum', network })
    },
    async here({ call }) {
      const plugins = await call('Plugins', {})
      const served = plugins.flatMap(({ kind, state, available_networks }) =>
        kind === 'chain' && state === 'loaded' ? available_networks : [],
      )
      return all.filter(({ own }) => served.some(({ chain, networks: names }) => chain === own.chain && names.includes(own.network)))
    },
    ofOwn({ chain, network }) {
      const found = all.find(({ own }) => own.chain === chain && own.network === network)
      if (found) return found
      throw badFields([{ field: 'quoteId', problem: `is of ${chain}/${network}, which is no network here` }])
    },
    chainOf: (own) => all.find((each) => each.own.chain === own)?.chain,
  }
}

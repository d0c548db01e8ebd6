// What a client has set for itself, of what its requests leave out: the wallet and the network of a chain, and the slippage of a connector.
import { after, type InterfaceCall, type InterfacePath } from 'sluice/interface'
import { bareName, everyConnector } from './connectors.ts'

/** By the names of `preferenceOf`. */
export type Preferences = Awaited<ReturnType<InterfaceCall['preferences']['read']>>

type DefaultPath = 'defaultWallet' | 'defaultNetwork' | 'slippagePct'

/** As clients name it: a namespace of `/config`, and a path in it. */
export const preferenceOf = (namespace: string, path: DefaultPath): string => `${namespace}.${path}`

export const ownWallet = (chain: string, set: Preferences): string | undefined => set[preferenceOf(chain, 'defaultWallet')]

export const ownNetwork = (chain: string, set: Preferences): string | undefined => set[preferenceOf(chain, 'defaultNetwork')]

/** In percent. The connector's own bound may have become tighter meanwhile. */
export const ownSlippage = (connector: string, set: Preferences): string | undefined => set[preferenceOf(connector, 'slippagePct')]

/** Of a request: its own, or what its client has set for the connector. Undefined: the connector's. */
export function slippageOf(
  { connector = everyConnector, slippagePct }: { readonly connector?: string; readonly slippagePct?: string },
  { preferences }: Pick<InterfaceCall, 'preferences'>,
): string | undefined | Promise<string | undefined> {
  return slippagePct ?? after(preferences.known(), (set) => ownSlippage(bareName(connector), set))
}

/** A request to it that names a chain alone is for the network that its client has set. */
export function onOwnNetwork(path: InterfacePath): InterfacePath {
  const { request: schema } = path
  if (!Object.hasOwn(schema.properties, 'network')) return path
  const [, inPath] = /^\/chains\/(\w+)\//.exec(path.path) ?? []
  const answer: InterfacePath['answer'] = async (request, call) => {
    const { chain = inPath }: Readonly<Record<string, unknown>> = request
    const own = typeof chain === 'string' ? ownNetwork(chain, await call.preferences.read()) : undefined
    return path.answer(own === undefined ? request : { ...request, network: own }, call)
  }
  return {
    ...path,
    answer(request, call) {
      const { network, chainNetwork }: Readonly<Record<string, unknown>> = request
      return network === undefined && chainNetwork === undefined ? answer(request, call) : path.answer(request, call)
    },
  }
}

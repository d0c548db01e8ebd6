// The service itself, and what clients read of its configuration.
import { divide, multiply } from 'sluice/decimal'
import { interfacePath, SluiceError, Type, type InterfaceCall, type InterfacePath } from 'sluice/interface'
import { connectorOf, connectorsOn, everyConnector } from './connectors.ts'
import type { NamedNetwork, Networks } from './networks.ts'
import { defaultWallet } from './wallets.ts'

/** Whose prices are asked where a bot does not say. Clients want a type behind the name. */
export const swapProvider = `${everyConnector}/router`

const Namespace = Type.Object({}, { additionalProperties: true })

export function configPaths(networks: Networks): InterfacePath[] {
  return [
    interfacePath({
      method: 'GET',
      path: '/',
      summary: 'The server answers.',
      isPing: true,
      request: Type.Object({}, { examples: [{}] }),
      response: Type.Object({ status: Type.Literal('ok') }),
      answer: () => ({ status: 'ok' as const }),
    }),
    interfacePath({
      method: 'POST',
      path: '/restart',
      summary: 'Answers, and restarts nothing: clients call it after a change of the configuration.',
      request: Type.Object({}, { examples: [{}] }),
      response: Type.Object({}),
      answer: () => ({}),
    }),
    interfacePath({
      method: 'GET',
      path: '/config',
      summary: 'The configuration of a chain, a network or a connector; of all without a namespace.',
      permission: 'read',
      request: Type.Object({ namespace: Type.Optional(Type.String({ maxLength: 128 })) }, { examples: [{ namespace: 'ethereum-local' }] }),
      response: Namespace,
      answer: async ({ namespace }, call) =>
        namespace === undefined ? allNamespaces(networks, call) : oneNamespace(namespace, await networks.here(call), networks, call),
    }),
    interfacePath({
      method: 'POST',
      path: '/config/update',
      summary: 'Refused: the configuration is the operator’s.',
      permission: 'read',
      request: Type.Object({ namespace: Type.Optional(Type.String()), path: Type.Optional(Type.String()) }),
      response: Type.Object({ message: Type.String() }),
      answer({ namespace = '', path = '' }) {
        throw new SluiceError(
          'FORBIDDEN',
          `${[namespace, path].filter(Boolean).join('.')} is not changed from here: the operator of this server sets it in its folder conf.`,
        )
      },
    }),
    interfacePath({
      method: 'GET',
      path: '/config/chains',
      summary: 'The chains, with their networks.',
      permission: 'read',
      request: Type.Object({}, { examples: [{}] }),
      response: Type.Object({ chains: Type.Array(Type.Object({ chain: Type.String(), networks: Type.Array(Type.String()) })) }),
      async answer(_, call) {
        const here = await networks.here(call)
        return { chains: chainsOf(here).map((chain) => ({ chain, networks: namesOn(chain, here) })) }
      },
    }),
    interfacePath({
      method: 'GET',
      path: '/config/connectors',
      summary: 'The connectors, once for each chain that they serve.',
      permission: 'read',
      request: Type.Object({}, { examples: [{}] }),
      response: Type.Object({
        connectors: Type.Array(
          Type.Object({
            name: Type.String(),
            chain: Type.String(),
            trading_types: Type.Array(Type.String()),
            networks: Type.Array(Type.String()),
          }),
        ),
      }),
      async answer(_, call) {
        const here = await networks.here(call)
        const served = await connectorsOn(here, call)
        const every = chainsOf(here).map((chain) => ({
          name: everyConnector,
          chain,
          trading_types: ['router'],
          networks: namesOn(chain, here).filter((network) =>
            served.some((each) => each.chain === chain && each.networks.includes(network)),
          ),
        }))
        return { connectors: [...every.filter((each) => each.networks.length > 0), ...served] }
      },
    }),
    interfacePath({
      method: 'GET',
      path: '/config/namespaces',
      summary: 'What /config knows by name.',
      permission: 'read',
      request: Type.Object({}, { examples: [{}] }),
      response: Type.Object({ namespaces: Type.Array(Type.String()) }),
      answer: async (_, call) => ({ namespaces: await namespaces(await networks.here(call), call) }),
    }),
  ]
}

const chainsOf = (here: readonly NamedNetwork[]): string[] => [...new Set(here.map(({ chain }) => chain))]
const namesOn = (chain: string, here: readonly NamedNetwork[]): string[] =>
  here.flatMap((each) => (each.chain === chain ? [each.network] : []))

async function namespaces(here: readonly NamedNetwork[], call: InterfaceCall): Promise<string[]> {
  const served = await connectorsOn(here, call)
  return [
    ...chainsOf(here),
    ...here.map(({ chainNetwork }) => chainNetwork),
    everyConnector,
    ...new Set(served.map(({ name }) => name)),
    'apiKeys',
  ]
}

/** What a network's node says is left out: not every network is in use, and to ask all of them would connect to them. */
async function allNamespaces(networks: Networks, call: InterfaceCall): Promise<Record<string, object>> {
  const here = await networks.here(call)
  const asked = (name: string) =>
    here.some(({ chainNetwork }) => chainNetwork === name) ? { swapProvider } : oneNamespace(name, here, networks, call)
  const names = await namespaces(here, call)
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await asked(name)] as const)))
}

async function oneNamespace(name: string, here: readonly NamedNetwork[], networks: Networks, call: InterfaceCall): Promise<object> {
  // Other services' keys are not for callers.
  if (name === 'apiKeys' || name === everyConnector) return {}
  const network = here.find(({ chainNetwork }) => chainNetwork === name)
  if (network) return networkConfig(network, call)
  if (here.some(({ chain }) => chain === name)) {
    const wallet = await defaultWallet(name, networks, call)
    return { defaultNetwork: networks.defaultOf(name), defaultWallet: wallet ?? '', rpcProvider: 'url' }
  }
  // The data feed of 2.16 asks for a network by its own name alone, and reads only this.
  if (here.some(({ network: own }) => own === name)) return { swapProvider }
  const { allowedSlippage } = await call.call('ConnectorConfig', { connector: connectorOf(name) })
  return typeof allowedSlippage === 'string' ? { slippagePct: percentOf(allowedSlippage) } : {}
}

async function networkConfig({ own }: NamedNetwork, call: InterfaceCall): Promise<object> {
  const [status] = await call.call('NetworkStatus', own)
  return {
    nativeCurrencySymbol: status?.nativeCurrency ?? '',
    nodeURL: status?.rpcUrl ?? '',
    swapProvider,
  }
}

/** `1/100` is 1. */
function percentOf(fraction: string): number {
  const [numerator = '0', denominator = '1'] = fraction.split('/')
  return Number(divide(multiply(numerator, '100'), denominator, 8, 'down'))
}

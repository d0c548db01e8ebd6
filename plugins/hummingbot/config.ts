// The service itself, and what clients read of its configuration.
import { canonicalDecimal, divide, isLess, multiply } from 'sluice/decimal'
import { badFields, interfacePath, SluiceError, Type, type InterfaceCall, type InterfacePath } from 'sluice/interface'
import { connectorOf, connectorsOn, everyConnector } from './connectors.ts'
import { ownNetwork, ownSlippage, preferenceOf, type Preferences } from './defaults.ts'
import type { NamedNetwork, Networks } from './networks.ts'
import { defaultWallet, setDefaultWallet } from './wallets.ts'

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
      async answer({ namespace }, call) {
        const parts = await partsOf(networks, call)
        return namespace === undefined ? allNamespaces(parts) : oneNamespace(namespace, parts)
      },
    }),
    interfacePath({
      method: 'POST',
      path: '/config/update',
      summary: 'Sets a default for this client alone: the wallet or network of a chain, or a tighter slippage of a connector.',
      permission: 'trade',
      request: Type.Object({
        namespace: Type.Optional(Type.String({ maxLength: 128 })),
        path: Type.String({ minLength: 1, maxLength: 256 }),
        value: Type.String({ minLength: 1, maxLength: 256 }),
      }),
      response: Type.Object({ message: Type.String() }),
      async answer({ namespace, path, value }, call) {
        // Some name both in one.
        const [first = '', ...others] = path.split('.')
        const asked = namespace === undefined ? { namespace: first, path: others.join('.') } : { namespace, path }
        const set = await update({ ...asked, value }, await partsOf(networks, call))
        return { message: `${asked.namespace}.${asked.path} is ${set} for this client.` }
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

interface ConfigParts {
  readonly networks: Networks
  readonly here: readonly NamedNetwork[]
  /** What the client has set. */
  readonly set: Preferences
  readonly call: InterfaceCall
}

async function partsOf(networks: Networks, call: InterfaceCall): Promise<ConfigParts> {
  const [here, set] = await Promise.all([networks.here(call), call.preferences.read()])
  return { networks, here, set, call }
}

/** What a network's node says is left out: not every network is in use, and to ask all of them would connect to them. */
async function allNamespaces(parts: ConfigParts): Promise<Record<string, object>> {
  const { here, call } = parts
  const asked = (name: string) => (here.some(({ chainNetwork }) => chainNetwork === name) ? { swapProvider } : oneNamespace(name, parts))
  const names = await namespaces(here, call)
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await asked(name)] as const)))
}

async function oneNamespace(name: string, parts: ConfigParts): Promise<object> {
  const { networks, here, set, call } = parts
  // Other services' keys are not for callers.
  if (name === 'apiKeys') return {}
  const network = here.find(({ chainNetwork }) => chainNetwork === name)
  if (network) return networkConfig(network, call)
  if (here.some(({ chain }) => chain === name)) {
    const wallet = await defaultWallet(name, networks, call)
    return { defaultNetwork: ownNetwork(name, set) ?? networks.defaultOf(name), defaultWallet: wallet ?? '', rpcProvider: 'url' }
  }
  // The data feed of 2.16 asks for a network by its own name alone, and reads only this.
  if (here.some(({ network: own }) => own === name)) return { swapProvider }
  const own = ownSlippage(name, set)
  // Of all connectors each has its own.
  const allowed = name === everyConnector ? own : await allowedSlippage(name, call)
  if (allowed === undefined) return {}
  return { slippagePct: Number(own !== undefined && isLess(own, allowed) ? own : allowed) }
}

async function networkConfig({ own }: NamedNetwork, call: InterfaceCall): Promise<object> {
  const [status] = await call.call('NetworkStatus', own)
  return {
    nativeCurrencySymbol: status?.nativeCurrency ?? '',
    nodeURL: status?.rpcUrl ?? '',
    swapProvider,
  }
}

/** In percent; undefined where the connector has none. @throws SluiceError UNKNOWN_CONNECTOR */
async function allowedSlippage(name: string, { call }: Pick<InterfaceCall, 'call'>): Promise<string | undefined> {
  const config = await call('ConnectorConfig', { connector: connectorOf(name) })
  if (typeof config['allowedSlippage'] !== 'string') return undefined
  // `1/100` is 1.
  const [numerator = '0', denominator = '1'] = config['allowedSlippage'].split('/')
  return divide(multiply(numerator, '100'), denominator, 8, 'down')
}

interface Update {
  readonly namespace: string
  readonly path: string
  readonly value: string
}

/** @returns what it is now @throws SluiceError INCOMPLETE_PARAMS, FORBIDDEN for what is the operator's, LOAD_WALLET */
async function update({ namespace, path, value }: Update, parts: ConfigParts): Promise<string> {
  const { networks, here, call } = parts
  const known = await namespaces(here, call)
  if (!known.includes(namespace)) throw badFields([{ field: 'namespace', problem: `"${namespace}" is none of ${known.join(', ')}` }])
  const isChain = here.some(({ chain }) => chain === namespace)
  const isConnector = !isChain && namespace !== 'apiKeys' && !here.some(({ chainNetwork }) => chainNetwork === namespace)
  if (isChain && path === 'defaultWallet') return setDefaultWallet(namespace, value, networks, call)
  if (isChain && path === 'defaultNetwork') return setDefaultNetwork(namespace, value, parts)
  if (isConnector && path === 'slippagePct') return setSlippage(namespace, value, parts)
  const operators = `${namespace}.${path} is not changed from here: the operator of this server sets it in its folder conf.`
  const own = isChain ? ['defaultNetwork', 'defaultWallet'] : isConnector ? ['slippagePct'] : []
  if (own.length === 0 || Object.hasOwn(await oneNamespace(namespace, parts), path)) throw new SluiceError('FORBIDDEN', operators)
  throw badFields([{ field: 'path', problem: `"${path}" is nothing of ${namespace}: a client sets its ${own.join(' and ')}` }])
}

async function setDefaultNetwork(chain: string, network: string, { here, call }: ConfigParts): Promise<string> {
  const names = namesOn(chain, here)
  if (!names.includes(network))
    throw badFields([{ field: `${chain}.defaultNetwork`, problem: `"${network}" is none of ${names.join(', ')}` }])
  await call.preferences.set(preferenceOf(chain, 'defaultNetwork'), network)
  return network
}

async function setSlippage(connector: string, value: string, { here, call }: ConfigParts): Promise<string> {
  const percent = canonicalDecimal(value)
  if (percent === undefined) throw badFields([{ field: `${connector}.slippagePct`, problem: `"${value}" is no percentage, such as 0.5` }])
  const names = connector === everyConnector ? (await connectorsOn(here, call)).map(({ name }) => name) : [connector]
  const allowed = await Promise.all([...new Set(names)].map((name) => allowedSlippage(name, call)))
  const widest = allowed.reduce<string>((most, each) => (each !== undefined && isLess(most, each) ? each : most), '0')
  if (isLess(widest, percent))
    throw new SluiceError(
      'FORBIDDEN',
      `${connector}.slippagePct is at most ${widest} here, and a client sets it lower alone: the operator of this server sets allowedSlippage in its folder conf.`,
    )
  await call.preferences.set(preferenceOf(connector, 'slippagePct'), percent)
  return percent
}

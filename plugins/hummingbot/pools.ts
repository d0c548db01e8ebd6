// Pools, as the chain has them now. There is no list to keep: what clients save is found again by its address.
import { multiply } from 'sluice/decimal'
import { badFields, interfacePath, SluiceError, Type, type InterfaceCall, type InterfacePath, type Static } from 'sluice/interface'
import { connectorOf, everyConnector, typeIn, typeOf } from './connectors.ts'
import { isPassing } from './errors.ts'
import { networkFields, type NamedNetwork, type Networks } from './networks.ts'

const Pool = Type.Object({
  connector: Type.String(),
  type: Type.String(),
  network: Type.String(),
  baseSymbol: Type.String(),
  quoteSymbol: Type.String(),
  baseTokenAddress: Type.String(),
  quoteTokenAddress: Type.String(),
  feePct: Type.String(),
  address: Type.String(),
})
type Pool = Static<typeof Pool>
const filters = {
  ...networkFields,
  connector: Type.Optional(Type.String({ maxLength: 128 })),
  type: Type.Optional(Type.String({ maxLength: 32 })),
}
const byAddress = Type.Object({ ...filters, address: Type.String({ minLength: 1, maxLength: 256 }) })

interface PoolFilters {
  readonly connector?: string
  readonly type?: string
}

export function poolPaths(networks: Networks): InterfacePath[] {
  return [
    interfacePath({
      method: 'GET',
      path: '/pools',
      summary: 'The pools of a token or a pair that is searched for; without one those of the native coin.',
      permission: 'read',
      request: Type.Object({ ...filters, search: Type.Optional(Type.String({ maxLength: 256 })) }),
      response: Type.Array(Pool),
      async answer({ search, ...request }, call) {
        const on = networks.of(request)
        return poolsOf(search === undefined ? [await coinOf(on, call)] : search.split('-'), request, on, call)
      },
    }),
    interfacePath({
      method: 'POST',
      path: '/pools',
      summary: 'Keeps nothing: a pool is found by its pair or address.',
      permission: 'read',
      request: Type.Object({
        ...byAddress.properties,
        baseTokenAddress: Type.Optional(Type.String({ maxLength: 256 })),
        quoteTokenAddress: Type.Optional(Type.String({ maxLength: 256 })),
      }),
      response: Type.Object({ message: Type.String() }),
      async answer(request, call) {
        requireTold(request, await poolAt(request.address, request, networks.of(request), call))
        return { message: found(request.address) }
      },
    }),
    interfacePath({
      method: 'GET',
      path: '/pools/find',
      summary: 'The pools of a token or a pair.',
      permission: 'read',
      request: Type.Object({ ...filters, tokenA: Type.Optional(Type.String()), tokenB: Type.Optional(Type.String()) }),
      response: Type.Array(Pool),
      async answer({ tokenA, tokenB, ...request }, call) {
        const tokens = [tokenA, tokenB].filter((token) => token !== undefined)
        if (tokens.length === 0) throw badFields([{ field: 'tokenA', problem: 'is required: a symbol or an address' }])
        return poolsOf(tokens, request, networks.of(request), call)
      },
    }),
    interfacePath({
      method: 'GET',
      path: '/pools/find/:address',
      summary: 'A pool by its address.',
      permission: 'read',
      request: byAddress,
      response: Pool,
      answer: async (request, call) => poolAt(request.address, request, networks.of(request), call),
    }),
    interfacePath({
      method: 'POST',
      path: '/pools/save/:address',
      summary: 'Keeps nothing, and answers with the pool.',
      permission: 'read',
      request: byAddress,
      response: Type.Object({ message: Type.String(), pool: Pool }),
      answer: async (request, call) => ({
        message: found(request.address),
        pool: await poolAt(request.address, request, networks.of(request), call),
      }),
    }),
    interfacePath({
      method: 'GET',
      path: '/pools/:pair',
      summary: 'The deepest pool of a pair.',
      permission: 'read',
      request: Type.Object({ ...filters, pair: Type.String({ minLength: 1, maxLength: 256 }) }),
      response: Pool,
      async answer({ pair, ...request }, call) {
        const on = networks.of(request)
        const [first] = await poolsOf(pair.split('-'), request, on, call)
        if (first) return first
        const { connector = everyConnector, type = '' } = request
        throw new SluiceError(
          'PAIR_NOT_FOUND',
          `There is no ${[connector, type, 'pool'].filter(Boolean).join(' ')} of ${pair} on ${on.chainNetwork}.`,
        )
      },
    }),
    interfacePath({
      method: 'DELETE',
      path: '/pools/:address',
      summary: 'Keeps nothing, so that nothing is removed.',
      permission: 'read',
      request: byAddress,
      response: Type.Object({ message: Type.String() }),
      answer: ({ address }) => ({ message: `${address} is on no list: pools are those of the chain.` }),
    }),
  ]
}

const found = (address: string): string => `${address} is there: pools are found on the chain, and need not be saved.`

interface ToldPool {
  readonly type?: string
  readonly baseTokenAddress?: string
  readonly quoteTokenAddress?: string
}

/** A client that has other tokens at the address, or another type, would trade something else than it believes. @throws SluiceError INCOMPLETE_PARAMS */
function requireTold(told: ToldPool, pool: Pool): void {
  const tokens = [pool.baseTokenAddress, pool.quoteTokenAddress]
  const isOfPool = (address: string) => tokens.some((each) => each.toLowerCase() === address.toLowerCase())
  const wrong = (['baseTokenAddress', 'quoteTokenAddress'] as const).filter((field) => {
    const address = told[field]
    return address !== undefined && !isOfPool(address)
  })
  const [first] = wrong
  if (first !== undefined)
    throw badFields([{ field: first, problem: `${told[first]} is no token of the pool ${pool.address}: it has ${tokens.join(' and ')}` }])
  if (told.type !== undefined && told.type !== 'router' && told.type !== pool.type)
    throw badFields([{ field: 'type', problem: `the pool ${pool.address} has the type ${pool.type}, not ${told.type}` }])
}

/** The token of the native coin, which most pools have; the coin itself where the list has none. */
async function coinOf({ own }: NamedNetwork, { call }: InterfaceCall): Promise<string> {
  const [[status], listed] = await Promise.all([call('NetworkStatus', own), call('NetworkTokens', own)])
  const coin = status?.nativeCurrency ?? ''
  return listed.find(({ symbol }) => symbol === `W${coin}`)?.address ?? coin
}

/** The deepest first. */
async function poolsOf(tokens: readonly string[], filter: PoolFilters, on: NamedNetwork, { call }: InterfaceCall) {
  const [base = '', quote] = tokens
  const { connector = everyConnector, type = typeIn(connector) } = filter
  const { pools } = await call('AMMPools', {
    ...on.own,
    connector: connectorOf(connector),
    base,
    ...(quote !== undefined && quote !== '' && { quote }),
    limit: 100,
  })
  const wanted = pools.filter(({ version }) => type === undefined || type === 'router' || typeOf(version) === type)
  return shownPools(wanted, on, { call })
}

type OwnPool = { connector: string; pool: string; version: string; base: string; quote: string; fee: string }

async function shownPools(pools: readonly OwnPool[], { own, network }: NamedNetwork, { call }: Pick<InterfaceCall, 'call'>) {
  const addresses = [...new Set(pools.flatMap(({ base, quote }) => [base, quote]))]
  const tokens = addresses.length === 0 ? [] : await call('NetworkTokens', { ...own, tokenSymbols: addresses })
  const symbolOf = (address: string) => tokens[addresses.indexOf(address)]?.symbol ?? address
  return pools.map(({ connector, pool, version, base, quote, fee }) => ({
    connector,
    type: typeOf(version),
    network,
    baseSymbol: symbolOf(base),
    quoteSymbol: symbolOf(quote),
    baseTokenAddress: base,
    quoteTokenAddress: quote,
    feePct: multiply(fee, '100'),
    address: pool,
  }))
}

/** Of the connector that is named; else of the first that knows it. @throws SluiceError PAIR_NOT_FOUND */
async function poolAt(address: string, { connector }: PoolFilters, on: NamedNetwork, call: InterfaceCall) {
  const named = connector === undefined ? 'any' : connectorOf(connector)
  const candidates = named === 'any' ? await swappingOn(on, call) : [named]
  for (const each of candidates) {
    try {
      const pool = await call.call('AMMPool', { ...on.own, connector: each, pool: address })
      const [shown] = await shownPools([pool], on, call)
      if (shown) return shown
    } catch (thrown) {
      // Another connector may have it. What is wrong with a node is wrong for all.
      if (!(thrown instanceof SluiceError) || isPassing(thrown)) throw thrown
    }
  }
  throw new SluiceError('PAIR_NOT_FOUND', `There is no pool ${address} on ${on.chainNetwork}.`)
}

async function swappingOn({ own }: NamedNetwork, { call }: InterfaceCall): Promise<string[]> {
  const plugins = await call('Plugins', {})
  return plugins.flatMap(({ name, kind, state, trading_type, available_networks }) => {
    const isOn = available_networks.some(({ chain, networks }) => chain === own.chain && networks.includes(own.network))
    return kind === 'connector' && state === 'loaded' && trading_type.includes('AMM') && isOn ? [name] : []
  })
}

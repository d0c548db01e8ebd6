import {
  tradingVerbs,
  type Chain,
  type ChainPlugin,
  type ChainVenue,
  type Connector,
  type ConnectorPlugin,
  type Venue,
} from '../contracts/index.ts'
import { deepFreeze } from './deep-freeze.ts'
import { PluginFault, faultOf } from './refusal.ts'

/** `create` of a chain on one network, and a check of what it gave. Runs alike on trial and for good. Throws PluginFault. */
export function instantiateChain(plugin: ChainPlugin, venue: ChainVenue<unknown>): Chain {
  const chain = created(() => plugin.create(frozen(venue)), venue)
  requireVerbs(chain, 'the chain', [
    'rpcUrl',
    'address',
    'head',
    'heads',
    'balances',
    'token',
    'gas',
    'find',
    'isTransactionId',
  ] satisfies (keyof Chain)[])
  for (const part of ['reader', 'rail', 'nativeCurrency'] satisfies (keyof Chain)[]) {
    if (typeof chain[part] !== 'object' || chain[part] === null) throw missing(`the chain has no ${part}`)
  }
  if (!Number.isSafeInteger(chain.chainId)) throw missing(`the chain's chainId is no whole number`)
  return chain
}

/** `create` of a connector on one network, and a check that each declared trading type has all of its verbs. Throws PluginFault. */
export function instantiateConnector(
  plugin: ConnectorPlugin,
  tradingTypes: readonly (keyof typeof tradingVerbs)[],
  venue: Venue,
): Partial<Connector> {
  const connector = created<Partial<Connector>>(() => plugin.create(frozen(venue)), venue)
  for (const type of tradingTypes) {
    const implementation: unknown = connector[type]
    if (typeof implementation !== 'object' || implementation === null) throw missing(`trading type ${type} is declared and not implemented`)
    requireVerbs(implementation, type, tradingVerbs[type])
    if (type.endsWith('CLOB')) requireBooks(Reflect.get(implementation, 'books'), type)
  }
  return connector
}

/** That the exchange tells of itself, or that are followed on its chain. */
function requireBooks(books: unknown, type: string): void {
  if (typeof books !== 'object' || books === null) throw missing(`${type} has no books`)
  if ('watch' in books) return requireVerbs(books, `books of ${type}`, ['watch', 'snapshot'])
  requireVerbs(books, `books of ${type}`, ['keysOf', 'load', 'apply', 'keyOfMarket', 'show'])
  if (!Array.isArray(Reflect.get(books, 'follow'))) throw missing(`books of ${type} has no list called follow`)
}

function created<T>(create: () => T, { chain, network }: { chain: string; network: string }): T {
  let implementation: T
  try {
    implementation = create()
  } catch (thrown) {
    throw faultOf(thrown, 'create', `Correct what create() does for ${chain} ${network}, or its configuration.`)
  }
  if (typeof implementation !== 'object' || implementation === null) throw missing('create() returned no object')
  if ('then' in implementation)
    throw new PluginFault('create', 'create() returned a promise', 'Wire in create() without awaiting, and do what needs I/O in start().')
  for (const life of ['start', 'stop']) {
    const step: unknown = Reflect.get(implementation, life)
    if (step !== undefined && typeof step !== 'function') throw missing(`${life} is no function`)
  }
  return implementation
}

function requireVerbs(implementation: object, of: string, verbs: readonly string[]): void {
  const absent = verbs.filter((verb) => typeof Reflect.get(implementation, verb) !== 'function')
  if (absent.length > 0) throw missing(`${of} has no ${absent.join(', ')}`)
}

function missing(reason: string): PluginFault {
  return new PluginFault('create', reason, "Implement it as sluice/plugin's types say; the TypeScript compiler shows what is missing.")
}

/** Plugins share what is given to them; the reader and the log are live and stay as they are. */
function frozen<V extends { config: unknown }>(venue: V): V {
  deepFreeze(venue.config)
  if ('contracts' in venue) deepFreeze(venue.contracts)
  if ('tokens' in venue) deepFreeze(venue.tokens)
  if ('nativeCurrency' in venue) deepFreeze(venue.nativeCurrency)
  return Object.freeze(venue)
}

import * as fc from 'fast-check'
import { endpoints, eventsEndpoint, type Endpoint } from '../../../core/api/index.ts'
import { alsoPosts } from '../../../core/http/routes.ts'
import { coldStore, listedSpender, local, others, uniswap } from '../shared-server.ts'
import { encode, jsonValues, otherNames, queryValues } from './values.ts'

export interface FuzzedRequest {
  endpoint: Endpoint
  method: string
  path: string
  headers: Record<string, string>
  raw?: string
}

type GoodValue = string | number | boolean | string[] | object[]

/** A good value for every field that an endpoint may have. */
const good: Record<string, GoodValue> = {
  ...uniswap,
  address: others,
  base: 'ETH',
  quote: 'USDC',
  amount: '0.001',
  side: 'SELL',
  version: 'v2',
  // Not all of its contracts: what may be added to positions is not to depend on what was approved before.
  spender: 'uniswap/v2',
  token: 'USDC',
  to: coldStore,
  txHash: `0x${'ab'.repeat(32)}`,
  tokenSymbols: ['WETH', 'USDC'],
  allowedSlippage: '1/200',
  limitPrice: '1',
  maxFeePerGas: '100',
  maxPriorityFeePerGas: '1',
  token0: 'WETH',
  token1: 'USDC',
  amount0: '0.01',
  amount1: '30',
  lowerPrice: '2500',
  upperPrice: '3500',
  fee: 'LOW',
  decreasePercent: '1',
  native: true,
  period: 1,
  interval: 1,
  tokenId: '1',
  olderThanDays: 30,
}

/** Of a pool whose tokens no other request approves. */
export const goodShares = { tokens: ['ETH', 'DAI'], amounts: ['0.001'] }

/** What there is to be taken back, and no other request needs. */
export const goodRight = { spender: listedSpender, token: 'USDT' }

/** What perpetual exchanges take instead. */
const goodPerp: typeof good = {
  connector: 'perp',
  quote: 'USD',
  side: 'SHORT',
  wallet_address: others,
  margin: '10',
  leverage: '5',
}
/** What closes a SHORT is bought. */
const goodClose: typeof good = { limitPrice: '1000000' }
/** What order books take: an order that rests, of the wallet that is asked about. */
const goodBook: Record<string, GoodValue> = {
  connector: 'oasis',
  market: 'WETH-USDC',
  side: 'BUY',
  orderType: 'LIMIT',
  timeInForce: 'GTC',
  price: '1000',
  amount: '0.001',
  depth: 2,
  state: 'open',
  limit: 5,
  create: [
    { market: 'WETH-USDC', side: 'SELL', orderType: 'LIMIT', price: '9000', amount: '0.001' },
    { market: 'WETH-USDC', side: 'HOLD' },
  ],
  cancel: [{ market: 'WETH-USDC', orderId: '1' }],
}
/** What there is to follow, by topic. */
const goodEvents: readonly (typeof good)[] = [
  { topics: ['transactions', 'blocks'], ...local, address: others, lastEventId: '0' },
  { topics: ['price'], ...uniswap, price: ['WETH:USDC:SELL:1', 'USDC:WETH:BUY:2'], version: 'v2' },
  { topics: ['price', 'blocks'], ...uniswap, base: 'WETH', quote: 'USDC', side: 'SELL', amount: '1' },
  { topics: ['orderBook'], ...local, connector: 'oasis', market: ['WETH-USDC'], type: 'CLOB', depth: 2 },
  { topics: ['positions', 'price'], ...uniswap, address: others, price: ['WETH:USDC:SELL:1'] },
  { topics: ['positions'], ...local, connector: 'perp', address: others, base: 'ETH', quote: 'USD' },
]
/** An order has a bound of its own. */
const ofNoLimit: readonly string[] = ['limitPrice', 'allowedSlippage']

function goodOf({ set, name }: Endpoint): Record<string, GoodValue> {
  // The token whose address is on every devnet.
  if (['NetworkToken', 'NetworkTokensAdd'].includes(name)) return { ...local, token: '0x009829c5C756656bbD423fF6b5F8D61B722ce18F' }
  if (name === 'EVMRevoke') {
    const { tokenId: _, ...others } = good
    return { ...others, ...goodRight }
  }
  if (set === 'PERP_AMM') return { ...good, ...goodPerp, ...(name.endsWith('Close') && goodClose) }
  // Pairs have no positions.
  if (set === 'AMM_RANGE') return { ...good, version: 'v3', ...fuzzedRange }
  if (set === 'AMM_SHARES') {
    const { pool: _, ...others } = good
    return { ...others, ...goodShares }
  }
  if (!set.endsWith('CLOB')) return good
  const known = { ...good, ...goodBook, ...(name.endsWith('OrdersDelete') && { orderId: fuzzedOrder.id }) }
  return Object.fromEntries(Object.entries(known).filter(([field]) => !ofNoLimit.includes(field)))
}

/** What there is to be cancelled. */
const fuzzedOrder = { id: '1' }
export function fuzzOrder(orderId: string): void {
  fuzzedOrder.id = orderId
}

/** Requests about a position are about this one; its range is that of the good values, so that more can be added to it. */
const fuzzedRange = { pool: '' }
export function fuzzPosition(tokenId: string, pool: string): void {
  good.tokenId = tokenId
  fuzzedRange.pool = pool
}

const inQuery = (value: GoodValue): string =>
  [value]
    .flat()
    .map((each) => (typeof each === 'object' ? JSON.stringify(each) : String(each)))
    .join(',')

/** Swaps go through this pool. */
export function fuzzPool(pool: string): void {
  good.pool = pool
}

/** One with a good value in every field that has one. */
export function goodRequest(endpoint: Endpoint): FuzzedRequest {
  const known = goodOf(endpoint)
  const members = Object.fromEntries(
    Object.keys(endpoint.request.properties).flatMap((name) => (name in known ? [[name, known[name]]] : [])),
  )
  const { method } = endpoint
  if (method !== 'GET')
    return { endpoint, method, path: endpoint.path, headers: { 'content-type': 'application/json' }, raw: JSON.stringify(members) }
  const search = new URLSearchParams(Object.entries(members).map(([name, value]): [string, string] => [name, inQuery(value ?? '')]))
  return { endpoint, method: 'GET', path: `${endpoint.path}?${search.toString()}`, headers: {} }
}

/** A good one with a field that no endpoint has. */
export function withUnknownField(endpoint: Endpoint): FuzzedRequest {
  const request = goodRequest(endpoint)
  const { path, raw } = request
  if (raw === undefined) return { ...request, path: `${path}&nobody=1` }
  return { ...request, raw: JSON.stringify({ ...JSON.parse(raw), nobody: 1 }) }
}

/** A request of an endpoint with some of its fields gone, changed, doubled, or joined by others. */
export const requests: fc.Arbitrary<FuzzedRequest> = fc
  .constantFrom<Endpoint[]>(...(endpoints as readonly Endpoint[]))
  .chain((endpoint) => {
    const { method } = endpoint
    if (method === 'POST') return body(endpoint, method)
    const inBody = alsoPosts(endpoint) ? 'POST' : endpoint.set === 'Service' ? undefined : method
    return fc.boolean().chain((asBody) => (asBody && inBody ? body(endpoint, inBody) : query(endpoint)))
  })

/** The same of `/events`, of which nothing is required by itself. */
export const eventsRequests: fc.Arbitrary<FuzzedRequest> = fc.constantFrom(...goodEvents).chain((known) => query(eventsEndpoint, known))

function fields({ request }: Endpoint, known: typeof good) {
  const names = Object.keys(request.properties)
  const required = new Set(request.required ?? [])
  const several = (most: number) =>
    names.length === 0 ? fc.constant<string[]>([]) : fc.uniqueArray(fc.constantFrom(...names), { maxLength: most })
  return fc
    .record({
      changed: several(2),
      gone: fc.oneof({ weight: 4, arbitrary: fc.constant<string[]>([]) }, { weight: 1, arbitrary: several(2) }),
      added: fc.oneof(
        { weight: 4, arbitrary: fc.constant<string[]>([]) },
        { weight: 1, arbitrary: fc.array(otherNames, { minLength: 1, maxLength: 2 }) },
      ),
      kept: fc.subarray(names.filter((name) => !required.has(name) && known[name] !== undefined)),
    })
    .map(({ changed, gone, added, kept }) => ({
      untouched: names.filter((name) => (required.has(name) || kept.includes(name)) && !changed.includes(name) && !gone.includes(name)),
      known,
      // A changed field may be there twice.
      wild: [...changed, ...added, ...changed.slice(0, added.length)],
    }))
}

function query(endpoint: Endpoint, good = goodOf(endpoint)): fc.Arbitrary<FuzzedRequest> {
  return fc
    .tuple(fields(endpoint, good), fc.array(queryValues, { minLength: 6, maxLength: 6 }), fc.constantFrom('', '', '', '[]'))
    .map(([{ untouched, wild, known }, values, suffix]) => {
      const pairs = [
        ...untouched.map((name) => [name, encode(inQuery(known[name] ?? ''))]),
        ...wild.map((name, index) => [encode(name) + suffix, values[index] ?? '']),
      ]
      return { endpoint, method: endpoint.method, path: `${endpoint.path}?${pairs.map((pair) => pair.join('=')).join('&')}`, headers: {} }
    })
}

function body(endpoint: Endpoint, method: string): fc.Arbitrary<FuzzedRequest> {
  const types = fc.oneof(
    { weight: 30, arbitrary: fc.constant('application/json') },
    { weight: 1, arbitrary: fc.constantFrom('text/plain', 'application/json; charset=utf-16', 'multipart/form-data', 'APPLICATION/JSON') },
  )
  const wounds = fc.oneof(
    { weight: 30, arbitrary: fc.constant((json: string) => json) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        (json: string) => json.slice(0, -1),
        (json: string) => `[${json}]`,
        (json: string) => `${json}${' '.repeat(100_001)}`,
        () => '',
      ),
    },
  )
  const keys = fc.oneof(
    { weight: 6, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.uuid() },
    { weight: 1, arbitrary: fc.constantFrom('a b', 'x'.repeat(300)) },
  )
  return fc
    .tuple(fields(endpoint, goodOf(endpoint)), fc.array(jsonValues, { minLength: 6, maxLength: 6 }), types, wounds, keys)
    .map(([{ untouched, wild, known }, values, type, wound, key]) => {
      const members = [
        ...untouched.map((name) => `${JSON.stringify(name)}:${JSON.stringify(known[name])}`),
        ...wild.map((name, index) => `${JSON.stringify(name)}:${values[index]}`),
      ]
      return {
        endpoint,
        method,
        path: endpoint.path,
        headers: { 'content-type': type, ...(key && { 'idempotency-key': key }) },
        raw: wound(`{${members.join(',')}}`),
      }
    })
}

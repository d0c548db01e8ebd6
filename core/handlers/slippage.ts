// The terms that a trade in pools or of PERP_AMM is bounded by: slippage, limit price, deadline. Orders have theirs in clob/read-order.ts.
import type { ConnectorConfig, Head } from '../contracts/index.ts'
import { divideRaw } from '../base/decimal.ts'
import { badFields, SluiceError } from '../base/errors.ts'

export interface Slippage {
  numerator: bigint
  denominator: bigint
}

/** "1/100" is 1 %. */
export function readSlippage(text: string): Slippage {
  const [numerator = '0', denominator = '1'] = text.split('/')
  return { numerator: BigInt(numerator), denominator: BigInt(denominator) }
}

const isLooser = (a: Slippage, b: Slippage) => a.numerator * b.denominator > b.numerator * a.denominator

interface TradeRules {
  slippage: Slippage
  slippageText: string
  ttlSeconds: number
}

/** The pools of a route, by the version of each. */
type Route = readonly { readonly version: string }[]

/** A connector's configuration does not change while the server runs. */
const rulesCache = new WeakMap<ConnectorConfig, Map<string | undefined, TradeRules>>()

/**
 * The strictest slippage and the shortest ttl of the versions on a route. A plugin names them: those that the configuration does not have are one
 * and the same.
 */
export function tradeRules(config: ConnectorConfig, route: Route): TradeRules {
  const [first] = route
  // Most routes have one version.
  const isOfOne = first !== undefined && route.every(({ version }) => version === first.version)
  const versions = isOfOne ? [knownVersion(config, first.version)] : versionsOf(config, route)
  const key = versions.length > 1 ? JSON.stringify(versions) : versions[0]
  let cache = rulesCache.get(config)
  if (!cache) rulesCache.set(config, (cache = new Map()))
  let rules = cache.get(key)
  if (!rules) cache.set(key, (rules = computeRules(config, versions)))
  return rules
}

/** In one order, whatever that of the route. */
const versionsOf = (config: ConnectorConfig, route: Route): readonly (string | undefined)[] =>
  [...new Set(route.map(({ version }) => knownVersion(config, version)))].toSorted((a = '', b = '') => (a < b ? -1 : 1))

const knownVersion = ({ versions }: ConnectorConfig, version: string): string | undefined =>
  versions !== undefined && Object.hasOwn(versions, version) ? version : undefined

function computeRules(config: ConnectorConfig, versions: readonly (string | undefined)[]): TradeRules {
  // A connector may not name its route.
  const rules =
    versions.length === 0 ? [config] : versions.map((version) => (version === undefined ? config : (config.versions?.[version] ?? config)))
  const strictest = rules.reduce(
    (best, each) => (isLooser(readSlippage(best.allowedSlippage), readSlippage(each.allowedSlippage)) ? each : best),
    rules[0] ?? config,
  )
  return {
    slippage: readSlippage(strictest.allowedSlippage),
    slippageText: strictest.allowedSlippage,
    ttlSeconds: Math.min(...rules.map(({ ttl }) => ttl)),
  }
}

/** The configured slippage, or the request's if that is tighter. @throws SluiceError INCOMPLETE_PARAMS if the request's is looser */
export function effectiveSlippage(config: ConnectorConfig, route: Route, requested: string | undefined): Slippage {
  const { slippage, slippageText } = tradeRules(config, route)
  if (requested === undefined) return slippage
  const own = readSlippage(requested)
  if (isLooser(own, slippage)) throw badFields([{ field: 'allowedSlippage', problem: `may only tighten the configured ${slippageText}` }])
  return own
}

/** The quoted other side of an exact amount: the output for an exact input, the input for an exact output. */
interface QuotedAmount {
  readonly swap: { readonly exact: 'in' | 'out' }
  readonly amountRaw: bigint
}

/** The quoted amount moved by the slippage against the caller. Rounded so that it never allows more than the slippage. */
export function slippageBound({ swap, amountRaw }: QuotedAmount, { numerator, denominator }: Slippage): bigint {
  if (swap.exact === 'out') return divideRaw(amountRaw * (denominator + numerator), denominator, 'down')
  const minRaw = denominator > numerator ? divideRaw(amountRaw * (denominator - numerator), denominator, 'up') : 0n
  return minRaw > 0n ? minRaw : 1n
}

/**
 * The tighter of the slippage's bound and the caller's limit.
 * @param price of the quote, for the message
 * @throws SluiceError SWAP_PRICE_EXCEEDS_LIMIT_PRICE or SWAP_PRICE_LOWER_THAN_LIMIT_PRICE if the quote is past the limit already
 */
export function tighterBound({ swap, amountRaw }: QuotedAmount, slippageRaw: bigint, limitRaw: bigint | undefined, price: string): bigint {
  if (limitRaw === undefined) return slippageRaw
  if (swap.exact === 'out') {
    if (amountRaw > limitRaw)
      throw new SluiceError(
        'SWAP_PRICE_EXCEEDS_LIMIT_PRICE',
        `The price is ${price} now, above limitPrice: nothing was sent. Raise limitPrice or wait.`,
      )
    return slippageRaw < limitRaw ? slippageRaw : limitRaw
  }
  if (amountRaw < limitRaw)
    throw new SluiceError(
      'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE',
      `The price is ${price} now, below limitPrice: nothing was sent. Lower limitPrice or wait.`,
    )
  return slippageRaw > limitRaw ? slippageRaw : limitRaw
}

/**
 * The deadline of a trade on chain, in seconds since the Unix epoch: the latest block's time plus the ttl.
 * @param ageSeconds how old that block is
 * @throws SluiceError NETWORK if the deadline has passed: the node is so far behind that the trade would only pay gas for a revert
 */
export function deadlineAfter(head: Pick<Head, 'timestamp'>, ttlSeconds: number, ageSeconds: number): number {
  if (ageSeconds < ttlSeconds) return head.timestamp + ttlSeconds
  const age = Math.round(ageSeconds)
  throw new SluiceError(
    'NETWORK',
    `The node is behind: its latest block is ${age} s old, more than the trade's ttl of ${ttlSeconds} s. Nothing was sent; try again, or check rpcUrls and this machine's clock.`,
    { retryAfterSeconds: 5 },
  )
}

import { badFields, SluiceError } from '../api/index.ts'
import type { ConnectorConfig, Head } from '../contracts/index.ts'
import { divideRaw } from '../decimal.ts'

export interface Slippage {
  numerator: bigint
  denominator: bigint
}

export function readSlippage(text: string): Slippage {
  const [numerator = '0', denominator = '1'] = text.split('/')
  return { numerator: BigInt(numerator), denominator: BigInt(denominator) }
}

const looser = (a: Slippage, b: Slippage) => a.numerator * b.denominator > b.numerator * a.denominator

/** Pools that are passed, by the version that each is of. */
type Passed = readonly { readonly version: string }[]

/** The strictest slippage and the shortest ttl among the versions that a route takes. */
export function tradeRules(config: ConnectorConfig, route: Passed): TradeRules {
  const versions = [...new Set(route.map(({ version }) => version))]
  const known = remembered.get(config) ?? new Map<string, TradeRules>()
  remembered.set(config, known)
  const name = versions.join()
  const rules = known.get(name) ?? rulesOf(config, versions)
  known.set(name, rules)
  return rules
}

interface TradeRules {
  slippage: Slippage
  slippageText: string
  ttlSeconds: number
}

/** A connector's settings stay the same as long as the server runs. */
const remembered = new WeakMap<ConnectorConfig, Map<string, TradeRules>>()

function rulesOf(config: ConnectorConfig, versions: readonly string[]): TradeRules {
  // A connector may not say which way it goes.
  const rules = versions.length === 0 ? [config] : versions.map((version) => config.versions?.[version] ?? config)
  const strictest = rules.reduce(
    (best, each) => (looser(readSlippage(best.allowedSlippage), readSlippage(each.allowedSlippage)) ? each : best),
    rules[0] ?? config,
  )
  return {
    slippage: readSlippage(strictest.allowedSlippage),
    slippageText: strictest.allowedSlippage,
    ttlSeconds: Math.min(...rules.map(({ ttl }) => ttl)),
  }
}

/** The slippage that holds: the configured one, or the request's where it is tighter. */
export function effectiveSlippage(config: ConnectorConfig, route: Passed, wanted: string | undefined): Slippage {
  const { slippage, slippageText } = tradeRules(config, route)
  if (wanted === undefined) return slippage
  const asked = readSlippage(wanted)
  if (looser(asked, slippage)) throw badFields([{ field: 'allowedSlippage', problem: `may only tighten the configured ${slippageText}` }])
  return asked
}

/** What was quoted for an exact amount: what comes out for it (exact in), or what must go in (exact out). */
interface Quoted {
  readonly swap: { readonly exact: 'in' | 'out' }
  readonly amountRaw: bigint
}

/** The quoted other side moved by the slippage against the caller, rounded so as never to allow more. */
export function slippageBound({ swap, amountRaw }: Quoted, { numerator, denominator }: Slippage): bigint {
  if (swap.exact === 'out') return divideRaw(amountRaw * (denominator + numerator), denominator, 'down')
  const least = denominator > numerator ? divideRaw(amountRaw * (denominator - numerator), denominator, 'up') : 0n
  return least > 0n ? least : 1n
}

/** The tighter of both bounds. @param price of the quote, for the message @throws SluiceError when the quote is already past the limit */
export function tighterBound({ swap, amountRaw }: Quoted, slippage: bigint, limit: bigint | undefined, price: string): bigint {
  if (limit === undefined) return slippage
  if (swap.exact === 'out') {
    if (amountRaw > limit)
      throw new SluiceError(
        'SWAP_PRICE_EXCEEDS_LIMIT_PRICE',
        `The price is ${price} now, above limitPrice: nothing was sent. Raise limitPrice or wait.`,
      )
    return slippage < limit ? slippage : limit
  }
  if (amountRaw < limit)
    throw new SluiceError(
      'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE',
      `The price is ${price} now, below limitPrice: nothing was sent. Lower limitPrice or wait.`,
    )
  return slippage > limit ? slippage : limit
}

/**
 * Until when the chain takes a trade, in seconds since the Unix epoch: the latest block's time plus the ttl.
 * @throws SluiceError NETWORK where that is past already: a node so far behind would only have gas spent on a revert
 */
export function deadlineAfter(head: Head, ttlSeconds: number, nowSeconds = Date.now() / 1000): number {
  const deadline = head.timestamp + ttlSeconds
  if (deadline > nowSeconds) return deadline
  const age = Math.round(nowSeconds - head.timestamp)
  throw new SluiceError(
    'NETWORK',
    `The node's latest block is ${age} s old, more than the trade's ttl of ${ttlSeconds} s: it is behind. Nothing was sent; try again, or check rpcUrls.`,
    {
      retryAfterSeconds: 5,
    },
  )
}

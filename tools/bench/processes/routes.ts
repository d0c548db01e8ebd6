// The search for the best of a connector's ways over its pools in memory, without the server around it: with swaps that may go several ways
// at once, and with none that may.
import type { FollowedPricing, Swap, Token } from '../../../core/contracts/index.ts'
import type { Evm } from '../../../kits/evm/index.ts'
import { poolAMM, type PoolExchange, type PoolProtocol } from '../../../kits/amm/index.ts'
import { uniswapV2 } from '../../../kits/amm/v2/index.ts'
import { uniswapV3 } from '../../../kits/amm/v3/index.ts'
import { v2Deployments, v3Deployments } from '../../../plugins/uniswap/deployments.ts'
import { addresses } from '../../../test/devnet/addresses.ts'
import { at, openDevnetFixture, tokens } from '../../../test/kits/amm/devnet-fixture.ts'
import { serve } from '../child.ts'

export interface RoutesRun {
  readonly splits: boolean
  readonly exact: 'in' | 'out'
  /** Of WETH; amounts are between it and its double. */
  readonly ether: number
  readonly quotes: number
}

const { WETH, USDC } = tokens
const fixture = await openDevnetFixture()
const { positionManager, router } = addresses.rangeExchanges.uniswap
const contracts = { v2RouterAddress: addresses.exchanges.uniswap.router, v3RouterAddress: router, positionManagerAddress: positionManager }
const venue = fixture.venue(contracts)
const v2 = uniswapV2(venue, { version: 'v2', fee: [3n, 1000n], deployments: v2Deployments })
const v3 = uniswapV3(venue, { deployments: v3Deployments, mixedWith: { version: 'v2', deployments: v2Deployments } })
const alone = { ...v3, routers: v3.routers.map(({ address, name, carries, plan, fill }) => ({ address, name, carries, plan, fill })) }
const counts = { passes: 0, estimates: 0 }
const [several, single, counted] = await Promise.all([
  pricingOf(v2, v3),
  pricingOf(v2, alone),
  pricingOf(...[v2, v3].map((each) => ({ ...each, protocols: each.protocols.map((protocol) => counting(protocol)) }))),
])

export type RoutesProcess = typeof handlers
const handlers = serve({ ask, count }, () => fixture.close())

async function pricingOf(...exchanges: readonly PoolExchange[]) {
  const { followed } = poolAMM(venue, ...exchanges)
  if (!followed) throw new Error('The pools cannot be kept in memory.')
  return { followed, out: await loaded(followed, WETH, USDC), in: await loaded(followed, USDC, WETH) }
}

async function loaded(pricing: FollowedPricing<Evm>, tokenIn: Token, tokenOut: Token) {
  const { head } = await venue.reader.read([], at())
  const parts = pricing.basis({ tokenIn, tokenOut }, {})
  const loads = parts.map(async ({ followed, key, about }) => {
    const { states } = await followed.load([key], head, at(), new Map([[key, { about, more: [] }]]))
    return states.get(key)
  })
  return { states: await Promise.all(loads), head }
}

/** The same protocol; what it is asked is counted. */
function counting(protocol: PoolProtocol): PoolProtocol {
  return {
    ...protocol,
    pass(...asked) {
      counts.passes += 1
      return protocol.pass(...asked)
    },
    estimate(...asked) {
      counts.estimates += 1
      return protocol.estimate?.(...asked)
    },
  }
}

const countedQuotes = 100

/** How often pools are passed and estimated for one quote, and the bytes that it allocates. */
function count({ exact, ether }: Pick<RoutesRun, 'exact' | 'ether'>) {
  const asking = { splits: true, exact, ether, quotes: countedQuotes }
  global.gc?.()
  const before = process.memoryUsage().heapUsed
  ask(asking)
  const bytes = (process.memoryUsage().heapUsed - before) / countedQuotes
  Object.assign(counts, { passes: 0, estimates: 0 })
  ask(asking, counted)
  return { bytes, passes: counts.passes / countedQuotes, estimates: counts.estimates / countedQuotes }
}

/** Microseconds of one, and the fraction of them that went several ways. */
function ask({ splits, exact, ether, quotes }: RoutesRun, pricing = splits ? several : single) {
  const [tokenIn, tokenOut] = exact === 'in' ? [WETH, USDC] : [USDC, WETH]
  const { states, head } = exact === 'in' ? pricing.out : pricing.in
  const minRaw = BigInt(ether) * 10n ** 18n
  let split = 0
  const startedAt = process.cpuUsage()
  for (let index = 0; index < quotes; index += 1) {
    // No two the same.
    const swap: Swap = { tokenIn, tokenOut, exact, amountRaw: minRaw + (minRaw * BigInt(index)) / BigInt(quotes) }
    const quote = pricing.followed.quote(swap, {}, states, head, 0)
    if ('parts' in quote) split += 1
  }
  const { user, system } = process.cpuUsage(startedAt)
  return { micros: (user + system) / quotes, split: split / quotes }
}

// Pages of many pools by the handler of a running server in the same process, through the boundary that copies what connectors answer.
import { ammContract } from '../../../core/contracts/answers/amm.ts'
import type { At, PoolsChoice, Swap } from '../../../core/contracts/index.ts'
import { poolHandlers } from '../../../core/handlers/amm/pools.ts'
import { boundary } from '../../../core/plugins/code/boundary.ts'
import type { Passage, Pool, PoolProtocol } from '../../../kits/amm/index.ts'
import { viewPools } from '../../../kits/pools/pool-views.ts'
import { v2Protocol } from '../../../kits/amm/v2/pools.ts'
import { getSqrtRatioAtTick } from '../../../kits/amm/v3/math.ts'
import { v3Protocol } from '../../../kits/amm/v3/pools.ts'
import { TickTable } from '../../../kits/amm/v3/swap.ts'
import { startServer } from '../../../testkit/server.ts'
import { serve } from '../child.ts'

export interface PoolPagesRequest {
  /** Of all connectors together. */
  pools: number
  pages: number
  /** How many of them a block has changed before each page. */
  changed: number
}

const server = await startServer()
const { services } = server.kernel
const network = services.registry.network('ethereum', 'local')
const real = services.registry.venue('uniswap', 'ethereum', 'local')
const origin = { factory: '0x0000000000000000000000000000000000000003', initCodeHash: `0x${'00'.repeat(32)}` }
const [pairs, ranges] = [v2Protocol('v2', [3n, 1000n], origin), v3Protocol({ version: 'v3', fees: [3000], ...origin })]
const [middle, spacing, held] = [0, 60, 10n ** 22n]
const weth = network.tokens.listed.find(({ symbol }) => symbol === 'WETH')
if (!weth) throw new Error('The devnet has no WETH.')
const others = network.tokens.listed.filter((each) => !each.native && each !== weth)

/** Half of them pairs, half of concentrated liquidity, of WETH and each other token by turns; all differ in what they hold. */
function poolsOf(count: number): { readonly protocol: PoolProtocol; readonly pool: Pool }[] {
  const addressOf = (index: number) => `0x${index.toString(16).padStart(40, '0')}`
  return Array.from({ length: count }, (_, index) => {
    const other = others[index % others.length]?.address ?? ''
    const address = weth?.address ?? ''
    const tokens = [address, other].toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
    const own = held + BigInt(index) * 10n ** 18n
    if (index % 2 === 0)
      return { protocol: pairs, pool: { address: addressOf(index), tokens, state: { reserve0Raw: own, reserve1Raw: own } } }
    const ticks = Array.from({ length: 12 }, (_each, place) => middle + (place - 5) * spacing)
    const liquidity = { gross: () => own / 10n, net: (place: number) => (place % 2 === 0 ? own / 10n : -own / 10n) }
    const table = new TickTable(-887_273, 887_273, ticks, liquidity)
    const state = { sqrtPriceX96: getSqrtRatioAtTick(30), tick: 30, liquidity: own, fee: 3000, tickSpacing: spacing, ticks: table }
    return { protocol: ranges, pool: { address: addressOf(index), tokens, state } }
  })
}

const mostOfOne = 10_000

/** The real connector, but for the pools that it shows. */
function venueWith(name: string, count: number) {
  const pools = poolsOf(count)
  const known = real.impl.AMM
  if (!known) throw new Error('It trades no AMM.')
  const shown = {
    ...known,
    async pools(asked: readonly Pick<Swap, 'tokenIn' | 'tokenOut'>[], choice: PoolsChoice, at: At) {
      const passages = asked.map(({ tokenIn, tokenOut }): Passage => ({ tokenIn: tokenIn.address, tokenOut: tokenOut.address }))
      return { head: { number: 1n, timestamp: 1 }, pools: await viewPools(pools, passages, choice, at) }
    },
  }
  const AMM = boundary<object>(shown, { ...ammContract }, { plugin: name, log: { info() {}, warn() {} } })
  /** Other objects in place of some pools, as after a block: what was found of those before serves no more. */
  function change(some: number): void {
    for (let index = 0; index < some; index += 1) {
      const at = (index * 97) % pools.length
      const known = pools[at]
      if (known) pools[at] = { ...known, pool: { ...known.pool } }
    }
  }
  return { venue: { ...real, connector: name, impl: { ...real.impl, AMM } }, change }
}

const made = new Map<number, readonly ReturnType<typeof venueWith>[]>()
/** The same each time. */
function venuesOf(count: number): readonly ReturnType<typeof venueWith>[] {
  const known = made.get(count)
  if (known) return known
  const venues = Array.from({ length: Math.ceil(count / mostOfOne) }, (_, index) =>
    venueWith(`many-${index}`, Math.min(mostOfOne, count - index * mostOfOne)),
  )
  made.set(count, venues)
  return venues
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

export type PoolPagesProcess = typeof handlers
const handlers = serve(
  {
    /**
     * The longest time that the event loop was held by each page, also without the time in which other processes had the processor; how long the page took,
     * and its processor time: milliseconds.
     */
    async pages({ pools, pages, changed }: PoolPagesRequest) {
      const all = venuesOf(pools)
      const venues = all.map(({ venue }) => venue)
      const registry = {
        ...services.registry,
        venuesOn: () => venues,
        venue: (name: string) => venues.find((each) => each.connector === name),
      }
      const caller = { id: 'bench', fingerprint: '', permissions: new Set(['read'] as const), wallets: 'all' } as const
      const { signal } = new AbortController()
      // As a request over HTTP is.
      services.turns.chargeTo(signal, caller)
      const context = { services: { ...services, registry }, caller, requestId: 'bench', signal, network }
      const seen: { heldMs: number; heldCpuMs: number; tookMs: number; cpuMs: number }[] = []
      // The depth of each is found once for each of its states.
      for (let page = -4; page < pages; page += 1) {
        for (const { change } of all) change(changed / all.length)
        let [heldMs, heldCpuMs, isDone] = [0, 0, false]
        const watch = (before: number, usedBefore: NodeJS.CpuUsage) => {
          heldMs = Math.max(heldMs, performance.now() - before)
          heldCpuMs = Math.max(heldCpuMs, cpuMsSince(usedBefore))
          if (!isDone) setImmediate(watch, performance.now(), process.cpuUsage())
        }
        const [startedAt, usedAt] = [performance.now(), process.cpuUsage()]
        setImmediate(watch, startedAt, usedAt)
        const ask = poolHandlers.AMMPools as (request: object, given: object) => Promise<{ pools: readonly object[] }>
        const request = { chain: 'ethereum', network: 'local', connector: 'any', base: 'WETH', limit: 100 }
        let answer = await ask(request, context).catch(() => undefined)
        // The first page of all may be late.
        for (let tries = 0; page < 0 && !answer && tries < 60; tries += 1) {
          await new Promise((resolve) => setTimeout(resolve, 500))
          answer = await ask(request, context).catch(() => undefined)
        }
        const shown = answer?.pools ?? []
        if (shown.length !== 100) throw new Error(`The page has ${shown.length} pools.`)
        const [tookMs, cpuMs] = [performance.now() - startedAt, cpuMsSince(usedAt)]
        isDone = true
        // What came within one turn of the loop held it the whole time.
        if (page >= 0) seen.push({ heldMs: heldMs || tookMs, heldCpuMs: heldCpuMs || cpuMs, tookMs, cpuMs })
        await new Promise((resolve) => setImmediate(resolve))
      }
      return seen
    },
  },
  () => server.stop(),
)

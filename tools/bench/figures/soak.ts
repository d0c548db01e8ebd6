import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Interface, JsonRpcProvider, MaxUint256, parseUnits } from 'ethers'
import { devnetQuoter } from '../../../testkit/devnet-operators.ts'
import { rpcTo } from '../../../core/devnet/anvil.ts'
import { createClient } from '../../../testkit/client.ts'
import { addresses } from '../../../test/devnet/addresses.ts'
import { maker, openManyPairs, type ManyPairs, type NodeCall } from '../../../test/live-state/many-pairs.ts'
import type { Child } from '../child.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import type { GivenPrice, SteadyLoadProcess } from '../processes/steady-load.ts'
import { megabytes, ms, times, type Row } from '../measuring.ts'

const perSecond = 300
const connections = 16
const [ownPairs, blockMs, swapsInABlock] = [40, 1_000, 5]
const { tokens, exchanges, rangeExchanges } = addresses
const devnetFile = fileURLToPath(new URL('../../../plugins/uniswap/devnet.ts', import.meta.url))
const abi = new Interface([
  'function deposit() payable',
  'function mint(address to, uint256 value)',
  'function approve(address spender, uint256 value)',
  'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
  'function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96)) payable',
])
const ether = 10n ** 18n
const gas = 1_000_000

/** Of what the server counts itself. */
const different = /^sluice_market_checks_total\{[^}]*outcome="different"[^}]*\} (\d+)$/gm

/** A server under this load. What only a process of the benchmark can tell of itself may be absent. */
export interface SoakedServer {
  url: string
  certsDir: string
  /** The devnet's node. */
  rpcUrl: string
  /** Bytes. */
  resident(): Promise<number>
  /** Bytes in use of the heap, after a collection. */
  heapUsed?(): Promise<number>
  roundTrips?: { record(): Promise<void>; take(): Promise<readonly { methods: readonly string[] }[]> }
}

/** That of a process of the benchmark. */
export async function soakedServer(sluice: Child<SluiceProcess>): Promise<SoakedServer> {
  return {
    ...(await sluice.ask('where')),
    resident: async () => (await sluice.ask('memory')).rss,
    heapUsed: async () => (await sluice.ask('memory')).heapUsed,
    roundTrips: { record: async () => sluice.ask('recordRoundTrips'), take: async () => sluice.ask('takeRoundTrips') },
  }
}

/**
 * Quotes at a steady pace over 50 pairs, of v2 alone and of v2 and v3, with a block a second and swaps in each; every minute some answers
 * are held against the exchange's own quoters at their blocks.
 */
export async function soak(server: SoakedServer, load: Child<SteadyLoadProcess>, seconds: number): Promise<Row[]> {
  const { url, certsDir, rpcUrl } = server
  const market = await openManyPairs(rpcTo(rpcUrl), ownPairs)
  const devnetPairs = await fundSwaps(market)
  const pairs = [...market.pairs, ...devnetPairs]
  const quoters = await ownQuotes(rpcUrl)
  const client = createClient(url, certsDir)
  const rows: Row[] = []
  const sum = { quotes: 0, errors: 0, compared: 0, different: 0 }
  let blocks = 0
  let first: { heapUsed: number | undefined; resident: number; p99Ms: number; name: string } | undefined
  const over = new AbortController()
  try {
    for (const pair of pairs) await client.get(pathOf(pair).replace('{amount}', '1'))
    const making = makeBlocks()
    await load.ask('start', { url, certsDir, perSecond, connections, paths: pairs.map(pathOf) })
    for (let past = 0; past < seconds; past += 60) {
      await server.roundTrips?.record()
      const blocksBefore = blocks
      await Promise.race([sleep(Math.min(60, seconds - past) * 1000), making])
      const { requests, errors, given, p50Ms, p99Ms } = await load.ask('take')
      const trips = await server.roundTrips?.take()
      const name = `minute ${past / 60 + 1}`
      const failed = Object.values(errors).reduce((all, count) => all + count, 0)
      for (const [error, count] of Object.entries(errors)) console.log(`  ${name}: ${count} times ${error}`)
      sum.quotes += requests
      sum.errors += failed
      sum.compared += given.length
      for (const each of given) sum.different += (await quoters.isOwn(each)) ? 0 : 1
      const made = blocks - blocksBefore
      rows.push(
        { name: `${name}: p50`, value: ms(p50Ms) },
        {
          name: '  p99',
          value: ms(p99Ms),
          ...(first && { reference: `${ms(first.p99Ms)} in minute 1`, ratio: times(p99Ms, first.p99Ms) }),
        },
        { name: '  quotes', value: String(requests) },
      )
      if (trips)
        rows.push(
          { name: '  requests to the node per block', value: (trips.length / made).toFixed(2) },
          { name: '  of them for what happened', value: (trips.filter(asksWhatHappened).length / made).toFixed(2) },
        )
      const isLast = past + 60 >= seconds
      if (first && !isLast) continue
      const held = { resident: await server.resident(), heapUsed: await server.heapUsed?.() }
      // What was held up by the garbage collection is of no minute.
      await load.ask('take')
      if (first) {
        const { name: since } = first
        const row = (of: string, now: number, before: number): Row => ({
          name: `${of} at the end`,
          value: megabytes(now),
          reference: `${megabytes(before)} after ${since}`,
          ratio: times(now, before),
        })
        rows.push(row('resident', held.resident, first.resident))
        if (held.heapUsed !== undefined && first.heapUsed !== undefined) rows.push(row('heap in use', held.heapUsed, first.heapUsed))
      } else rows.push({ name: `resident after ${name}`, value: megabytes(held.resident) })
      first ??= { ...held, p99Ms, name }
    }
    await load.ask('stop')
    over.abort()
    await making
    const { text } = await client.get('/metrics')
    const byServer = [...text.matchAll(different)].reduce((all, [, count]) => all + Number(count), 0)
    rows.push(
      { name: 'quotes', value: String(sum.quotes) },
      { name: 'blocks, each with swaps', value: String(blocks) },
      { name: 'errors', value: String(sum.errors), reference: 'none' },
      { name: `other than the exchange's own, of ${sum.compared} compared`, value: String(sum.different), reference: 'none' },
      { name: 'other than the chain, of samples that the server compared', value: String(byServer), reference: 'none' },
    )
    return rows
  } finally {
    over.abort()
    client.close()
    quoters.close()
  }

  async function makeBlocks(): Promise<void> {
    for (;;) {
      const startedAt = performance.now()
      await market.block([...ownSwaps(market), ...devnetSwaps()])
      blocks += 1
      await sleep(blockMs - (performance.now() - startedAt), undefined, { signal: over.signal }).catch(() => {})
      if (over.signal.aborted) return
    }
  }
}

const asksWhatHappened = ({ methods }: { methods: readonly string[] }) => methods.includes('eth_getLogs')

function pathOf([base, quote]: readonly [string, string]): string {
  const place = { chain: 'ethereum', network: 'local', connector: 'uniswap', base, quote, side: 'SELL' }
  return `/amm/price?${new URLSearchParams(place).toString()}&amount={amount}`
}

/** What `swaps` need. Gives the pairs of the devnet's own tokens. */
async function fundSwaps(market: ManyPairs): Promise<readonly (readonly [string, string])[]> {
  const approvals = [tokens.WETH, tokens.USDC].flatMap(({ address }) =>
    [exchanges.uniswap.router, rangeExchanges.uniswap.router].map((router) => call(address, 'approve', [router, MaxUint256])),
  )
  const deposit = { ...call(tokens.WETH.address, 'deposit', []), value: 100_000n * ether }
  await market.block([deposit, call(tokens.USDC.address, 'mint', [maker, 2n ** 100n]), ...approvals])
  const all = Object.values(tokens).map(({ address }) => address)
  return all.flatMap((a, index) => all.slice(index + 1).map((b) => [a, b] as const))
}

const call = (to: string, name: string, args: readonly unknown[]): NodeCall => ({ to, data: abi.encodeFunctionData(name, args), gas })
const oneOf = (count: number) => Math.floor(Math.random() * count)
const isHeads = () => Math.random() < 0.5

const ownSwaps = (market: ManyPairs) =>
  Array.from({ length: swapsInABlock }, () => market.swap(oneOf(ownPairs), ether * BigInt(1 + oneOf(5)), isHeads()))

/** One in a pair, and one in a pool of concentrated liquidity. */
function devnetSwaps(): readonly NodeCall[] {
  const swap = () => {
    const path = [tokens.WETH.address, tokens.USDC.address]
    const amountRaw = BigInt(1 + oneOf(5))
    return isHeads() ? { path, amountRaw: amountRaw * ether } : { path: path.toReversed(), amountRaw: amountRaw * 3_000_000_000n }
  }
  const [paired, ranged] = [swap(), swap()]
  return [
    call(exchanges.uniswap.router, 'swapExactTokensForTokens', [paired.amountRaw, 0n, paired.path, maker, MaxUint256]),
    call(rangeExchanges.uniswap.router, 'exactInputSingle', [[...ranged.path, 500, maker, ranged.amountRaw, 0n, 0n]]),
  ]
}

/** The exchange's own quoters, at the same node. */
async function ownQuotes(rpcUrl: string) {
  const provider = new JsonRpcProvider(rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1 })
  const quoter = await devnetQuoter(devnetFile, provider)
  if (!quoter) throw new Error('The devnet of Uniswap names no quoter.')
  const decimals = new Map<string, number>(Object.values(tokens).map((token) => [token.address, token.decimals]))
  return {
    async isOwn({ route, rawAmount, expectedAmount, blockNumber }: GivenPrice): Promise<boolean> {
      const givenRaw = parseUnits(expectedAmount, decimals.get(route.at(-1)?.tokenOut ?? '') ?? 18)
      return (await quoter.exactIn(route, BigInt(rawAmount), blockNumber)) === givenRaw
    },
    close: () => provider.destroy(),
  }
}

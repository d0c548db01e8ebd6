// What limits cost: a trade, a quote, a signature, and a window that has many entries.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { AbiCoder, id, parseEther, Wallet, type Transaction } from 'ethers'
import { createSpendingLimits } from '../../../core/limits/spending-limits.ts'
import { compareExchange, valueGiven, type ValueSample } from '../../../core/market/exchange-values.ts'
import { saveKey } from '../../../core/keys/keystore.ts'
import { openStore } from '../../../core/store/open-store.ts'
import type { Store } from '../../../core/store/store.ts'
import type { Spending } from '../../../core/transactions/budgets.ts'
import { beginCount } from '../../../core/wallet/limits/count-file.ts'
import { startSigner } from '../../../core/wallet/signer.ts'
import { createClient } from '../../../testkit/client.ts'
import { addresses } from '../../../test/devnet/addresses.ts'
import { fillWindow, windowLimits } from '../../../test/limits/filled-windows.ts'
import { newEntry } from '../../../test/transactions/journal/entries.ts'
import { exampleFiles } from '../../../test/wallet/example-files.ts'
import { requestOf, transaction } from '../../../test/wallet/example-policy.ts'
import type { Child } from '../child.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { OrdersProcess } from '../processes/orders.ts'
import type { TradersProcess } from '../processes/traders.ts'
import { newQuotes } from '../quote-path.ts'
import { cpuMsOf, median, micros, ms, percentile, times, type Row } from '../measuring.ts'

/** Of every kind that a bot has, and never met here. */
export const benchLimits = {
  maxDailyLoss: '1000000',
  maxDailyGas: '100000',
  maxFee: '1',
  transactionsPerHour: 1_000_000,
  tokens: { 'ethereum/local': { ETH: { perHour: '100000', perDay: '100000' } } },
  value: { perDay: '100000000' },
}

const usualRounds = 7
const silent = { info() {}, warn() {}, error() {} }

/** Milliseconds of each. */
interface Cost {
  readonly cpuMs: number
  readonly wallMs: number
}

function compared(name: string, limited: readonly Cost[], free: readonly Cost[], show = ms): Row[] {
  const row = (what: string, key: keyof Cost): Row => {
    const [value, reference] = [median(limited.map((each) => each[key])), median(free.map((each) => each[key]))]
    return { name: `${name}: ${what}`, value: show(value), reference: show(reference), ratio: times(value, reference) }
  }
  return [row('processor time', 'cpuMs'), row('one after the other', 'wallMs')]
}

/** The two by turns, so that what else the machine does meets both. */
async function byTurns(free: () => Promise<Cost>, limited: () => Promise<Cost>, rounds = usualRounds) {
  const costs = { free: [] as Cost[], limited: [] as Cost[] }
  // What is measured is warm.
  await free()
  await limited()
  for (let round = 0; round < rounds; round += 1) {
    const [first, second] = round % 2 === 0 ? (['free', 'limited'] as const) : (['limited', 'free'] as const)
    costs[first].push(await (first === 'free' ? free() : limited()))
    costs[second].push(await (second === 'free' ? free() : limited()))
  }
  return costs
}

export async function limitedTrades(traders: Child<TradersProcess>, orders: Child<OrdersProcess>): Promise<Row[]> {
  const { url, certsDir, keys } = await traders.ask('where')
  const wallets = keys.map((key) => new Wallet(key).address)
  // What limits add is little of what the processor does for a trade: many short turns, and the median of their differences.
  const [turns, trades] = [60, 20]
  const trade = async (client: string, address: string): Promise<Cost> => {
    const before = await traders.ask('cpu')
    const startedAt = performance.now()
    await orders.ask('trade', { url, certsDir, client, addresses: [address], connections: 1, trades })
    const wallMs = (performance.now() - startedAt) / trades
    return { cpuMs: cpuBetween(before, await traders.ask('cpu')) / trades, wallMs }
  }
  const [one = '', other = ''] = wallets
  await marketIsKnown(url, certsDir, other)
  const { free, limited } = await byTurns(
    () => trade('client', one),
    () => trade('limited', other),
    turns,
  )
  return [...compared('a trade', limited, free), added(limited, free)]
}

/** With the half of the differences that is around their median: how sure it is, is seen. */
function added(limited: readonly Cost[], free: readonly Cost[]): Row {
  const differences = limited.map(({ cpuMs }, index) => cpuMs - (free[index]?.cpuMs ?? Number.NaN))
  const [low, high] = [percentile(differences, 0.25), percentile(differences, 0.75)]
  return { name: 'a trade: limits add', value: ms(median(differences)), ratio: `half of the turns: ${ms(low)} to ${ms(high)}` }
}

const cpuBetween = (before: NodeJS.CpuUsage, after: NodeJS.CpuUsage): number =>
  (after.user + after.system - before.user - before.system) / 1000

/** Of a token that was quoted it is known some time after. */
async function marketIsKnown(url: string, certsDir: string, address: string): Promise<void> {
  const client = createClient(url, certsDir, 'limited')
  const pair = { base: 'ETH', quote: 'USDC', amount: '0.0001', side: 'SELL' }
  const until = performance.now() + 120_000
  for (;;) {
    const { status, text } = await client.post('/amm/trade', {
      chain: 'ethereum',
      network: 'local',
      connector: 'uniswap',
      address,
      ...pair,
    })
    if (status === 200) return client.close()
    if (performance.now() > until) throw new Error(`answered ${status}: ${text}`)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

export async function limitedQuotes(
  traders: Child<TradersProcess>,
  loads: { readonly free: Child<LoadProcess>; readonly limited: Child<LoadProcess> },
): Promise<Row[]> {
  const { url } = await traders.ask('where')
  const requests = 2_000
  const quotes = (load: Child<LoadProcess>) => async (): Promise<Cost> => {
    const before = await traders.ask('cpu')
    const startedAt = performance.now()
    await load.ask('run', { url, connections: 1, requests, path: newQuotes() })
    const wallMs = (performance.now() - startedAt) / requests
    return { cpuMs: cpuBetween(before, await traders.ask('cpu')) / requests, wallMs }
  }
  const { free, limited } = await byTurns(quotes(loads.free), quotes(loads.limited))
  return compared('a quote', limited, free)
}

const swap = 'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)'

/** A swap that the signer reads, and counts on its disk before the signature leaves. */
export async function limitedSignatures(): Promise<Row[]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'sluice-bench-'))
  const passphrase = 'only for measuring'
  const [limited, free] = [Wallet.createRandom(), Wallet.createRandom()]
  const { WETH, USDC } = addresses.tokens
  const row = { decimals: WETH.decimals, perDay: '1000000' }
  const limits = { native: { perDay: '1' }, gasCost: { perDay: '1000000' }, tokens: { [WETH.address]: row } }
  const conf = { 'limits.yml': { wallets: { [limited.address]: { 'ethereum/local': limits } } } }
  for (const { privateKey } of [limited, free]) await saveKey({ dataDir, chain: 'ethereum', privateKey, passphrase, scryptN: 2 })
  await beginCount(dataDir)
  const files = { ...(await exampleFiles(dataDir, { passphrase, records: {}, conf })), plugins: ['ethereum', 'uniswap'] }
  const signer = await startSigner({ dataDir, passphrase, devnet: false, files, log: silent })
  const swaps = 100
  let nonce = 0
  const draftOf = (address: string): Transaction => {
    nonce += 1
    const parts = [parseEther('0.001'), 1n, [WETH.address, USDC.address], address, 2_000_000_000n]
    const types = ['uint256', 'uint256', 'address[]', 'address', 'uint256']
    const data = id(swap).slice(0, 10) + AbiCoder.defaultAbiCoder().encode(types, parts).slice(2)
    return transaction({ nonce, to: addresses.exchanges.uniswap.router, value: 0n, data })
  }
  const sign = (address: string) => async (): Promise<Cost> => {
    const requests = Array.from({ length: swaps }, () => requestOf(address, draftOf(address)))
    const beforeMs = cpuMsOf(signer.processId())
    const startedAt = performance.now()
    for (const request of requests) await signer.sign(request)
    const wallMs = (performance.now() - startedAt) / swaps
    return { cpuMs: (cpuMsOf(signer.processId()) - beforeMs) / swaps, wallMs }
  }
  try {
    const costs = await byTurns(sign(free.address), sign(limited.address))
    return compared('a signature', costs.limited, costs.free)
  } finally {
    await signer.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** What a trade asks of the market: what it may lose, and twice what it gives is worth. By a window of the default 20 minutes, and of the one that the trades here have. */
export function marketWindow(): Row[] {
  const [many, few] = [120, 6].map((readings) => Array.from({ length: usualRounds }, () => costOfMarket(readings)))
  return compared('a trade', many ?? [], few ?? [], (each) => micros(each * 1_000))
}

/** A reading comes after a hundred trades. */
const [readings, tradesEach] = [20, 100]

function costOfMarket(inWindow: number): Cost {
  const valueAt = (index: number) => ({ lowX: 10n ** 40n + BigInt(index % 17), highX: 10n ** 40n + BigInt(20 + (index % 13)), sources: 2 })
  const sampleAt = (index: number): ValueSample => ({
    atMs: index * 10_000,
    values: new Map(['in', 'out'].map((token, of) => [token, valueAt(index * 7 + of)])),
    deep: new Set(),
    books: new Set(),
  })
  const samples = Array.from({ length: inWindow + readings }, (_, index) => sampleAt(index))
  const [before, startedAt] = [process.cpuUsage(), performance.now()]
  for (let reading = 0; reading < readings; reading += 1) {
    const window = samples.slice(reading, reading + inWindow)
    for (let trade = 0; trade < tradesEach; trade += 1) {
      const gives = { in: parseEther('1') + BigInt(trade) }
      compareExchange({ gives, gets: { out: parseEther('0.99') } }, window, 30_000)
      for (let asked = 0; asked < 2; asked += 1) valueGiven(gives, window, 30_000)
    }
  }
  const trades = readings * tradesEach
  return { cpuMs: cpuBetween(before, process.cpuUsage()) / trades, wallMs: (performance.now() - startedAt) / trades }
}

/** What a client's limits do in the write that journals a trade, and in the one that ends it. */
export async function windowSize(): Promise<Row[]> {
  // What is measured is warm.
  await windowOf(1_000)
  const [few, many] = [await windowOf(1_000), await windowOf(1_000_000)]
  return (['reserved', 'settled'] as const).flatMap((what) => compared(what, many[what], few[what], (each) => micros(each * 1_000)))
}

async function windowOf(entries: number) {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'sluice-bench-'))
  const store = await openStore({ dataDir, serverName: 'bench', log: silent })
  try {
    await fillWindow(store, entries)
    const budgets = createSpendingLimits(() => windowLimits, store.kind)
    budgets.readBy({
      gains: () => undefined,
      tells: () => undefined,
      gasCost: () => 1n,
      heldChanges: () => [],
      token: () => undefined,
      value: () => ({ is: 'no market' }),
      reference: () => undefined,
    })
    const costs = { reserved: [] as Cost[], settled: [] as Cost[] }
    const trades = 200
    for (let round = 0; round <= usualRounds; round += 1) {
      const keys = Array.from({ length: trades }, (_, index) => `new ${round} ${index}`)
      const spendings = keys.map(spendingOf)
      const reserved = await timed(store, spendings, (spending, tx) => budgets.reserve(spending, tx))
      const settled = await timed(store, spendings, async ({ steps: [first] }, tx) => {
        if (first) await budgets.settle?.([{ ...first.entry, landed: { id: '0x1', ok: true, blockNumber: 1, receipt: null } }], tx)
      })
      if (round === 0) continue
      costs.reserved.push(reserved)
      costs.settled.push(settled)
    }
    return costs
  } finally {
    await store.close()
    await rm(dataDir, { recursive: true, force: true })
  }
}

const spendingOf = (key: string): Spending => ({
  client: 'bot',
  is: 'new',
  coin: { symbol: 'ETH', decimals: 18 },
  commitment: { gives: { in: 1n }, market: { lossMicros: 1n, prices: {} } },
  steps: [{ entry: newEntry({ key, client: 'bot' }), maxCostRaw: 2n, valueRaw: 0n }],
})

type Tx = Parameters<Parameters<Store['write']>[0]>[0]

/** In one write: flushing the disk is not what limits cost. */
async function timed<T>(store: Store, all: readonly T[], one: (each: T, tx: Tx) => Promise<unknown>): Promise<Cost> {
  let cost: Cost = { cpuMs: 0, wallMs: 0 }
  await store.write(async (tx) => {
    const before = process.cpuUsage()
    const startedAt = performance.now()
    for (const each of all) await one(each, tx)
    const wallMs = (performance.now() - startedAt) / all.length
    cost = { cpuMs: cpuBetween(before, process.cpuUsage()) / all.length, wallMs }
  })
  return cost
}

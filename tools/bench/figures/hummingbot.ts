import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type Answer, type Client } from '../../../testkit/client.ts'
import type { Child } from '../child.ts'
import { median, perSecond, times, type Row } from '../measuring.ts'
import type { BareServerProcess } from '../processes/bare-server.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import { newQuotes, sameQuote } from '../quote-path.ts'

const [rounds, trades, quietMs] = [3, 4, 2_000]
/**
 * What Hummingbot's own gateway answered in a second, of prices for new amounts by 16 connections, and a bare server with mutual TLS in the same run:
 * measured once, on another machine. On this one the original is as much slower or faster as the bare server is.
 */
const once = { original: 520, bare: 22_900 }
const wanted = 15

/** The same question as `/amm/price` has it, of its query. */
function throughInterface(path: string): string {
  const asked = new URLSearchParams(path.slice(path.indexOf('?')))
  const fields = { baseToken: 'base', quoteToken: 'quote', amount: 'amount', side: 'side', connector: 'connector' }
  const query = Object.entries(fields).map(([theirs, ours]) => `${theirs}=${asked.get(ours) ?? ''}`)
  return `/trading/router/quote-swap?chainNetwork=ethereum-local&${query.join('&')}`
}

/** Quotes and swaps through the interface of Hummingbot, beside the same by the server's own paths: the two take turns. */
export async function hummingbotBesideNative(
  sluice: Child<SluiceProcess>,
  load: Child<LoadProcess>,
  bare: Child<BareServerProcess>,
): Promise<{ rows: Row[]; note: string }> {
  const bareUrl = await bare.ask('url')
  const bareRates: number[] = []
  const { url, interfaceUrls } = await sluice.ask('where')
  const interfaceUrl = interfaceUrls['hummingbot'] ?? ''
  const ways = { native: { url, of: (path: string) => path }, hummingbot: { url: interfaceUrl, of: throughInterface } } as const

  async function compared(
    name: string,
    path: string,
    size: { connections: number; requests: number; warmUp: number; fresh?: boolean },
  ): Promise<{ row: Row; rate: number }> {
    const rates = { native: [] as number[], hummingbot: [] as number[] }
    const perCpuSeconds = { native: [] as number[], hummingbot: [] as number[] }
    for (let round = -1; round < rounds; round += 1)
      for (const way of ['native', 'hummingbot'] as const) {
        const { url: to, of: shaped } = ways[way]
        const before = await sluice.ask('cpu')
        const asked = round < 0 ? { ...size, requests: size.warmUp } : size
        const { requests, seconds } = await load.ask('run', { url: to, path: shaped(path), ...asked })
        const after = await sluice.ask('cpu')
        // The first round compiles what is measured.
        if (round < 0) continue
        if (!size.fresh) {
          const { requests: answered, seconds: passed } = await load.ask('run', { url: bareUrl, path: '/', ...size })
          bareRates.push(answered / passed)
        }
        rates[way].push(requests / seconds)
        perCpuSeconds[way].push((requests * 1_000_000) / (after.user + after.system - before.user - before.system))
      }
    const [ours, native] = [median(rates.hummingbot), median(rates.native)]
    const byCpu = times(median(perCpuSeconds.hummingbot), median(perCpuSeconds.native))
    return {
      row: {
        name,
        value: perSecond(ours),
        reference: perSecond(native),
        ratio: `${times(ours, native)}, by the server's processor time ${byCpu}, wanted × 0.70`,
      },
      rate: ours,
    }
  }

  // With fewer before it, what is measured is still being compiled.
  const kept = { connections: 16, requests: 10_000, warmUp: 40_000 }
  const fresh = { connections: 8, requests: 400, warmUp: 1_000, fresh: true }
  const compare = [
    await compared('the same amount, kept connections', sameQuote(), kept),
    await compared('new amounts, kept connections', newQuotes(), kept),
    await compared('new amounts, a connection for each request', newQuotes(), fresh),
  ]
  const newAmounts = compare[1]?.rate ?? 0
  const bareRate = median(bareRates)
  const originalRate = (once.original * bareRate) / once.bare
  const original: Row = {
    name: 'new amounts, a named connector',
    value: perSecond(newAmounts),
    reference: perSecond(originalRate),
    ratio: `${times(newAmounts, originalRate)}, wanted × ${wanted}`,
  }
  const { rows, note } = await callsOfBoth(sluice)
  const beside = `The original: ${once.original}/s beside a bare server's ${perSecond(once.bare)}, once; that server here: ${perSecond(bareRate)}.`
  return { rows: [...compare.map(({ row }) => row), original, ...rows], note: `${beside} ${note}` }
}

/** What either asks of the node. */
async function callsOfBoth(sluice: Child<SluiceProcess>): Promise<{ rows: Row[]; note: string }> {
  const { url, interfaceUrls, certsDir, wallet } = await sluice.ask('where')
  const [native, hummingbot] = [createClient(url, certsDir), createClient(interfaceUrls['hummingbot'] ?? '', certsDir)]
  const swap = { base: 'ETH', quote: 'USDC', side: 'SELL' }
  const own = { chain: 'ethereum', network: 'local', connector: 'uniswap' }
  const theirs = { chainNetwork: 'ethereum-local', connector: 'uniswap', baseToken: swap.base, quoteToken: swap.quote, side: swap.side }
  try {
    const quotes = {
      native: await callsWhile(sluice, () => ask(native, 'GET', sameQuote())),
      hummingbot: await callsWhile(sluice, () => ask(hummingbot, 'GET', throughInterface(sameQuote()))),
    }
    const sent = { native: [] as string[][], hummingbot: [] as string[][] }
    for (let index = 0; index < trades; index += 1) {
      const amount = `0.0${index + 1}`
      sent.native.push(await callsWhile(sluice, () => traded(native, { ...own, ...swap, amount, address: wallet })))
      sent.hummingbot.push(
        await callsWhile(sluice, () =>
          ask(hummingbot, 'POST', '/trading/router/execute-swap', { ...theirs, amount, walletAddress: wallet }),
        ),
      )
    }
    // The first is simulated: the shortest is its own.
    const shortest = (all: readonly string[][]): readonly string[] => all.toSorted((a, b) => a.length - b.length)[0] ?? []
    const both = { native: shortest(sent.native), hummingbot: shortest(sent.hummingbot) }
    return {
      rows: [
        { name: 'calls to the node of a quote', value: String(quotes.hummingbot.length), reference: String(quotes.native.length) },
        { name: 'of a swap', value: String(both.hummingbot.length), reference: String(both.native.length) },
      ],
      note: `The swap's: ${both.hummingbot.join(', ')}; natively: ${both.native.join(', ')}. What follows the chain and the transaction is left out.`,
    }
  } finally {
    native.close()
    hummingbot.close()
  }
}

/** What the server asks at its own pace, of each block and of what is in it. */
const following: ReadonlySet<string> = new Set([
  'eth_blockNumber',
  'eth_getBlockByNumber',
  'eth_getBlockTransactionCountByHash',
  'eth_getLogs',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'eth_getTransactionCount',
  'eth_getBalance',
  'eth_maxPriorityFeePerGas',
])

async function callsWhile(sluice: Child<SluiceProcess>, work: () => Promise<unknown>): Promise<string[]> {
  // What follows upon the last trade is over.
  await sleep(quietMs)
  await sluice.ask('recordRoundTrips')
  await work()
  return (await sluice.ask('takeRoundTrips')).flatMap(({ methods }) => methods).filter((method) => !following.has(method))
}

/** As a bot does that waits for its trade. */
async function traded(client: Client, trade: object): Promise<void> {
  const { txHash } = await ask(client, 'POST', '/amm/trade', trade)
  while ((await ask(client, 'GET', `/network/poll?chain=ethereum&network=local&txHash=${txHash}`)).txStatus !== 1) await sleep(250)
}

async function ask(client: Client, method: 'GET' | 'POST', path: string, fields?: object): Promise<Answer['body']> {
  const { status, text, body } = await (method === 'GET' ? client.get(path) : client.post(path, fields))
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`)
  return body
}

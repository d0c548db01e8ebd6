import type { Child } from '../child.ts'
import type { BookOrdersProcess } from '../processes/book-orders.ts'
import type { BookServerProcess } from '../processes/book-server.ts'
import type { HyperliquidProcess } from '../processes/hyperliquid.ts'
import { ms, perSecond, times, median, type Row } from '../measuring.ts'

const rounds = 3
const connections = 16
const perRound = 400
/** HYPE-USDC, as the exchange calls it. */
const coin = '@107'

interface Measure {
  rate: number
  p50Ms: number
  p99Ms: number
  cpuMs: number
}

/** Orders by journal and signer, to the exchange's word that they rest, beside the exchange's client library on the same exchange. */
export async function orderRate(
  exchange: Child<HyperliquidProcess>,
  server: Child<BookServerProcess>,
  bots: Child<BookOrdersProcess>,
): Promise<{ rows: Row[]; note: string }> {
  const [{ url, certsDir }, { apiUrl, testnet, wallets }] = [await server.ask('where'), await exchange.ask('where')]
  await exchange.ask('credit', [...wallets, ...(await bots.ask('addresses'))])

  const sluice = async (count: number, orders: number): Promise<Measure> => {
    const before = await server.ask('cpu')
    const measured = await bots.ask('place', { url, certsDir, addresses: wallets.slice(0, count), connections, orders })
    const after = await server.ask('cpu')
    await exchange.ask('clear', coin)
    return { ...measured, cpuMs: (after.user + after.system - before.user - before.system) / 1000 / orders }
  }
  const library = async (count: number, orders: number): Promise<Measure> => {
    const measured = await bots.ask('library', { apiUrl, testnet, wallets: count, inFlight: connections, orders })
    await exchange.ask('clear', coin)
    return measured
  }

  // What is measured are warm programs.
  await sluice(wallets.length, 200)
  await library(wallets.length, 200)
  await exchange.ask('takeRequests')
  await sluice(1, perRound)
  const requests = await exchange.ask('takeRequests')
  const rows: Row[] = []
  for (const count of [1, wallets.length]) {
    const seen = { sluice: [] as Measure[], library: [] as Measure[] }
    for (let round = 0; round < rounds; round += 1) {
      seen.sluice.push(await sluice(count, perRound))
      seen.library.push(await library(count, perRound))
    }
    rows.push(...rowsOf(count === 1 ? 'one wallet' : `${count} wallets`, middle(seen.sluice), middle(seen.library)))
  }
  const asked = [...requests]
    .filter(([, times_]) => times_ >= perRound / 10)
    .map(([type, times_]) => `${(times_ / perRound).toFixed(2)} ${type}`)
  return { rows, note: `Asked of the exchange per order: ${asked.join(', ')}` }
}

const middle = (measures: readonly Measure[]): Measure => ({
  rate: median(measures.map(({ rate }) => rate)),
  p50Ms: median(measures.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(measures.map(({ p99Ms }) => p99Ms)),
  cpuMs: median(measures.map(({ cpuMs }) => cpuMs)),
})

function rowsOf(name: string, ours: Measure, theirs: Measure): Row[] {
  const row = (what: string, key: keyof Measure, show: (value: number) => string): Row => ({
    name: `${name}: ${what}`,
    value: show(ours[key]),
    reference: show(theirs[key]),
    ratio: times(ours[key], theirs[key]),
  })
  return [row('orders', 'rate', perSecond), row('p50', 'p50Ms', ms), row('p99', 'p99Ms', ms), row('CPU per order', 'cpuMs', ms)]
}

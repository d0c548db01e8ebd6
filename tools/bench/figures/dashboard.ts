// The dashboard in a real Chromium: what ten tabs cost the server beside trades, whether anything grows, and how soon the first page is there.
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { createClient } from '../../../testkit/client.ts'
import { openStore } from '../../../core/store/open-store.ts'
import { openBrowser, startDashboard, type LocalDashboard } from '../../../test/dashboard/browser.ts'
import { growJournal } from '../../../test/transactions/journal/grown-journal.ts'
import type { Child } from '../child.ts'
import { median, megabytes, ms, times, type Row } from '../measuring.ts'
import type { SluiceProcess } from '../processes/sluice.ts'

/** All in view, as windows beside one another: a tab that nobody sees asks for nothing. */
const tabs = ['', '', '', 'wallets', 'transactions', 'positions', 'clients', 'approvals', 'plugins', 'activity']
const tradesPerSecond = 2

interface Measure {
  readonly cpuMs: number
  readonly seconds: number
  readonly trades: number
}

/**
 * @param seconds that the tabs stay open beside trades, and half as long beside none; without a tab as long in all, one half before and one after
 * @returns rows, and how often each path was asked for
 */
export async function dashboardTabs(sluice: Child<SluiceProcess>, seconds: number): Promise<{ rows: Row[]; note: string }> {
  const { url, certsDir, wallet } = await sluice.ask('where')
  const client = createClient(url, certsDir)
  const dashboard = await startDashboard({ certsDir, url })
  const browser = await openBrowser()
  try {
    const trading = (during: number) => tradeFor(during, sluice, client, wallet)
    // What is measured is a warm server.
    await trading(20)
    const before = [await trading(seconds / 2), await restFor(seconds / 4, sluice)] as const
    const { context, pages } = await openTabs(browser, dashboard.link)
    const asked = new Map<string, number>()
    context.on('request', (request) => {
      const { pathname } = new URL(request.url())
      asked.set(pathname, (asked.get(pathname) ?? 0) + 1)
    })
    const sessions = await Promise.all(pages.map((page) => context.newCDPSession(page)))
    await trading(seconds / 4)
    const [heapBefore, memoryBefore] = [await heapsOf(sessions), await sluice.ask('memory')]
    asked.clear()
    const open = await trading(seconds)
    const counts = [...asked].toSorted(([, one], [, other]) => other - one)
    const openAtRest = await restFor(seconds / 2, sluice)
    const [heapAfter, memoryAfter] = [await heapsOf(sessions), await sluice.ask('memory')]
    await context.close()
    const after = [await trading(seconds / 2), await restFor(seconds / 4, sluice)] as const
    const [alone, aloneAtRest] = [shareOf(before[0], after[0]), shareOf(before[1], after[1])]
    return {
      rows: [
        { name: 'processor time of the server, of a core', value: percent(shareOf(open)), reference: percent(alone) },
        { name: 'what the tabs add', value: percent(shareOf(open) - alone) },
        { name: 'the same while nobody trades', value: percent(shareOf(openAtRest)), reference: percent(aloneAtRest) },
        { name: 'what the tabs add', value: percent(shareOf(openAtRest) - aloneAtRest) },
        { name: 'requests a second', value: (counts.reduce((sum, [, count]) => sum + count, 0) / open.seconds).toFixed(2) },
        { name: 'heap of the tabs together', value: megabytes(heapAfter.bytes), reference: `${megabytes(heapBefore.bytes)} before` },
        { name: 'elements of the tabs together', value: String(heapAfter.nodes), reference: `${heapBefore.nodes} before` },
        { name: 'heap of the server', value: megabytes(memoryAfter.heapUsed), reference: `${megabytes(memoryBefore.heapUsed)} before` },
      ],
      note: `Asked for in ${Math.round(open.seconds)} s: ${counts.map(([path, count]) => `${path} ${count}`).join(', ')}. Trades: ${open.trades}.`,
    }
  } finally {
    await browser.close()
    await dashboard.proxy.stop(0)
    client.close()
  }
}

function shareOf(...measures: readonly Measure[]): number {
  const sum = (of: keyof Measure) => measures.reduce((all, each) => all + each[of], 0)
  return sum('cpuMs') / 1000 / sum('seconds')
}
const percent = (share: number): string => `${(100 * share).toFixed(2)} %`

/** Nobody trades: the trades before are final, and what they made old has been asked for. */
async function restFor(seconds: number, sluice: Child<SluiceProcess>): Promise<Measure> {
  await sleep(20_000)
  const before = await sluice.ask('cpu')
  await sleep(1000 * seconds)
  const after = await sluice.ask('cpu')
  return { cpuMs: (after.user + after.system - before.user - before.system) / 1000, seconds, trades: 0 }
}

async function tradeFor(
  seconds: number,
  sluice: Child<SluiceProcess>,
  client: ReturnType<typeof createClient>,
  address: string,
): Promise<Measure> {
  const before = await sluice.ask('cpu')
  const startedAt = performance.now()
  const past = () => (performance.now() - startedAt) / 1000
  let trades = 0
  while (past() < seconds) {
    trades += 1
    const amount = (0.0001 + trades / 1e9).toFixed(9)
    const swap = { chain: 'ethereum', network: 'local', connector: 'uniswap', address, base: 'ETH', quote: 'USDC', side: 'SELL', amount }
    const { status, text } = await client.post('/amm/trade', swap)
    if (status !== 200) throw new Error(`answered ${status}: ${text}`)
    await sleep(1000 * (trades / tradesPerSecond - past()))
  }
  const took = past()
  const after = await sluice.ask('cpu')
  return { cpuMs: (after.user + after.system - before.user - before.system) / 1000, seconds: took, trades }
}

async function openTabs(browser: Browser, link: string): Promise<{ context: BrowserContext; pages: Page[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const pages: Page[] = []
  for (const view of tabs) {
    const page = await context.newPage()
    if (pages.length === 0) {
      await page.goto(link)
      await page.waitForURL('**/dashboard')
    }
    await page.goto(`${new URL(link).origin}/dashboard#/${view}`)
    await page.getByRole('status').getByText('live').waitFor()
    pages.push(page)
  }
  return { context, pages }
}

/** After a collection, so that what is counted is what is held. */
async function heapsOf(sessions: readonly CDPSession[]): Promise<{ bytes: number; nodes: number }> {
  let [bytes, nodes] = [0, 0]
  for (const session of sessions) {
    await session.send('HeapProfiler.collectGarbage')
    bytes += (await session.send('Runtime.getHeapUsage')).usedSize
    nodes += (await session.send('Memory.getDOMCounters')).nodes
  }
  return { bytes, nodes }
}

/** A home whose journal has so many trades already. */
export async function grownHome(trades: number): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'sluice-bench-'))
  const dataDir = path.join(home, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  const store = await openStore({ dataDir, serverName: 'bench', log: { info() {}, warn() {} } })
  await growJournal(store, trades, { distinct: Math.min(trades, 10_000) })
  await store.close()
  return home
}

const opens = 15

interface PageLoad {
  readonly ms: number
  readonly serverMs: number
  readonly browserMs: number
  readonly requests: number
}

/**
 * From the request for the page to the newest transactions in it, with a browser that keeps the page's files, as after the first time.
 * In turns with a server that is the same but for its journal.
 */
export async function firstPage(sluice: Child<SluiceProcess>, reference: Child<SluiceProcess>): Promise<Row[]> {
  const browser = await openBrowser()
  const sites: Site[] = []
  try {
    for (const server of [sluice, reference]) sites.push(await openSite(browser, server))
    const taken = sites.map((): PageLoad[] => [])
    for (let count = 0; count < opens; count += 1)
      for (const [index, site] of sites.entries()) taken[index]?.push(await openOnce(browser, site))
    const row = (name: string, of: keyof PageLoad, form: (value: number) => string): Row => {
      const [value = Number.NaN, other = Number.NaN] = taken.map((each) => median(each.map((opened) => opened[of])))
      return { name, value: form(value), reference: form(other), ratio: times(value, other) }
    }
    return [
      row('from the address to the newest transactions, p50', 'ms', ms),
      { name: 'the quickest of them', value: ms(Math.min(...(taken[0] ?? []).map((opened) => opened.ms))) },
      row('processor time of the server until then', 'serverMs', ms),
      row('processor time of the browser until then', 'browserMs', ms),
      row('requests until then', 'requests', String),
    ]
  } finally {
    await browser.close()
    for (const { dashboard } of sites) await dashboard.proxy.stop(0)
  }
}

interface Site {
  readonly sluice: Child<SluiceProcess>
  readonly dashboard: LocalDashboard
  readonly page: Page
}

async function openSite(browser: Browser, sluice: Child<SluiceProcess>): Promise<Site> {
  const dashboard = await startDashboard(await sluice.ask('where'))
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  await page.addInitScript(noteWhenShown)
  await page.goto(dashboard.link)
  await page.waitForURL('**/dashboard')
  return { sluice, dashboard, page }
}

async function openOnce(browser: Browser, { sluice, dashboard, page }: Site): Promise<PageLoad> {
  await page.goto('about:blank')
  // What the page before has asked for is over.
  await sleep(1_000)
  let requests = 0
  const count = () => void (requests += 1)
  page.on('request', count)
  const [server, ownBrowser] = [await sluice.ask('cpu'), await cpuMsOfBrowser(browser)]
  await page.goto(`${new URL(dashboard.link).origin}/dashboard`, { waitUntil: 'commit' })
  const took = await shownMs(page)
  const after = await sluice.ask('cpu')
  page.off('request', count)
  return {
    ms: took,
    serverMs: (after.user + after.system - server.user - server.system) / 1000,
    browserMs: (await cpuMsOfBrowser(browser)) - ownBrowser,
    requests,
  }
}

/** In the page, which counts from its address on: asked from outside, a page that is busy answers late, and is busier. */
const noteWhenShown = `
  const table = 'Transactions, newest first'
  const isShown = () => [...document.querySelectorAll('table')].some(({ caption, tBodies: [body] }) => caption?.textContent.startsWith(table) && body?.rows.length > 0)
  const watcher = new MutationObserver(() => {
    if (!isShown()) return
    watcher.disconnect()
    requestAnimationFrame(() => setTimeout(() => (globalThis.shownMs = performance.now())))
  })
  watcher.observe(document, { childList: true, subtree: true })`

async function shownMs(page: Page): Promise<number> {
  for (let tries = 0; tries < 300; tries += 1) {
    const shown = await page.evaluate<number | undefined>('globalThis.shownMs')
    if (shown !== undefined) return shown
    await sleep(100)
  }
  throw new Error('The newest transactions were not shown within 30 s.')
}

/** Of all its processes. */
async function cpuMsOfBrowser(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return 1000 * processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0)
}

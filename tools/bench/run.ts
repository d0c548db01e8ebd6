// `npm run bench`: each figure beside its reference, measured in the same run. Nothing here passes or fails.
import { rm, writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { createClient } from '../../testkit/client.ts'
import { asBuilt, startChild, type Child } from './child.ts'
import { algebraQuotes, anyQuotes, poolPages, poolQuotes, quotesBesideV3, routes } from './figures/quotes.ts'
import { blockLogs, poolsFollowed } from './figures/pools-followed.ts'
import { bookAnswers, bookEvents, bookIncrements } from './figures/books.ts'
import { clientsBesideBare } from './figures/clients.ts'
import { contained, containedStarts, pluginLines, pluginTrials } from './figures/plugins.ts'
import { dashboardTabs, firstPage, grownHome } from './figures/dashboard.ts'
import { fairness, floods, heldBodies } from './figures/overload.ts'
import { hummingbotBesideNative } from './figures/hummingbot.ts'
import { watchedPositions } from './figures/watched-positions.ts'
import { installedSize } from './figures/installed-size.ts'
import { journaling, journalSize } from './figures/journal.ts'
import { bookOfTrade } from './figures/book-trade.ts'
import { journalPages } from './figures/journal-pages.ts'
import { pageParts } from './figures/page-parts.ts'
import { benchLimits, limitedQuotes, limitedSignatures, limitedTrades, marketWindow, windowSize } from './figures/limits.ts'
import { memory, resident } from './figures/resident.ts'
import { nodeDistance, nodeCalls, perpCalls, solanaCalls } from './figures/node-calls.ts'
import { optimal } from './figures/optimal.ts'
import { orderRate } from './figures/order-rate.ts'
import { priceEvents } from './figures/price-events.ts'
import { priceRate, severalAmounts } from './figures/price-rate.ts'
import { signatures } from './figures/signatures.ts'
import { solanaPools } from './figures/solana-pools.ts'
import { soak, soakedServer } from './figures/soak.ts'
import { startToReady } from './figures/start-to-ready.ts'
import { whereTimeGoes } from './figures/where-time-goes.ts'
import { versionRates, versionQuotes } from './figures/versions.ts'
import type { BareServerProcess } from './processes/bare-server.ts'
import type { BookOrdersProcess } from './processes/book-orders.ts'
import type { BookServerProcess } from './processes/book-server.ts'
import type { BooksProcess } from './processes/books.ts'
import type { HyperliquidProcess } from './processes/hyperliquid.ts'
import { tradeRate } from './figures/trade-rate.ts'
import type { LoadProcess } from './processes/load.ts'
import type { OrdersProcess } from './processes/orders.ts'
import type { SluiceProcess } from './processes/sluice.ts'
import type { SteadyLoadProcess } from './processes/steady-load.ts'
import type { TradersProcess } from './processes/traders.ts'
import { flameGraph } from './flame-graph.ts'
import { buildWithMaps } from './profiled-sources.ts'
import { newQuotes, quotePath, sameQuote } from './quote-path.ts'
import { report } from './measuring.ts'

const figures: Readonly<Record<string, () => Promise<void>>> = {
  start: async () => report('From the command to ready; reference: node importing koa and ethers', await startToReady()),
  plugins: async () => report('Loading plugins, trials included; reference: a thread that does nothing', await pluginTrials()),
  contained: async () => {
    report('Starts with connectors in hosts; reference: without them', await containedStarts())
    const { rows, note } = await contained()
    report('A connector in a host; reference: the built-in one for the same pools', rows, note)
  },
  floods: async () =>
    report('A price of a built-in connector while the host of a plugin floods the server; reference: while it does not', await floods()),
  signatures: async () =>
    report("A signature by the signer's process; reference: ethers with the key in the same process", await signatures()),
  quotes,
  clients,
  fairness: fairly,
  bodies,
  prices,
  distance: async () => report('/amm/price with 50 ms between the server and its node; reference: 0 ms', await nodeDistance()),
  profile,
  perpetuals,
  solana: async () => {
    report('What a node of Solana is asked', await solanaCalls())
    report('Pools of Solana in memory, processor time', await solanaPools())
  },
  logs: async () => report('A block of 1,000 logs taken into 1,000 pools in memory; reference: the logs decoded alone', await blockLogs()),
  followed,
  pools: async () => {
    report("A quote by one pool's arithmetic in memory, concentrated liquidity; reference: by a pair's", await poolQuotes())
    report("The same of v4; reference: v3's", await quotesBesideV3('keyed'))
    report("The same of Algebra Integral; reference: v3's", await quotesBesideV3('listed'))
    report("A whole price of Algebra for a new amount, processor time; reference: by uniswap's pools of v3", await algebraQuotes())
  },
  pages: async () => report('A page of 100 of many pools with their depth; reference: of 200 pools', await poolPages()),
  any: async () => report('The best of all connectors, from memory; reference: each of them asked', await anyQuotes()),
  routes: async () => report('A quote in process, for a new amount; reference: where no swap may go several ways', await routes()),
  optimal: async () => {
    const { rows, note } = await optimal(Number(values.worlds), Number(values.seed))
    report('How far an answer is from the best of all, net of gas; reference: the best single route', rows, note)
  },
  versions: async () => report("Quotes by the connector alone; reference: one pool's by QuoterV2 on the same node", await versionQuotes()),
  trades,
  'book-trade': async () =>
    report('What the book adds to a trade of two hops, processor time; reference: without the book', await bookOfTrade()),
  hummingbot,
  positions,
  limits,
  books,
  orders,
  journal: async () => {
    report('Keeping a transaction: twice before it is sent; reference: two pages flushed to the same disk', await journaling())
    report('What a finished trade takes in the store, with its events, its answer and all indexes', await journalSize())
    await pagesOfJournal()
  },
  'journal-pages': pagesOfJournal,
  'page-parts': async () =>
    report('A page of 100 trades of the embedded store, processor time by parts; ×: of its bare query', await pageParts()),
  dashboard,
  lines: async () => report('Lines of the plugins, from their sources', pluginLines()),
  size: async () => report('Installed for production', await installedSize()),
  memory: async () =>
    report(`What the processes hold; 300 quotes a second over 50 pairs for ${values.seconds} s`, await resident(Number(values.seconds))),
  soak: soaked,
  flame,
}
/** What takes long, or writes files, only where it is named. */
const named = ['bodies', 'dashboard', 'optimal', 'memory', 'soak', 'flame']

const { positionals: wanted, values } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '600' },
    trades: { type: 'string', default: '20000' },
    worlds: { type: 'string', default: '500' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string', default: '.' },
    help: { type: 'boolean', default: false },
  },
})
const names = `${Object.keys(figures).join(', ')}; without a name all of them are measured but ${named.join()}.`
if (values.help) {
  console.log(`npm run bench [name ...] [-- --seconds N --trades N --worlds N --seed N --out FOLDER]\n\nFigures: ${names}`)
  process.exit(0)
}
const unknown = wanted.find((name) => !Object.hasOwn(figures, name))
if (unknown !== undefined) {
  console.error(`There is no figure ${unknown}. There are: ${names}`)
  process.exit(1)
}
console.log(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, load average ${loadavg()[0]?.toFixed(1)}`,
)
const startedAt = performance.now()
for (const [name, measure] of Object.entries(figures))
  if (wanted.length === 0 ? !named.includes(name) : wanted.includes(name)) await measure()
console.log(`\nMeasured in ${Math.round((performance.now() - startedAt) / 1000)} s.`)

function startSluice(args: readonly string[] = []) {
  return startChild<SluiceProcess>('sluice', args)
}

/** Those that share one running server. */
async function quotes(): Promise<void> {
  const sluice = await startSluice()
  try {
    const { url, certsDir } = await sluice.ask('where')
    const client = createClient(url, certsDir)
    const { text } = await client.get(quotePath(1))
    client.close()
    const bare = await startChild<BareServerProcess>('bare-server', [certsDir, text])
    const load = await startChild<LoadProcess>('load', [certsDir])
    try {
      report(
        '/amm/price over mutual TLS; reference: a bare node:https server that answers as many bytes',
        await priceRate(sluice, bare, load),
      )
      report('/amm/price with `amounts`, 16 connections; reference: one new amount', await severalAmounts(sluice, load))
      report(
        '/amm/price of the versions, 16 connections; reference: the router of v2, and QuoterV2, by eth_call on the same node',
        await versionRates(sluice, load),
      )
      const { rows, note } = await nodeCalls(sluice)
      report('What the node is asked', rows, note)
      report('Memory', await memory(sluice, load))
    } finally {
      await Promise.all([bare.end(), load.end()])
    }
  } finally {
    await sluice.end()
  }
}

/** The packages that bots use. */
async function clients(): Promise<void> {
  const sluice = await startSluice()
  try {
    const { rows, note } = await clientsBesideBare(sluice)
    report('A quote by the clients, one after the other; reference: node:https and httpx alone', rows, note)
  } finally {
    await sluice.end()
  }
}

/** Two clients of very different size. */
async function fairly(): Promise<void> {
  const sluice = await startSluice()
  try {
    report("/amm/price on two connections beside another client's 1,500; reference: alone", await fairness(sluice))
  } finally {
    await sluice.end()
  }
}

/** Bodies whose end never comes. */
async function bodies(): Promise<void> {
  const sluice = await startSluice()
  try {
    report('3,500 connections, each with a body of 99,000 bytes whose end never comes', await heldBodies(sluice))
  } finally {
    await sluice.end()
  }
}

/** Prices that are pushed rather than asked for. */
async function prices(): Promise<void> {
  const sluice = await startSluice()
  try {
    report('5,000 prices in five streams of /events, a block a second; reference: the event of the block itself', await priceEvents(sluice))
  } finally {
    await sluice.end()
  }
}

/** Pools that are kept in memory while nobody asks. */
async function followed(): Promise<void> {
  const sluice = await startSluice()
  try {
    report('Pairs of v2 followed, at a block a second with ten swaps; reference: 10 pools', await poolsFollowed(sluice))
  } finally {
    await sluice.end()
  }
}

/** For ten minutes, or so many seconds. */
async function soaked(): Promise<void> {
  const sluice = await startSluice()
  const load = await startChild<SteadyLoadProcess>('steady-load')
  try {
    report(
      `300 quotes a second over 50 pairs for ${values.seconds} s`,
      await soak(await soakedServer(sluice), load, Number(values.seconds)),
    )
  } finally {
    await Promise.all([load.end(), sluice.end()])
  }
}

/** Two profiles of a running server. */
async function profile(): Promise<void> {
  await buildWithMaps()
  await underLoad(async (sluice, load) => {
    report('Where the time of a price goes, asked again', await whereTimeGoes(sluice, load, sameQuote()))
    report('Where the time of a price goes, of another amount', await whereTimeGoes(sluice, load, newQuotes()))
  })
}

/** The same two, drawn: flame-again.svg and flame-new.svg in the folder that `--out` names. */
async function flame(): Promise<void> {
  await underLoad(async (sluice, load) => {
    const { url } = await sluice.ask('where')
    for (const [name, path, what] of [
      ['again', sameQuote(), 'the same question again and again'],
      ['new', newQuotes(), 'an amount that nobody has asked for before'],
    ] as const) {
      const run = () => load.ask('run', { url, connections: 16, requests: 20_000, path })
      await run()
      await sluice.ask('startProfile')
      await run()
      const file = `${values.out}/flame-${name}.svg`
      await writeFile(file, flameGraph(await sluice.ask('takeProfile'), `GET /amm/price, ${what}`))
      console.log(file)
    }
  })
}

/** A running server, and what asks it. */
async function underLoad(measure: (sluice: Child<SluiceProcess>, load: Child<LoadProcess>) => Promise<void>): Promise<void> {
  const sluice = await startSluice()
  try {
    const { certsDir } = await sluice.ask('where')
    const load = await startChild<LoadProcess>('load', [certsDir])
    try {
      await measure(sluice, load)
    } finally {
      await load.end()
    }
  } finally {
    await sluice.end()
  }
}

/** The chain is followed beside them, at its own pace. */
async function perpetuals(): Promise<void> {
  const sluice = await startSluice()
  try {
    report('What the node is asked about perpetuals', await perpCalls(sluice))
  } finally {
    await sluice.end()
  }
}

/** The same for those that trade. */
async function pagesOfJournal(): Promise<void> {
  report(
    `Pages of 100 of ${values.trades} trades, with their bodies read; reference: the bare rows by one index`,
    await journalPages(Number(values.trades)),
  )
}

async function trades(): Promise<void> {
  const traders = await startChild<TradersProcess>('traders')
  const orders = await startChild<OrdersProcess>('orders')
  try {
    const title = 'Trades accepted over mutual TLS on 16 connections; reference: sending transactions like them that were signed before'
    report(title, await tradeRate(traders, orders))
  } finally {
    await Promise.all([orders.end(), traders.end()])
  }
}

/** With the Chromium that its tests use, on a journal of 100,000 trades. */
async function dashboard(): Promise<void> {
  const homes = [await grownHome(100_000), await grownHome(100)] as const
  const servers: Child<SluiceProcess>[] = []
  try {
    const [sluice, reference] = [await startSluice(['', '', homes[0]]), await startSluice(['', '', homes[1]])]
    servers.push(sluice, reference)
    report(
      'The first page of the dashboard, of a journal of 100,000 trades; reference: of 100, in turns',
      await firstPage(sluice, reference),
    )
    await reference.end()
    const seconds = Number(values.seconds)
    if (seconds === 0) return
    const { rows, note } = await dashboardTabs(sluice, seconds)
    report('Ten tabs of the dashboard in view, beside two trades a second; reference: without a tab, or before', rows, note)
  } finally {
    for (const each of servers) await each.end()
    for (const home of homes) await rm(home, { recursive: true, force: true })
  }
}

/** Through another interface of the same server. */
async function hummingbot(): Promise<void> {
  const sluice = await startSluice(['', 'interfaces'])
  try {
    const { url, certsDir } = await sluice.ask('where')
    const client = createClient(url, certsDir)
    const { text } = await client.get(quotePath(1))
    client.close()
    const [bare, load] = [
      await startChild<BareServerProcess>('bare-server', [certsDir, text]),
      await startChild<LoadProcess>('load', [certsDir]),
    ]
    try {
      const { rows, note } = await hummingbotBesideNative(sluice, load, bare)
      report("Prices through Hummingbot's interface; reference: the same by /amm/price, in turns", rows, note)
    } finally {
      await Promise.all([bare.end(), load.end()])
    }
  } finally {
    await sluice.end()
  }
}

/** Looked at by a bot of Hummingbot. */
async function positions(): Promise<void> {
  const sluice = await startSluice(['', 'interfaces'])
  try {
    const { rows, note } = await watchedPositions(sluice)
    report("Positions that are looked at each second through Hummingbot's interface", rows, note)
  } finally {
    await sluice.end()
  }
}

/** Two clients of one server. */
async function limits(): Promise<void> {
  const traders = await startChild<TradersProcess>('traders', [JSON.stringify(benchLimits)], [], asBuilt)
  const { certsDir } = await traders.ask('where')
  const [orders, free, limited] = await Promise.all([
    startChild<OrdersProcess>('orders'),
    startChild<LoadProcess>('load', [certsDir]),
    startChild<LoadProcess>('load', [certsDir, 'limited']),
  ])
  try {
    report('A trade whose call bounds itself, of a client with limits; reference: of one without', await limitedTrades(traders, orders))
    report(
      '/amm/price for a new amount, asked by a client with limits; reference: by one without',
      await limitedQuotes(traders, { free, limited }),
    )
  } finally {
    await Promise.all([orders.end(), free.end(), limited.end()])
    await traders.end()
  }
  report('What a trade asks of the market of the last 20 minutes; reference: of the last minute', marketWindow())
  report("A signature by the signer's process for a wallet with limits; reference: for one without", await limitedSignatures())
  report('A window of 1,000,000 entries, 100,000 of them open, in the embedded store; reference: of 1,000', await windowSize())
}

/** Books of the exchange's websocket, which another program speaks for it. */
async function books(): Promise<void> {
  const title = 'Changes of five levels taken into books in memory; reference: parsed and put into maps'
  report(title, await bookIncrements())
  const exchange = await startChild<HyperliquidProcess>('hyperliquid')
  const told = await startChild<BooksProcess>('books')
  try {
    const { sluice: wsUrl } = await told.ask('wsUrls')
    const server = await startChild<BookServerProcess>('book-server', [JSON.stringify(await exchange.ask('server', wsUrl))])
    try {
      report(
        '/clob/perp/orderBook over mutual TLS; reference: a bare node:https server that answers as many bytes',
        await bookAnswers(server),
      )
      report('Books from a websocket to /events; reference: a program that passes on what it was told', await bookEvents(server, told))
    } finally {
      await server.end()
    }
  } finally {
    await Promise.all([told.end(), exchange.end()])
  }
}

/** Orders through the whole of the server to the exchange, which matches in a process of its own. */
async function orders(): Promise<void> {
  const exchange = await startChild<HyperliquidProcess>('hyperliquid')
  const bots = await startChild<BookOrdersProcess>('book-orders')
  try {
    const server = await startChild<BookServerProcess>('book-server', [JSON.stringify(await exchange.ask('server'))])
    try {
      const { rows, note } = await orderRate(exchange, server, bots)
      report("Orders over mutual TLS on 16 connections; reference: the exchange's client library, 16 at a time", rows, note)
    } finally {
      await server.end()
    }
  } finally {
    await Promise.all([bots.end(), exchange.end()])
  }
}

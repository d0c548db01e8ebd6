import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { rpcTo, tradingWallets } from '../../core/devnet/anvil.ts'
import { startChain, type Chain } from '../../tools/chaos/chain/chain.ts'
import { allowOrders, offersLeft, offersSince } from '../../tools/chaos/chain/facts.ts'
import { makeHome, type Home } from '../../tools/chaos/servers/home.ts'
import { spawnServer, type Server } from '../../tools/chaos/servers/spawn-server.ts'
import { freePort } from '../free-port.ts'
import { booksOf } from './books-of.ts'
import { root } from './page.ts'

const [taker = '', ...makers] = tradingWallets
const bots = [
  ['node', 'examples/market-maker.mjs', 'market-maker'],
  ['/usr/bin/python3', 'examples/market_maker.py', 'market_maker'],
] as const
const book = { chain: 'ethereum', network: 'local', connector: 'oasis', market: 'WETH-USDC' }

/** A bot, run in a folder of its own as often as it takes. */
interface Bot {
  readonly wallet: string
  /** The names of the orders that it said it had placed. */
  placed(): readonly string[]
  /** Under which it names its orders. */
  run(): string
  start(): void
  crash(): Promise<void>
  /** Ctrl-C. @returns the code of its end */
  stop(): Promise<number | null>
  output(): string
  /** Files in the folder that it ran in. */
  left(): readonly string[]
}

describe('the market makers of examples/', function () {
  this.timeout(900_000)
  const folders: string[] = []
  let [chain, home, server]: [Chain?, Home?, Server?] = []
  let running: Bot[] = []

  after(async () => {
    await Promise.all(running.map((bot) => bot.crash()))
    await server?.stop()
    await chain?.stop()
    await home?.remove()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  function bot([command, program, file]: (typeof bots)[number], wallet: string, url: string, certs: string): Bot {
    const [folder, user] = [mkdtempSync(path.join(tmpdir(), 'sluice-maker-')), mkdtempSync(path.join(tmpdir(), 'sluice-user-'))]
    folders.push(folder, user)
    const { XDG_STATE_HOME: _, ...others } = process.env
    let output = ''
    let [child, ended]: [ReturnType<typeof spawn>?, Promise<number | null>?] = []
    const end = async (signal: NodeJS.Signals) => {
      child?.kill(signal)
      return (await ended) ?? null
    }
    return {
      wallet,
      placed: () => [...output.matchAll(/^(\d+-\d+): .*: [A-Z_]+$/gm)].map(([, name = '']) => name),
      run: () => String(JSON.parse(readFileSync(path.join(user, '.local/state/sluice-examples', `${file}-${wallet}.json`), 'utf8')).run),
      start() {
        const env = {
          ...others,
          HOME: user,
          SLUICE_URL: url,
          SLUICE_CERTS: certs,
          WALLET: wallet,
          PYTHONPATH: path.join(root, 'clients/python/src'),
        }
        const started = spawn(command, [path.join(root, program)], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
        for (const stream of [started.stdout, started.stderr])
          stream.setEncoding('utf8').on('data', (text: string) => void (output += text))
        child = started
        ended = new Promise((resolve) => void started.once('close', resolve))
      },
      crash: async () => void (await end('SIGKILL')),
      stop: () => end('SIGINT'),
      output: () => output,
      left: () => readdirSync(folder),
    }
  }

  interface ToldOrder {
    readonly clientOrderId?: string
    readonly orderId?: string
    readonly txHash: string
    readonly state: string
  }
  const ordersOf = async (wallet: string): Promise<readonly ToldOrder[]> =>
    (await server?.client.get('/clob/orders', { ...book, address: wallet, limit: '500' }))?.body.orders ?? []
  /** Those of its last run. */
  const ownOrders = async ({ wallet, run }: Bot) =>
    (await ordersOf(wallet)).filter(({ clientOrderId = '' }) => clientOrderId.startsWith(`${run()}-`))
  async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (const end = Date.now() + 180_000; !(await holds()); await sleep(500))
      if (Date.now() > end) throw new Error(`It did not come to pass: ${what}. ${running.map(({ output }) => output()).join('\n')}`)
  }

  it('trade while they and the server are killed, and lose and double no order', async () => {
    chain = await startChain({ blockMs: 1_000 })
    home = await makeHome({ confirmations: 3 })
    await allowOrders(chain, [taker])
    const firstBlock = (await chain.height()) + 1
    const flags = { 'server.port': await freePort() }
    const options = { home, devnetUrl: chain.rpcUrl(), flags }
    server = await spawnServer(options)
    const { certsDir } = home
    const url = `https://localhost:${flags['server.port']}`
    running = bots.map((each, index) => bot(each, makers[index] ?? '', url, certsDir))

    const ending = new AbortController()
    const taking = (async () => {
      for (let turn = 0; !ending.signal.aborted; turn += 1) {
        const side = turn % 2 === 0 ? 'BUY' : 'SELL'
        // Nobody answers while the server is away, and the book may be empty.
        await server?.client.post('/clob/orders', { ...book, address: taker, orderType: 'MARKET', side, amount: '0.15' }).catch(() => {})
        await sleep(2_000)
      }
    })()
    const killed = async () => {
      server?.signal('SIGKILL')
      await server?.ended
      await sleep(2_000)
      server = await spawnServer(options)
    }
    /** Until each bot has placed so many more orders. */
    const placesMore = async (count: number) => {
      const before = running.map(({ placed }) => placed().length)
      await until(`each places ${count} more`, async () =>
        running.every(({ placed }, index) => placed().length >= (before[index] ?? 0) + count),
      )
    }
    for (const each of running) each.start()
    await placesMore(4)
    await killed()
    await placesMore(2)
    await Promise.all(running.map((each) => each.crash()))
    await sleep(2_000)
    for (const each of running) each.start()
    await placesMore(4)
    await killed()
    await placesMore(4)
    await until('each has orders that were filled', async () => {
      const filled = running.map(async (each) => (await ownOrders(each)).filter(({ state }) => state === 'FILLED').length > 2)
      return (await Promise.all(filled)).every(Boolean)
    })
    ending.abort()
    await taking
    for (const each of running) expect(await each.stop(), each.output()).to.equal(0)

    const events = await offersSince(chain, firstBlock)
    for (const each of running) {
      const { wallet, placed, output, left } = each
      expect(output()).to.match(/No order is left\.\n$/)
      for (const token of ['WETH', 'USDC']) expect(output()).to.match(new RegExp(`^oasis may take \\d+ ${token}: CONFIRMED$`, 'm'))
      expect(left()).to.deep.equal([])
      const orders = await ordersOf(wallet)
      const own = await ownOrders(each)
      // Each order that it says that it placed is there, once.
      const names = own.map(({ clientOrderId = '' }) => clientOrderId)
      expect(names, JSON.stringify(orders)).to.have.length.above(5)
      expect(new Set(names).size).to.equal(names.length)
      expect(names).to.include.members([...placed()])
      // What is on chain is what the server tells, and nothing of it is left.
      const made = events.filter(({ is, maker }) => is === 'made' && maker === wallet).map(({ orderId }) => orderId)
      expect(made.toSorted()).to.deep.equal(orders.flatMap(({ orderId = [] }) => orderId).toSorted())
      expect(own.map(({ state }) => state).filter((state) => !['FILLED', 'CANCELED'].includes(state))).to.deep.equal([])
      expect(own.filter(({ state }) => state === 'FILLED')).to.have.length.above(2)
      expect((await offersLeft(chain, made)).size).to.equal(0)
    }
    // Each unit that came and went is in the book, through all the kills.
    const books = await booksOf(server.client, rpcTo(chain.rpcUrl()))
    expect(books.flatMap(({ wallet, unexplained }) => unexplained.map((each) => ({ wallet, each })))).to.deep.equal([])
    for (const { wallet, ownTransactions } of books) expect(ownTransactions, wallet).to.be.above(5)
  })
})

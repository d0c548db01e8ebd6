import { expect } from 'chai'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket } from 'undici'
import { acceptSockets, type Connection } from '../../../tools/hyperliquid-simulator/exchange/sockets.ts'
import { realProgram } from '../../../tools/solana-node/programs/real.ts'
import { healthy } from '../../http/trouble/faulty-proxy.ts'
import { until } from '../../transactions/site.ts'
import { here, startAmmSite, type AmmSite } from './amm-site.ts'

const programs = [
  ['raydium', 'raydium_cp_swap'],
  ['meteora', 'cp_amm'],
] as const
const found = programs.map(([name, program]) => ({ name, program: realProgram(program) }))
const exchanges = found.flatMap(({ name, program }) => ('missing' in program ? [] : [name]))
const absent = found.flatMap(({ program }) => ('missing' in program ? [program.missing] : []))
const connectors = ['poolswap', ...exchanges]
const slots = 10

describe(`a server that follows pools of ${connectors.join(', ')}${absent.length > 0 ? ` (left out: ${absent.join('; ')})` : ''}`, () => {
  let between: SubscriptionProxy
  let site: AmmSite
  /** Each is one request to the node, with its calls. */
  let batches: (readonly string[])[]
  let quotedAt: Map<string, bigint>

  async function starts(subscribes: boolean): Promise<void> {
    between = await startSubscriptionProxy()
    site = await startAmmSite({ exchanges, ...(subscribes && { network: { subscribeUrls: [between.url] } }) })
    between.target = site.solana.url.replace('http', 'ws')
    batches = []
    quotedAt = new Map()
    for (const connector of connectors) await price(connector)
    await site.priceAtTip()
    await site.proxy.become(async (exchange) => {
      if (exchange.methods.includes('getMultipleAccounts')) batches.push(exchange.methods)
      await healthy(exchange)
    })
  }
  afterEach(async () => {
    await site?.stop()
    await between?.stop()
  })

  async function price(connector: string) {
    const answer = await site.client.post('/amm/price', { ...here, connector, base: 'BASE', quote: 'USDC', side: 'SELL', amount: '1' })
    expect(answer.status, answer.text).to.equal(200)
    quotedAt.set(connector, BigInt(answer.body.blockNumber))
    return answer.body
  }
  /** All are quoted from memory, for a newer slot than before. */
  async function areQuotedAnew() {
    const before = new Map(quotedAt)
    for (const connector of connectors)
      await until(`${connector} is quoted for the next slot`, async () => {
        const { source } = await price(connector)
        expect(source).to.equal('memory')
        return (quotedAt.get(connector) ?? 0n) > (before.get(connector) ?? 0n)
      })
  }

  it('asks for the accounts of all of them in one request for each slot', async () => {
    await starts(false)
    for (let slot = 0; slot < slots; slot += 1) {
      site.solana.blocks(1)
      await areQuotedAnew()
    }
    expect(batches).to.have.length(slots)
  })

  it('asks for none where they are subscribed to, each of them once', async () => {
    await starts(true)
    const passing = setInterval(() => site.solana.blocks(1), 150)
    try {
      // Accounts are read once more as long as they are not told, and wherever a slot comes late.
      let inRow = 0
      await until(`${slots} slots in a row are told`, async () => {
        const before = batches.length
        await areQuotedAnew()
        inRow = batches.length === before ? inRow + 1 : 0
        return inRow === slots
      })
    } finally {
      clearInterval(passing)
    }
    const accounts = between.subscribed.filter((params) => !params.startsWith(clock))
    expect(accounts.length).to.be.at.least(3 * connectors.length)
    expect(new Set(accounts).size).to.equal(accounts.length)
    expect(between.connections).to.equal(1)
  })
})

/** Its clock is subscribed to for what it tells of others, too. */
const clock = '["SysvarC1ock11111111111111111111111111111111"'

interface SubscriptionProxy {
  readonly url: string
  /** The node; nobody is let in before it is known. */
  target: string
  /** What was asked for, with its parameters as text. */
  readonly subscribed: readonly string[]
  readonly connections: number
  stop(): Promise<void>
}

/** Stands between a server and the websocket of its node. */
async function startSubscriptionProxy(): Promise<SubscriptionProxy> {
  const server = createServer()
  const subscribed: string[] = []
  const open = new Set<Connection>()
  let connections = 0
  let target = ''

  acceptSockets(
    server,
    () => target !== '',
    (connection) => {
      connections += 1
      open.add(connection)
      const node = new WebSocket(target)
      const opened = new Promise<void>((resolve) => node.addEventListener('open', () => resolve()))
      node.addEventListener('message', ({ data }) => connection.send(String(data)))
      node.addEventListener('close', () => connection.cut())
      connection.onText = (text) => {
        const { method, params }: { method: string; params: unknown } = JSON.parse(text)
        if (method === 'accountSubscribe') subscribed.push(JSON.stringify(params))
        void opened.then(() => node.send(text))
      }
      connection.onClose = () => {
        open.delete(connection)
        node.close()
      }
    },
    /^\/$/,
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `ws://127.0.0.1:${port}/`,
    subscribed,
    get target() {
      return target
    },
    set target(url) {
      target = url
    },
    get connections() {
      return connections
    },
    async stop() {
      for (const each of open) each.cut()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

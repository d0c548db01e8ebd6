import path from 'node:path'
import { Wallet } from 'ethers'
import { startAnvil } from '../../../core/devnet/anvil.ts'
import { multicall3 } from '../../../kits/evm/index.ts'
import multicall from '../../../plugins/ethereum/artifacts/Multicall3.json' with { type: 'json' }
import { newTrader } from '../../hyperliquid-simulator/client.ts'
import { startExchange, type HyperliquidExchange } from '../../hyperliquid-simulator/exchange/start-exchange.ts'
import { createRecorder, type History } from '../history.ts'
import type { Random } from '../random.ts'
import { compiledServer } from '../servers/compiled-tree.ts'
import { createStage, type JudgedStage, type Wish } from '../stage.ts'
import { standBetween, type ExchangeProxy } from './between.ts'
import { checkHyperliquid } from './check-hyperliquid.ts'
import type { ExchangeHistory } from './exchange-history.ts'
import { makeHyperliquidHome } from './home.ts'
import { hyperliquidMessages, markets } from './messages.ts'
import { settleHyperliquid } from './settle-hyperliquid.ts'
import type { ShownBook } from './watch-books.ts'

const chainId = 998
/** What asks for an order by its name hears of it a moment late, as has been seen of the real one. */
const orderStatusLagMs = 150

/** The exchange, what stands between it and the server, and what the bots saw. */
export interface HyperliquidStage extends JudgedStage {
  exchange: HyperliquidExchange
  proxy: ExchangeProxy
  shownBooks: ShownBook[]
}

const wishes: readonly Wish[] = markets.flatMap((market): Wish[] => [
  ...Array.from({ length: 4 }, (): Wish => ({ op: 'order', market })),
  { op: 'cancel-order', market },
  { op: 'cancel-order', market },
  { op: 'batch', market },
])

export async function createHyperliquidStage({ random, patches = ['points'] }: { random: Random; patches?: readonly string[] }) {
  // No amount of its own: the exchange knows orders by their names.
  const recorder = createRecorder({})
  const [exchange, anvil] = await Promise.all([startExchange({ testnet: true, orderStatusLagMs }), startAnvil(0)])
  await anvil.rpc('anvil_setChainId', chainId)
  await anvil.rpc('anvil_setCode', multicall3, await anvil.rpc('eth_call', { data: multicall.bytecode }, 'latest'))
  const wallets = Array.from({ length: 3 }, () => new Wallet(Wallet.createRandom().privateKey))
  const agent = new Wallet(Wallet.createRandom().privateKey)
  await fund(exchange, wallets, agent)
  const proxy = standBetween(exchange, random.fork('between'), () => recorder.clock())
  const home = await makeHyperliquidHome(exchange, {
    rpcUrl: anvil.rpcUrl,
    plugins: path.join(path.dirname(await compiledServer(patches)), '../../../plugins'),
    wallets,
    agent,
  })
  const stage = createStage({
    random: random.fork('server'),
    place: { chain: 'hyperliquid', network: 'testnet' },
    wallets: wallets.map(({ address }) => address),
    wishes,
    messages: hyperliquidMessages,
    proxy,
    home,
    recorder,
    server: { patches },
  })
  let found: ExchangeHistory | undefined
  const judged: HyperliquidStage = Object.assign(stage, {
    proxy,
    exchange,
    shownBooks: [],
    async settle(own: Random): Promise<History> {
      found = await settleHyperliquid(judged, own)
      return found
    },
    async judge() {
      if (!found) throw new Error('A run is judged when it is settled.')
      return checkHyperliquid(found)
    },
    async stop() {
      await Promise.all(stage.servers.map(async (each) => each?.stop()))
      await anvil.stop()
      await home.remove()
      await exchange.stop()
    },
  })
  try {
    await judged.start(0)
  } catch (error) {
    await judged.stop()
    throw error
  }
  return judged
}

/** Enough for all that a run does; the last wallet lets an agent sign for it. */
async function fund(exchange: HyperliquidExchange, wallets: readonly Wallet[], agent: Wallet): Promise<void> {
  for (const { address } of wallets) {
    const user = address.toLowerCase()
    exchange.credit(user, 'USDC', '100000')
    exchange.credit(user, 'HYPE', '2500')
    exchange.deposit(user, '100000')
  }
  const [last] = wallets.slice(-1)
  if (last) await newTrader(exchange, last).exchange.approveAgent({ agentAddress: agent.address, agentName: 'sluice' })
}

import { tradingWallets } from '../../core/devnet/anvil.ts'
import type { Answer } from '../../testkit/client.ts'
import { startChain, type Chain } from '../../tools/chaos/chain/chain.ts'
import { makeHome } from '../../tools/chaos/servers/home.ts'
import { spawnServer, type Server, type ServerOptions } from '../../tools/chaos/servers/spawn-server.ts'
import { startPostgres, type TestPostgres } from '../store/postgres.ts'

const local = { chain: 'ethereum', network: 'local' } as const

/** Servers in processes of their own, with one PostgreSQL and one chain. */
export interface Cluster {
  chain: Chain
  postgres: TestPostgres
  /** Starts one more; its patches are those of the tests of chaos. */
  start(options?: Pick<ServerOptions, 'flags' | 'patches' | 'stopAt' | 'dieAt'>): Promise<Server>
  stop(): Promise<void>
}

export async function startCluster(): Promise<Cluster> {
  const [chain, postgres] = await Promise.all([startChain({ blockMs: 250 }), startPostgres()])
  const home = await makeHome({ confirmations: 2, storeUrl: postgres.url })
  const servers: Server[] = []
  return {
    chain,
    postgres,
    async start(options = {}) {
      const server = await spawnServer({ home, devnetUrl: chain.rpcUrl(), ...options })
      servers.push(server)
      return server
    },
    async stop() {
      await Promise.all(servers.map((each) => each.stop()))
      await chain.stop()
      await postgres.stop()
      await home.remove()
    },
  }
}

export const walletOf = (index: number): string => tradingWallets[index] ?? ''

/** A trade that no other is like: its amount tells its effects on the chain from those of others. */
export function trade({ client }: Server, address: string, valueWei: bigint, key?: string): Promise<Answer> {
  const amount = `0.${String(valueWei).padStart(18, '0')}`
  const request = { ...local, connector: 'uniswap', address, base: 'ETH', quote: 'USDC', side: 'SELL', amount }
  return client.post('/amm/trade', request, { headers: key === undefined ? {} : { 'idempotency-key': key } })
}

/** Orders in one request that no other comes near, with names that are made under the key. */
export function batch({ client }: Server, address: string, prices: readonly string[], key: string): Promise<Answer> {
  const order = { market: 'WETH-USDC', side: 'BUY', orderType: 'LIMIT', amount: '0.01' }
  const request = { ...local, connector: 'oasis', address, create: prices.map((price) => ({ ...order, price })) }
  return client.post('/clob/batchOrders', request, { headers: { 'idempotency-key': key } })
}

export const poll = ({ client }: Server, txHash: string): Promise<Answer> => client.get('/network/poll', { ...local, txHash })

export const transactionsOf = ({ client }: Server, address: string): Promise<Answer> =>
  client.get('/transactions', { ...local, address, limit: '500' })

/** Every transaction of the wallet in a block, with what it sent. */
export async function minedOf({ rpc, height }: Chain, address: string): Promise<{ nonce: number; valueWei: bigint }[]> {
  const mined = []
  for (let number = 1; number <= (await height()); number += 1) {
    const { transactions } = Object(await rpc('eth_getBlockByNumber', `0x${number.toString(16)}`, true))
    for (const { from, nonce, value } of transactions)
      if (String(from).toLowerCase() === address.toLowerCase()) mined.push({ nonce: Number(nonce), valueWei: BigInt(value) })
  }
  return mined
}

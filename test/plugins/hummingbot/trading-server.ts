import { expect } from 'chai'
import type { Rpc } from '../../../core/devnet/anvil.ts'
import { createUnkeyedRequests, type UnkeyedRequests } from '../../../core/transactions/unkeyed-requests.ts'
import { createClient, type Client } from '../../../testkit/client.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { admins, local, mined, oneChain, others } from '../../http/shared-server.ts'
import { rpcTo } from '../../kits/evm/test-chain.ts'
import { Bot } from './bot.ts'

export interface TradingServer extends TestServer {
  readonly rpc: Rpc
  readonly http: Client
  readonly bot: Bot
  readonly requests: UnkeyedRequests
}

let started: Promise<TradingServer> | undefined

/**
 * One server whose windows are short, and whose chain has a block each second: for the tests of swaps that are lost, late, or taken back. Two of
 * its wallets may trade. It ends after the last test.
 */
export const tradingServer = (): Promise<TradingServer> => (started ??= start())

after(async () => {
  const server = await started?.catch(() => undefined)
  server?.http.close()
  await server?.stop()
})

async function start(): Promise<TradingServer> {
  const requests = createUnkeyedRequests()
  const windows = { receiptSeconds: 15, staleSeconds: 60, collectSeconds: 5 }
  const conf = { ...oneChain.conf, 'interfaces/hummingbot.yml': { port: 0, ...windows } }
  const server = await startServer({ ...oneChain, conf }, undefined, { unkeyedRequests: { open: () => requests } })
  const rpc = rpcTo(server.rpcUrl)
  await rpc('evm_setIntervalMining', 1)
  const http = createClient(server.kernel.interfaceUrls['hummingbot'] ?? '', server.certsDir)
  for (const [address, spenders] of [
    [admins, ['uniswap', 'uniswap/positions']],
    [others, ['uniswap']],
  ] as const) {
    const asked = [await server.client.post('/evm/wrap', { ...local, address, amount: '50' })]
    for (const spender of spenders)
      for (const token of ['WETH', 'USDC']) asked.push(await server.client.post('/evm/approve', { ...local, address, spender, token }))
    for (const { status, text, body } of asked) {
      expect(status, text).to.equal(200)
      await mined(server.client, body.txHash)
    }
  }
  return Object.assign(server, { rpc, http, bot: new Bot(http), requests })
}

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { startLocalProxy, type LocalProxy } from '../../../core/cli/local-proxy.ts'
import { createSocketTable } from '../../../core/base/socket-table.ts'
import type { Answer } from '../../../testkit/client.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { admins, local, mined, oneChain } from '../../http/shared-server.ts'
import { chainNetwork, decimals, numbers } from './bot.ts'

/** A checkout of Hummingbot 2.16, which is no part of this one. */
const folder = process.env['HUMMINGBOT_FOLDER']
const script = fileURLToPath(new URL('own-client.py', import.meta.url))

/** Its HTTP client, unmodified, over plain HTTP and the proxy, as it is set up by default. */
describe('the HTTP client of Hummingbot 2.16', function () {
  this.timeout(180_000)
  let server: TestServer
  let proxy: LocalProxy
  let seen: Answer['body']

  before(async function () {
    if (folder === undefined) return this.skip()
    server = await startServer({ ...oneChain, conf: { ...oneChain.conf, 'interfaces/hummingbot.yml': { port: 0 } } })
    for (const [route, more] of [
      ['/evm/wrap', { amount: '50' }],
      ['/evm/approve', { spender: 'uniswap', token: 'WETH' }],
      ['/evm/approve', { spender: 'pancakeswap', token: 'WETH' }],
    ] as const) {
      const { status, text, body } = await server.client.post(route, { ...local, address: admins, ...more })
      expect(status, text).to.equal(200)
      await mined(server.client, body.txHash)
    }
    const files = ['ca_cert.pem', 'client_cert.pem', 'client_key.pem'].map((name) => readFile(path.join(server.certsDir, name)))
    const [ca, cert, key] = await Promise.all(files)
    if (!ca || !cert || !key) throw new Error('no certificates')
    const { port } = new URL(server.kernel.interfaceUrls['hummingbot'] ?? '')
    proxy = await startLocalProxy({
      port: 0,
      upstream: { host: '127.0.0.1', port: Number(port), servername: 'localhost', ca, cert, key },
      only: { users: new Set([process.getuid?.() ?? 0]), owners: createSocketTable() },
      log: () => {},
    })
    const { stdout } = await promisify(execFile)('python3', [script, folder, String(proxy.port), admins], { maxBuffer: 10_000_000 })
    seen = JSON.parse(stdout)
  })
  after(async () => {
    await proxy?.stop(0)
    await server?.stop()
  })

  it('goes online, and registers its networks', () => {
    expect(seen.start.chains).to.deep.equal(['ethereum'])
    expect(seen.start.dexs).to.include.members(['sluice/router', 'uniswap/router', chainNetwork])
    expect(seen.start.registered).to.include(chainNetwork)
    expect(seen.start.namespaces).to.include(chainNetwork)
    expect(seen.start.keys).to.be.above(0)
  })

  it('finds wallet, coin, provider and tokens, without which it never becomes ready', () => {
    expect(seen.wallets[0]).to.deep.include({ chain: 'ethereum' })
    expect(seen.wallets[0].walletAddresses).to.include(admins)
    expect(seen).to.include({ default_wallet: admins, native: 'ETH', provider: 'sluice/router' })
    for (const token of seen.tokens.tokens) {
      expect(token.symbol).to.be.a('string')
      numbers(token, 'decimals')
    }
    expect(seen.gas).to.include.keys('fee', 'feeAsset')
    numbers(seen.balances.balances, 'ETH', 'WETH', 'USDC')
  })

  it('reads prices of both sides', () => {
    // Of a BUY the cheapest exchange, of a SELL the dearest: with several of them the prices of the two may cross.
    for (const side of [seen.sell, seen.buy]) expect(Number(side.price)).to.be.within(2_900, 3_100)
  })

  it('swaps, polls the transaction, and swaps the same again', () => {
    for (const swap of [seen.swap, seen.again]) {
      expect(swap, JSON.stringify(swap)).to.include({ status: 1 })
      decimals(swap.data, 'amountIn', 'amountOut', 'fee')
      expect(Number(swap.data.amountIn)).to.equal(0.125)
    }
    expect(seen.again.signature).not.to.equal(seen.swap.signature)
    expect(seen.poll).to.include({ signature: seen.swap.signature, txStatus: 1, error: null })
    numbers(seen.poll, 'fee')
  })

  it('sends neither a swap nor what is refused again, in the loop of its connector', () => {
    expect(seen.loop_of_a_swap).to.deep.include({ sent: 1 })
    expect(seen.loop_of_a_swap.outcome).to.include({ status: 1 })
    expect(seen.loop_of_a_refusal).to.deep.include({ sent: 1 })
    expect(seen.loop_of_a_refusal.outcome.raised).to.match(/INSUFFICIENT_BALANCE/)
  })

  it('is told why not in words that it shows, with the code that it looks for', () => {
    expect(seen.poor.raised).to.match(/\[code: INSUFFICIENT_BALANCE\]/)
    expect(seen.unknown.raised).to.match(/\[code: INVALID_PARAMS\]/)
    expect(seen.key.raised).to.include('sluice wallet add')
    for (const name of ['poor', 'unknown', 'key']) expect(seen[name].raised).not.to.match(/TRANSACTION_TIMEOUT/)
  })
})

// What limits ask the node for once trades of the native coin are mined, counted by a proxy.
import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { atNode, local, oneChain, others, traders, uniswap } from '../http/shared-server.ts'
import { startBehindProxy, type BehindProxy } from '../http/trouble/behind-proxy.ts'
import { healthy } from '../http/trouble/faulty-proxy.ts'
import { until } from '../transactions/site.ts'

/** All built-in plugins but a chain and an exchange of it. */
const unused = readdirSync(new URL('../../plugins/', import.meta.url)).filter((name) => !['ethereum', 'uniswap'].includes(name))
const tokens = { 'ethereum/local': { USDC: { perDay: '100000' }, ETH: { perDay: '100' } } }
const clients = {
  client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' },
  limited: { permissions: ['read', 'trade', 'thin'], wallets: 'all', limits: { maxDailyGas: '10', tokens } },
}

describe('what limits ask the node about trades of the native coin', function () {
  this.timeout(300_000)
  let stage: BehindProxy
  let limited: Client
  let asked: (readonly { readonly method: string; readonly params: readonly unknown[] }[])[] = []

  before(async () => {
    stage = await startBehindProxy(
      { 'market.checkSeconds': 3_600, 'plugins.disabled': unused },
      { ...oneChain.conf, 'clients.yml': { clients } },
    )
    await stage.proxy.become(async (exchange) => {
      asked.push(exchange.calls)
      await healthy(exchange)
    })
    await newClient(stage.server.certsDir, 'limited')
    limited = createClient(stage.server.url, stage.server.certsDir, 'limited')
    const approvals = ['uniswap/v2', 'uniswap/v3'].map((spender) =>
      stage.server.client.post('/evm/approve', { ...local, address: traders, spender, token: 'USDC' }),
    )
    await final((await Promise.all(approvals)).map(({ body }) => body.txHash))
  })
  after(async () => {
    limited?.close()
    await stage.stop()
  })

  async function trade(fields: object, address: string = traders): Promise<string> {
    const { status, body, text } = await limited.post('/amm/trade', { ...uniswap, base: 'ETH', quote: 'USDC', address, ...fields })
    expect(status, text).to.equal(200)
    return body.txHash
  }
  async function final(hashes: readonly string[]): Promise<void> {
    for (const until = Date.now() + 180_000; ;) {
      await stage.rpc('anvil_mine', '0x1')
      const states = await Promise.all(hashes.map(async (txHash) => stage.server.client.get('/transactions', { ...local, txHash })))
      if (states.every(({ body }) => body.transactions[0]?.txState === 'CONFIRMED')) return
      if (Date.now() > until) throw new Error(`They are not final: ${JSON.stringify(states.map(({ body }) => body))}`)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  /** Questions about what a wallet had in a certain block. */
  const pastBalances = () =>
    asked.filter((calls) => calls.some(({ method, params }) => method === 'eth_getBalance' && String(params[1]).startsWith('0x')))
  const wholeBlocks = () =>
    asked.flat().filter(({ method, params }) => method === 'eth_getBlockByNumber' && params[1] === true && params[0] !== 'latest')
  const used = async (token: string): Promise<number> => {
    const { body } = await limited.get('/limits')
    const row = body.limits.find((each: Record<string, string>) => each.limit === 'tokens.perDay' && each.unit === token)
    return Number(row.used)
  }

  it('is nothing for one that gets the coin: the exchange and the wrapped coin say the same', async () => {
    asked = []
    for (const version of ['v2', 'v3']) await final([await trade({ side: 'BUY', amount: '0.1', version })])
    expect([pastBalances(), wholeBlocks()]).to.deep.equal([[], []])
    expect(await used('USDC')).to.be.within(1, 1000)
  })

  it('is one batch without a whole block for several that may get some of it back, and settles them to what they gave', async () => {
    asked = []
    await stage.rpc('evm_setAutomine', false)
    await stage.rpc('evm_setIntervalMining', 0)
    const bought = { base: 'USDC', quote: 'ETH', side: 'BUY', amount: '30', version: 'v3' }
    const hashes = [await trade(bought), await trade(bought, others)]
    const reserved = await used('ETH')
    // One block takes both.
    for (const hash of hashes) await atNode(stage.rpc, hash)
    await stage.rpc('evm_setAutomine', true)
    await final(hashes)
    const questions = pastBalances()
    expect(questions.map((calls) => calls.map(({ method }) => method))).to.deep.equal([
      [
        'eth_getBlockByNumber',
        ...[0, 1].flatMap(() => ['eth_getBalance', 'eth_getBalance', 'eth_getTransactionCount', 'eth_getTransactionCount']),
      ],
    ])
    expect(wholeBlocks()).to.deep.equal([])
    expect(await used('ETH')).to.be.below(reserved)
    const polls = await Promise.all(hashes.map((txHash) => stage.server.client.get('/network/poll', { ...local, txHash })))
    const gave = polls.reduce((sum, { body }) => sum + Number(body.fill.amountIn), 0)
    expect(await used('ETH')).to.be.closeTo(gave, 1e-12)
  })

  it('is known of final ones, so that a check of limits counts them', async () => {
    await final([await trade({ side: 'SELL', amount: '0.5', version: 'v2' })])
    const check = () => limited.get('/limits/check')
    const before = await check()
    expect(before.status, before.text).to.equal(200)
    expect(before.body.hits).to.deep.equal([])
    const tighter = { ...tokens['ethereum/local'], ETH: { perDay: '100', perTransaction: '0.4' } }
    const changed = { ...clients.limited, limits: { ...clients.limited.limits, tokens: { 'ethereum/local': tighter } } }
    await writeFile(path.join(stage.server.settings.confDir, 'clients.yml'), stringify({ clients: { ...clients, limited: changed } }))
    let hits: { limit: string; transactions: number }[] = []
    await until('the limit holds', async () => (hits = (await check()).body.hits).length > 0)
    expect(hits.map(({ limit }) => limit)).to.deep.equal(['tokens.perTransaction'])
    expect(hits[0]?.transactions).to.be.at.least(1)
  })
})

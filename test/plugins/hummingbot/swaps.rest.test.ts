import { expect } from 'chai'
import type { Rpc } from '../../../core/devnet/anvil.ts'
import { follow } from '../../events/client.ts'
import { admins, atNode, local, others, sendAgain, takenOut, withoutBlocks } from '../../http/shared-server.ts'
import { until } from '../../transactions/site.ts'
import { chainNetwork, cuttablePost, decimals, texts, type Bot } from './bot.ts'
import { tradingServer, type TradingServer } from './trading-server.ts'

const swap = { chainNetwork, walletAddress: admins, baseToken: 'WETH', quoteToken: 'USDC', amount: 0.25, side: 'SELL', slippagePct: 1 }
const execute = '/trading/router/execute-swap'

/** Clients send a swap again when its answer did not come, with the same bytes; and send the same bytes when they want another. */
describe('swaps of Hummingbot’s clients', function () {
  this.timeout(300_000)
  let server: TradingServer
  let bot: Bot
  let rpc: Rpc
  before(async () => {
    server = await tradingServer()
    ;({ bot, rpc } = server)
  })

  const listed = async (kind: string): Promise<{ txHash: string; final: boolean }[]> =>
    (await server.client.get('/transactions', { kind, limit: '200' })).body.transactions.filter(({ final }: { final: boolean }) => final)
  const trades = async (): Promise<{ txHash: string }[]> =>
    (await server.client.get('/transactions', { kind: 'trade', limit: '200' })).body.transactions.filter(
      ({ txHash }: { txHash: string | null }) => txHash !== null,
    )
  const signed = async (count: number) => until('it is signed', async () => (await trades()).length === count)

  const deliveryOf = async (txHash: string): Promise<{ state: string } | undefined> =>
    (await server.client.get('/transactions', { txHash })).body.transactions[0].delivery

  const cuttable = (body: object) => cuttablePost(new URL(execute, server.kernel.interfaceUrls['hummingbot']), server.certsDir, body)

  it('are answered with what they brought once they are mined', async () => {
    for (const side of ['SELL', 'BUY']) {
      const answer = await bot.post(execute, { ...swap, side })
      texts(answer, 'signature')
      expect(answer.status).to.equal(1)
      decimals(answer.data, 'amountIn', 'amountOut', 'fee')
      expect(side === 'SELL' ? answer.data.amountIn : answer.data.amountOut).to.match(/^0\.250*$/)
      expect(JSON.stringify(answer)).not.to.contain('null')
    }
    for (const [name, connector] of [
      ['/trading/clmm/execute-swap', 'uniswap'],
      ['/trading/amm/execute-swap', 'uniswap'],
      ['/trading/swap/execute', 'uniswap/router'],
      ['/trading/swap/execute', 'uniswap/amm'],
    ] as const)
      expect((await bot.post(name, { ...swap, connector, amount: '1e-2' })).status, name).to.equal(1)
  })

  it('are answered with the hash alone where no block comes', async () => {
    await withoutBlocks(rpc, async () => {
      const answer = await bot.post(execute, { ...swap, amount: 0.26 })
      expect(Object.keys(answer)).to.deep.equal(['signature'])
    })
  })

  it('are others after an answer, and while the connection of an equal one stands', async () => {
    const before = (await trades()).length
    const hashes = new Set<string>()
    for (let round = 0; round < 2; round++) hashes.add((await bot.post(execute, swap)).signature)
    const both = await Promise.all([bot.post(execute, swap), bot.post(execute, swap)])
    for (const { signature } of both) hashes.add(signature)
    expect(hashes.size).to.equal(4)
    expect((await trades()).length).to.equal(before + 4)
  })

  it('are one where the connection was gone before the answer, once', async () => {
    const before = (await trades()).length
    await withoutBlocks(rpc, async () => {
      const lost = cuttable({ ...swap, amount: 0.27 })
      await signed(before + 1)
      lost.cut()
      await lost.answer
      const [{ txHash } = { txHash: '' }] = await trades()
      const again = await bot.post(execute, { ...swap, amount: 0.27 })
      expect(again).to.deep.equal({ signature: txHash })
      await until('its answer is delivered', async () => (await deliveryOf(txHash))?.state === 'delivered')
      expect(await deliveryOf(txHash)).to.deep.equal({ lost: 1, joined: 1, state: 'delivered' })
      expect((await trades()).length).to.equal(before + 1)
      const other = await bot.post(execute, { ...swap, amount: 0.27 })
      expect(other.signature).not.to.equal(txHash)
      expect((await trades()).length).to.equal(before + 2)
    })
  })

  it('are one for each request whose answer was lost, one after the other', async () => {
    const before = (await trades()).length
    await withoutBlocks(rpc, async () => {
      for (let round = 0; round < 3; round++) {
        const lost = cuttable({ ...swap, amount: 0.28 })
        await signed(before + 1)
        await new Promise((resolve) => setTimeout(resolve, 300))
        lost.cut()
        await lost.answer
      }
    })
    const again = await bot.post(execute, { ...swap, amount: 0.28 })
    expect(again.status).to.equal(1)
    expect((await trades()).length).to.equal(before + 1)
  })

  it('are others once the lost answer is older than it is kept', async () => {
    const before = (await trades()).length
    const follower = await follow({ url: server.url, certsDir: server.certsDir }, { topics: 'deliveries' })
    const hears = async (state: string) =>
      follower.hears(state, ({ data }) => data.deliveries[0]?.state === state && data.deliveries[0].client === 'client')
    const lost = cuttable({ ...swap, amount: 0.29 })
    await signed(before + 1)
    lost.cut()
    await until('it is final', async () => (await listed('trade')).length === before + 1)
    expect(await deliveryOf((await trades())[0]?.txHash ?? '')).to.deep.equal({ lost: 1, joined: 0, state: 'lost' })
    await hears('lost')
    await new Promise((resolve) => setTimeout(resolve, 5_500))
    expect((await bot.post(execute, { ...swap, amount: 0.29 })).status).to.equal(1)
    await hears('uncollected')
    await follower.close()
    expect((await trades()).length).to.equal(before + 2)
  })

  it('are one for a quote, however often it is sent', async () => {
    const { walletAddress, ...asked } = swap
    const query = Object.fromEntries(Object.entries({ ...asked, amount: '0.31' }).map(([name, value]) => [name, String(value)]))
    const { quoteId } = await bot.get('/trading/router/quote-swap', query)
    texts({ quoteId }, 'quoteId')
    const before = (await trades()).length
    const body = { chainNetwork, connector: 'sluice', walletAddress, quoteId }
    const both = await Promise.all([bot.post('/trading/router/execute-quote', body), bot.post('/trading/router/execute-quote', body)])
    const third = await bot.post('/trading/router/execute-quote', body)
    expect(new Set([...both, third].map(({ signature }) => signature)).size).to.equal(1)
    expect(third.status).to.equal(1)
    expect(Number(third.data.amountIn)).to.equal(0.31)
    expect((await trades()).length).to.equal(before + 1)
    const again = await bot.get('/trading/router/quote-swap', query)
    expect(again.quoteId).not.to.equal(quoteId)
    for (const wrong of ['x', Buffer.from('[]').toString('base64url'), quoteId.slice(3)])
      expect((await bot.refusal('POST', '/trading/router/execute-quote', { ...body, quoteId: wrong })).body.code).to.equal('INVALID_PARAMS')
  })

  it('are refused with the code of slippage where the chain reverted them for good, and the next is another', async () => {
    const before = (await trades()).length
    const { pools } = (
      await server.client.get('/amm/pools', { ...local, connector: 'uniswap', base: 'WETH', quote: 'USDC', version: 'v2' })
    ).body
    const through = { ...swap, connector: 'uniswap', poolAddress: pools[0].pool, slippagePct: 0.01 }
    const path = '/trading/amm/execute-swap'
    await withoutBlocks(rpc, async () => {
      const overtaken = bot.refusal('POST', path, { ...through, amount: 0.1 })
      await signed(before + 1)
      const [{ txHash } = { txHash: '' }] = await trades()
      const bytes = await takenOut(rpc, txHash)
      const other = { ...local, connector: 'uniswap', base: 'WETH', quote: 'USDC', side: 'SELL', amount: '20', pool: pools[0].pool }
      const first = await server.client.post('/amm/trade', { ...other, address: others })
      expect(first.status, first.text).to.equal(200)
      await atNode(rpc, first.body.txHash)
      await rpc('evm_mine')
      await sendAgain(rpc, bytes)
      await rpc('anvil_mine', 70)
      const { status, body } = await overtaken
      expect(status).to.equal(422)
      expect(body).to.include({ code: 'SLIPPAGE_EXCEEDED' })
      expect(body.message).to.include(txHash)
    })
    expect((await bot.post(path, { ...through, amount: 0.1 })).status).to.equal(1)
    expect((await trades()).length).to.equal(before + 3)
  })
})

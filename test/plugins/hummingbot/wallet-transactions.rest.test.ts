import { expect } from 'chai'
import { newClient } from '../../../core/tls/certificates.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { admins, oneChain, others, traders, withoutBlocks } from '../../http/shared-server.ts'
import { rpcTo } from '../../kits/evm/test-chain.ts'
import { until } from '../../transactions/site.ts'
import { type Bot, botsOf, chainNetwork, cuttablePost, decimals, numbers, texts } from './bot.ts'

const listed = {
  client: { permissions: ['read', 'trade'], wallets: 'all' },
  reader: { permissions: ['read'], wallets: 'all' },
  trader: { permissions: ['read', 'trade'], wallets: [traders] },
}
const wrap = '/chains/ethereum/wrap'
const unwrap = '/chains/ethereum/unwrap'
const approve = '/chains/ethereum/approve'
const priced = { chain: 'ethereum', network: 'local', connector: 'any', base: 'WETH', quote: 'USDC', side: 'SELL', amount: '0.01' }

describe('approvals and wraps of Hummingbot’s clients', function () {
  this.timeout(300_000)
  let server: TestServer
  let bot: Bot
  let reader: Bot
  let trader: Bot
  let rpc: ReturnType<typeof rpcTo>
  const { botOf, close } = botsOf(() => server)

  before(async () => {
    server = await startServer({
      ...oneChain,
      conf: {
        ...oneChain.conf,
        'clients.yml': { clients: listed },
        'interfaces/hummingbot.yml': { port: 0, receiptSeconds: 12, staleSeconds: 24, collectSeconds: 15 },
      },
    })
    rpc = rpcTo(server.rpcUrl)
    for (const name of ['reader', 'trader']) await newClient(server.certsDir, name)
    bot = botOf()
    reader = botOf('reader')
    trader = botOf('trader')
  })
  after(async () => {
    close()
    await server?.stop()
  })

  const countOf = async (kind: string): Promise<number> =>
    (await server.client.get('/transactions', { kind, limit: '200' })).body.transactions.length

  it('tell what was wrapped and unwrapped, as decimals, of text or numbers', async () => {
    const wrapped = await bot.post(`${wrap}/`, { network: 'local', address: admins, amount: '0.25', unknown: true })
    texts(wrapped, 'signature')
    expect(wrapped.status).to.equal(1)
    decimals(wrapped.data, 'fee', 'amount')
    expect(Number(wrapped.data.amount)).to.equal(0.25)
    expect(wrapped.data).to.include({ nativeToken: 'ETH', wrappedToken: 'WETH' })
    texts(wrapped.data, 'wrappedAddress')
    const small = await bot.post(unwrap, { network: 'local', address: admins, amount: 1e-7 })
    expect([small.status, Number(small.data.amount)]).to.deep.equal([1, 1e-7])
    const rest = await bot.post(unwrap, { network: 'local', address: admins })
    expect(rest.status).to.equal(1)
    const { balances } = await bot.post('/chains/ethereum/balances', { network: 'local', address: admins, tokens: ['WETH'] })
    expect(balances).to.deep.equal({ WETH: 0 })
    expect((await bot.refusal('POST', wrap, { network: 'local', address: admins })).body.code).to.equal('INVALID_PARAMS')
  })

  it('approve as much as is asked, and tell when it is in force', async () => {
    const request = { network: 'local', address: admins, token: 'USDC' }
    const answer = await bot.post(approve, { ...request, spender: 'uniswap/router', amount: '12.5' })
    texts(answer, 'signature')
    expect(answer.status).to.equal(1)
    decimals(answer.data, 'amount', 'fee')
    numbers(answer.data, 'nonce')
    texts(answer.data, 'tokenAddress', 'spender')
    const allowed = async () =>
      (await bot.post('/chains/ethereum/allowances', { network: 'local', address: admins, spender: 'uniswap', tokens: ['USDC'] })).approvals
        .USDC
    expect(Number(await allowed())).to.equal(12.5)
    expect((await bot.post(approve, { ...request, spender: 'uniswap' })).status).to.equal(1)
    expect(Number(await allowed())).to.be.above(1e12)
    expect((await bot.refusal('POST', approve, { ...request, spender: 'sluice/clmm' })).body.code).to.equal('INVALID_PARAMS')
  })

  it('approve what opens positions by the names of ranges, and the router of pools without them by theirs', async () => {
    const of = { network: 'local', address: others, token: 'WETH' }
    const allowances = async (spender: string) =>
      server.client.post('/evm/allowances', { chain: 'ethereum', network: 'local', address: others, spender, tokenSymbols: ['WETH'] })
    const own = ['uniswap', 'uniswap/positions', 'uniswap/v2']
    const left = async () => Promise.all(own.map(async (spender) => Number((await allowances(spender)).body.approvals.WETH)))
    for (const [spender, amount, amounts] of [
      ['uniswap/clmm', '1', [0, 1, 0]],
      ['uniswap/positions', '2', [0, 2, 0]],
      ['uniswap/amm', '3', [0, 2, 3]],
      ['uniswap/clmm/swap', '4', [4, 2, 3]],
    ] as const) {
      const { status } = await bot.post(approve, { ...of, spender, amount })
      expect(status).to.equal(1)
      expect(await left(), spender).to.deep.equal(amounts)
    }
  })

  it('approve by the connector sluice what a swap of any exchange takes, as the refusal of its swap says', async () => {
    const request = { network: 'local', address: traders, token: 'WETH', spender: 'sluice/router' }
    const swap = { chainNetwork, walletAddress: traders, baseToken: 'WETH', quoteToken: 'USDC', amount: 0.01, side: 'SELL' }
    const allowed = async (spender = 'sluice/router') =>
      Number(
        (await bot.post('/chains/ethereum/allowances', { network: 'local', address: traders, spender, tokens: ['WETH'] })).approvals.WETH,
      )
    const signed = async () => (await server.client.get('/transactions', { address: traders, limit: '200' })).body.transactions.length
    expect((await bot.post(wrap, { network: 'local', address: traders, amount: '1' })).status).to.equal(1)
    // One exchange alone is approved, and it gives less than the slippage of the best allows.
    expect((await bot.post(approve, { ...request, spender: 'balancer' })).status).to.equal(1)
    const before = await signed()
    const { body } = await bot.refusal('POST', '/trading/router/execute-swap', { ...swap, slippagePct: 0 })
    expect(body).to.include({ name: 'INSUFFICIENT_ALLOWANCE' }).and.not.to.have.property('code')
    expect(body.message).to.match(/In Hummingbot: gateway approve sluice\/router WETH$/)
    expect([await signed(), await allowed()]).to.deep.equal([before, 0])

    expect((await bot.post(approve, request)).status).to.equal(1)
    expect(await allowed()).to.be.above(1e12)
    const venues = (await server.client.get('/amm/price', { ...priced, candidates: 'true' })).body.candidates
    const names: string[] = venues.map(({ connector }: { connector: string }) => connector)
    expect(names).to.include.members(['uniswap', 'sushiswap'])
    for (const connector of ['sluice', ...names])
      expect((await bot.post('/trading/router/execute-swap', { ...swap, connector })).status, connector).to.equal(1)
    const approvals = await countOf('approve')
    // What is there already takes no transaction, but one for the answer.
    expect((await bot.post(approve, request)).status).to.equal(1)
    expect(await countOf('approve')).to.equal(approvals + 1)
  })

  it('are sent once where the answer was lost, and twice where it was not', async () => {
    const before = await countOf('wrap')
    const body = { network: 'local', address: others, amount: '0.5' }
    await withoutBlocks(rpc, async () => {
      const lost = cuttablePost(new URL(wrap, server.kernel.interfaceUrls['hummingbot']), server.certsDir, body)
      await until('it is signed', async () => (await countOf('wrap')) === before + 1)
      lost.cut()
      await lost.answer
      expect(Object.keys(await bot.post(wrap, body))).to.deep.equal(['signature'])
      expect(await countOf('wrap')).to.equal(before + 1)
    })
    expect((await bot.post(wrap, body)).status).to.equal(1)
    expect(await countOf('wrap')).to.equal(before + 2)
  })

  it('are closed to who may only read, and for wallets of others', async () => {
    const allowance = { network: 'local', spender: 'uniswap', token: 'USDC', amount: '1' }
    for (const [path, body] of [
      [wrap, { network: 'local', amount: '0.1' }],
      [unwrap, { network: 'local', amount: '0.1' }],
      [approve, allowance],
    ] as const) {
      expect((await reader.refusal('POST', path, { ...body, address: admins })).status, path).to.equal(403)
      expect((await trader.refusal('POST', path, { ...body, address: admins })).status, path).to.equal(403)
    }
  })
})

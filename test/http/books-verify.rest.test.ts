import { expect } from 'chai'
import { JsonRpcProvider, toBeHex, Wallet } from 'ethers'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient, type Answer } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { admins, local, noted, oneChain, others, outcome, traders, withoutBlocks } from './shared-server.ts'

// Account 1 of anvil's well-known mnemonic.
const traderKey = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const address = traders
const wallet = { ...local, address }
const coldStore = '0x00000000000000000000000000000000C01d5700'
const clients = {
  client: { permissions: ['read', 'trade', 'send', 'admin'], wallets: 'all', sendTo: { [traders]: [coldStore] } },
  reader: { permissions: ['read'], wallets: [others] },
  watcher: { permissions: ['read'], wallets: [others] },
}

describe('books held against the chain', function () {
  this.timeout(300_000)
  let server: TestServer
  let rpc: Rpc
  let begun: string

  before(async () => {
    server = await startServer({ ...oneChain, conf: { ...oneChain.conf, 'clients.yml': { clients } } })
    rpc = rpcTo(server.rpcUrl)
    // The block before it is of this run: that of the devnet's state may be older than what one answer covers.
    await pass(1)
    const first = await now()
    do await pass(1)
    while ((await now()) === first)
    begun = await now()
  })
  after(() => server?.stop())

  /** Blocks, until those before are final. */
  async function pass(blocks: number): Promise<void> {
    for (let made = 0; made < blocks; made += 1) await rpc('evm_mine')
  }
  async function now(): Promise<string> {
    const seconds = Number(Reflect.get(Object(await rpc('eth_getBlockByNumber', 'latest', false)), 'timestamp'))
    return new Date(seconds * 1000).toISOString()
  }

  async function done(path: string, request: object): Promise<string> {
    const answer = await server.client.post(path, { ...wallet, ...request })
    expect(outcome(answer), answer.text).to.equal('200')
    const { txHash } = answer.body
    await noted(server.client, txHash)
    return txHash
  }

  async function verified(request: object = {}): Promise<Answer['body']> {
    await pass(8)
    const answer = await server.client.post('/books/verify', { ...wallet, since: begun, ...request })
    expect(outcome(answer), answer.text).to.equal('200')
    return answer.body
  }

  it('explains each unit of trades, wraps, transfers and what another program did with the wallet', async () => {
    await done('/evm/wrap', { amount: '3' })
    await done('/evm/unwrap', { amount: '1' })
    await done('/evm/send', { token: 'USDC', to: coldStore, amount: '250' })
    await done('/evm/send', { token: 'ETH', to: coldStore, amount: '0.25' })
    for (const token of ['WETH', 'USDC']) await done('/evm/approve', { spender: 'uniswap', token })
    const trade = { connector: 'uniswap', base: 'WETH', quote: 'USDC', amount: '0.1' }
    for (const side of ['SELL', 'BUY']) await done('/amm/trade', { ...trade, side })
    // The coin that they bring has no event of a token.
    await done('/amm/trade', { ...trade, base: 'ETH', side: 'SELL' })
    await done('/amm/trade', { ...trade, base: 'ETH', side: 'BUY' })
    const range = {
      connector: 'uniswap',
      token0: 'WETH',
      token1: 'USDC',
      amount0: '0.1',
      amount1: '300',
      lowerPrice: '2800',
      upperPrice: '3200',
    }
    for (const token of ['WETH', 'USDC']) await done('/evm/approve', { spender: 'uniswap/positions', token })
    await done('/amm/liquidity/add', range)
    const provider = new JsonRpcProvider(server.rpcUrl, 31337, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 30 })
    await (await new Wallet(traderKey, provider).sendTransaction({ to: others, value: 3n })).wait()
    provider.destroy()
    await rpc('eth_sendTransaction', { from: admins, to: address, value: toBeHex(5n) })
    const { unexplained, transactions, tokens } = await verified()
    expect(unexplained).to.deep.equal([])
    expect(transactions).to.deep.equal({ own: 15, foreign: 2 })
    expect(tokens.map(({ symbol }: { symbol: string }) => symbol)).to.include.members(['ETH', 'WETH', 'USDC'])
  })

  it('finds a planted loss of one unit with its block', async () => {
    await pass(3)
    const block = await withoutBlocks(rpc, async () => {
      // After one that was being made.
      await rpc('evm_mine')
      await rpc('anvil_setBalance', address, toBeHex(BigInt(String(await rpc('eth_getBalance', address, 'latest'))) - 1n))
      return Number(await rpc('eth_blockNumber'))
    })
    await pass(3)
    const { unexplained } = await verified()
    expect(unexplained).to.have.length(1)
    expect(unexplained[0]).to.include({
      symbol: 'ETH',
      kind: 'inside-a-call',
      amount: '-0.000000000000000001',
      firstBlock: block,
      lastBlock: block,
    })
  })

  it('goes on with the blocks that an answer leaves', async () => {
    await rpc('evm_increaseTime', 30 * 3_600)
    await pass(40)
    const answers: Answer['body'][] = []
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const answer = await verified(cursor === undefined ? {} : { cursor, since: undefined })
      answers.push(answer)
      cursor = answer.nextCursor
    }
    expect(answers.length).to.be.greaterThan(1)
    for (const [index, { start }] of answers.entries()) if (index > 0) expect(start).to.deep.equal(answers[index - 1]?.end)
    expect(answers.flatMap(({ unexplained }) => unexplained)).to.have.length(1)
  })

  it('shows a certificate its own wallets only', async () => {
    const { certsDir } = server.settings.ssl
    await newClient(certsDir, 'reader')
    const reader = createClient(server.kernel.url, certsDir, 'reader')
    expect(outcome(await reader.post('/books/verify', wallet))).to.equal('403 FORBIDDEN')
    expect(outcome(await reader.post('/books/verify', { ...local, address: others, since: begun }))).to.equal('200')
    reader.close()
  })

  it('leaves a place to each certificate, whatever another one asks for', async () => {
    const { certsDir } = server.settings.ssl
    await newClient(certsDir, 'watcher')
    const watcher = createClient(server.kernel.url, certsDir, 'watcher')
    const several = Promise.all(Array.from({ length: 4 }, () => server.client.post('/books/verify', { ...wallet, since: begun })))
    const own = await watcher.post('/books/verify', { ...local, address: others, since: begun })
    const answers = (await several).map(outcome)
    expect(outcome(own)).to.equal('200')
    expect(answers.filter((each) => each !== '200').every((each) => each === '503 OVERLOADED')).to.equal(true)
    expect(answers).to.include('200')
    watcher.close()
  })

  for (const [what, fields, refused] of [
    ['a moment without a zone', { since: '2026-01-01 10:00' }, '400 INCOMPLETE_PARAMS'],
    ['a period without a final block', { since: '2099-01-01' }, '400 INCOMPLETE_PARAMS'],
    ['a cursor of its own making', { cursor: '5-1-9' }, '400 INCOMPLETE_PARAMS'],
    ['blocks that are not final yet', { cursor: '0-1-999999999' }, '400 INCOMPLETE_PARAMS'],
  ] as const)
    it(`refuses ${what}`, async () => {
      expect(outcome(await server.client.post('/books/verify', { ...wallet, ...fields }))).to.equal(refused)
    })
})

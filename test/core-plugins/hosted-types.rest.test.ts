import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { follow } from '../events/client.ts'
import { local, mined, oneChain, others } from '../http/shared-server.ts'
import { mineOnDemand } from '../kits/evm/test-chain.ts'
import { eventually } from '../start/command.ts'
import { fixtures } from './fixtures.ts'

/** Sluice's own connectors as a third party would bring them: under another name, without what puts the exchange on the devnet. */
const copies = { uniswap: 'pool-copy', perp: 'perp-copy', oasis: 'book-copy' }

describe('connectors of third parties that make plans of EVM transactions', function () {
  this.timeout(400_000)
  let folder: string
  let server: TestServer
  const address = others

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-hosted-'))
    for (const [name, copy] of Object.entries(copies)) {
      const to = path.join(folder, copy)
      await mkdir(to)
      await cp(fileURLToPath(new URL(`../../plugins/${name}`, import.meta.url)), to, {
        recursive: true,
        filter: (file) => path.basename(file) !== 'devnet.ts',
      })
      const entry = path.join(to, 'index.ts')
      await writeFile(entry, (await readFile(entry, 'utf8')).replace(`name: '${name}'`, `name: '${copy}', version: '0.1.0'`))
    }
    server = await startServer({ plugins: [folder], settings: oneChain.settings })
  })
  after(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const ask = async (endpoint: string, fields: object) => {
    const { status, body, text } = await server.client.post(endpoint, { ...local, ...fields })
    expect(status, `${endpoint}: ${text}`).to.equal(200)
    return body
  }
  const act = async (endpoint: string, fields: object) => {
    const answer = await ask(endpoint, { address, ...fields })
    return { answer, poll: (await mined(server.client, answer.txHash)).body }
  }
  /** Once it is final. */
  const journaled = async (txHash: string) => {
    const find = () => server.kernel.services.transactions.find('ethereum', 'local', txHash)
    await eventually(async () => (await find())?.state === 'CONFIRMED', 'it is final')
    return find()
  }
  const read = async (endpoint: string, fields: object) => {
    const { status, body, text } = await server.client.get(endpoint, { ...local, ...fields })
    expect(status, `${endpoint}: ${text}`).to.equal(200)
    return body
  }

  it('run in hosts, all of their trading types', async () => {
    const { body } = await server.client.get('/plugins')
    for (const name of Object.values(copies)) {
      const entry = body.find((each: { name: string }) => each.name === name)
      expect(entry, JSON.stringify(entry)).to.deep.include({ state: 'loaded', tier: 'contained', host: { deaths: 0 } })
    }
  })

  it('show the pools that they find, and those of their configuration that they do not', async () => {
    const pair = { base: 'WETH', quote: 'USDC' }
    const poolsOf = async (connector: string) =>
      (await read('/amm/pools', { ...pair, connector })).pools.map(({ pool }: { pool: string }) => pool)
    expect(await poolsOf('pool-copy')).to.deep.equal(await poolsOf('uniswap'))
    const { pools, leftOut } = await read('/amm/pools', { ...pair, connector: 'any', connectors: 'pool-copy,uniswap' })
    expect(leftOut).to.equal(undefined)
    expect(new Set(pools.map(({ connector }: { connector: string }) => connector))).to.deep.equal(new Set(['pool-copy', 'uniswap']))
  })

  it('add, show, collect from and remove liquidity, beside swaps of the same exchange', async () => {
    const [on, ours] = [{ connector: 'pool-copy' }, { connector: 'uniswap' }]
    for (const [token, amount] of [
      ['WETH', '0.5'],
      ['USDC', '2000'],
    ])
      await act('/evm/approve', { spender: 'pool-copy/positions', token, amount })
    const pair = { token0: 'WETH', token1: 'USDC', fee: 'MEDIUM' }
    const { price } = await ask('/amm/liquidity/price', { ...on, ...pair })
    expect(price).to.equal((await ask('/amm/liquidity/price', { ...ours, ...pair })).price)
    const [lowerPrice, upperPrice] = [String(Number(price) * 0.9), String(Number(price) * 1.1)]
    const added = await act('/amm/liquidity/add', { ...on, ...pair, lowerPrice, upperPrice, amount0: '0.5', amount1: '2000' })
    const { tokenId, liquidity } = added.poll.fill
    expect(added.poll.fill).to.include({ amount0: added.answer.amount0, liquidity: added.answer.liquidity })

    const [theirs, own] = await Promise.all([on, ours].map((each) => ask('/amm/liquidity/position', { ...each, tokenId })))
    // A block may come between the two.
    const { connector: _, latency: _1, timestamp: _2, blockNumber: _3, ...shown } = theirs
    expect(own).to.deep.include(shown)
    expect((await read('/amm/liquidity/positions', { ...on, address })).positions).to.have.length(1)
    const swap = { base: 'WETH', quote: 'USDC', amount: '0.1', side: 'SELL' }
    const quotes = await Promise.all([on, ours].map((each) => read('/amm/price', { ...each, ...swap })))
    expect(quotes[0].expectedAmount).to.equal(quotes[1].expectedAmount)

    const bound = await server.client.post('/amm/liquidity/add', {
      ...local,
      ...on,
      ...pair,
      address,
      lowerPrice: `1${'0'.repeat(60)}`,
      upperPrice: `2${'0'.repeat(60)}`,
      amount0: '1',
      amount1: '1',
    })
    expect(bound.body, bound.text).to.include({ name: 'INCOMPLETE_PARAMS' })
    // What the range took less than was offered is left of the allowances.
    for (const token of ['WETH', 'USDC']) await act('/evm/approve', { spender: 'pool-copy/positions', token, amount: '0' })
    const removed = await act('/amm/liquidity/remove', { ...on, tokenId, burn: true })
    expect(removed.poll.fill).to.include({ liquidity })
    // Nobody has to be asked for it any more.
    for (const { answer, poll } of [added, removed]) expect((await journaled(answer.txHash))?.outcome).to.deep.equal(poll.fill)
  })

  it('add and remove shares of a pool', async () => {
    const on = { connector: 'pool-copy', tokens: ['ETH', 'USDC'] }
    const { pool } = await read('/amm/shares/position', { ...on, address })
    await act('/evm/approve', { spender: 'pool-copy/v2', token: 'USDC', amount: '4000' })
    const added = await act('/amm/shares/add', { ...on, amounts: ['1', '4000'] })
    const { shares } = added.poll.fill
    expect(added.poll.fill).to.deep.include({ shares: added.answer.shares, amounts: added.answer.amounts })
    await act('/evm/approve', { spender: 'pool-copy/v2', token: 'USDC', amount: '0' })
    await act('/evm/approve', { spender: 'pool-copy/v2', token: pool, amount: shares })
    const removed = await act('/amm/shares/remove', { ...on, pool, shares })
    expect(removed.poll.fill).to.deep.include({ shares, amounts: removed.answer.amounts })
    for (const { answer, poll } of [added, removed]) expect((await journaled(answer.txHash))?.outcome).to.deep.equal(poll.fill)
  })

  it('open and close a position of perpetuals', async () => {
    const on = { connector: 'perp-copy' }
    const ETH = { base: 'ETH', quote: 'USD' }
    const rpc = rpcTo(server.rpcUrl)
    // While anvil makes a block, calls may have its state and the clock of the block before, which the exchange does not stand.
    await mineOnDemand(rpc)
    await act('/evm/approve', { spender: 'perp-copy', token: 'USDC', amount: '10000' })
    await act('/perpAMM/deposit', { ...on, token: 'USDC', amount: '10000' })
    const opened = await act('/perpAMM/open', { ...on, ...ETH, amount: '2', side: 'LONG', margin: '2000', leverage: '5' })
    expect(opened.poll.fill).to.include({ price: opened.answer.price })
    const { position } = await ask('/perpAMM/position', { ...on, ...ETH, wallet_address: address })
    expect(position).to.include({ positionAmt: '2.000000000000000000', entryPrice: opened.answer.price })
    const closed = await act('/perpAMM/close', { ...on, ...ETH })
    expect(closed.poll.fill).to.include({ closedRatio: '1' })
    await rpc('evm_setIntervalMining', 1)
    for (const { answer, poll } of [opened, closed]) expect((await journaled(answer.txHash))?.outcome).to.deep.equal(poll.fill)
    expect((await server.client.post('/perpAMM/close', { ...local, ...on, ...ETH, address })).body).to.include({ name: 'UNKNOWN_POSITION' })
  })

  it('load from the folder where the server only tries, and go when their own folder goes', async () => {
    const stateOf = async () =>
      (await server.client.get('/plugins')).body.find(({ name }: { name: string }) => name === 'late-swap')?.state ?? 'none'
    const late = path.join(folder, 'late-swap')
    await cp(path.join(fixtures, 'contained', 'plain-swap'), late, { recursive: true })
    const entry = path.join(late, 'index.ts')
    await writeFile(entry, (await readFile(entry, 'utf8')).replaceAll('plain-swap', 'late-swap'))
    await eventually(async () => (await stateOf()) === 'loaded', 'it is loaded')
    const { price } = await read('/amm/price', { connector: 'late-swap', base: 'ETH', quote: 'USDC', amount: '0.1', side: 'SELL' })
    expect(Number(price)).to.be.above(0)
    await rm(late, { recursive: true })
    await eventually(async () => (await stateOf()) !== 'loaded', 'it is taken out')
  })

  it('place and cancel orders, and have their books followed', async () => {
    const on = { connector: 'book-copy' }
    const market = 'WETH-DAI'
    await act('/evm/approve', { spender: 'book-copy', token: 'WETH', amount: '0.5' })
    const door = { url: server.kernel.url, certsDir: server.settings.ssl.certsDir, name: 'client' }
    const follower = await follow(door, { topics: 'orderBook', ...local, ...on, market })
    try {
      const order = { market, side: 'SELL', orderType: 'LIMIT', price: '100000', amount: '0.5' }
      const placed = await act('/clob/orders', { ...on, ...order })
      const { clientOrderId } = placed.answer
      expect((await journaled(placed.answer.txHash))?.outcome).to.have.nested.property('[0].orderId')
      const has = (book: { sells: readonly { price: string }[] }) => book.sells.some(({ price }) => Number(price) === 100_000)
      await follower.hears('the order', ({ data }) => has(data))
      const book = await read('/clob/orderBook', { ...on, market })
      expect(has(book), JSON.stringify(book)).to.equal(true)
      expect(book.sells).to.deep.equal((await read('/clob/orderBook', { connector: 'oasis', market })).sells)
      expect((await read('/clob/orders', { ...on, address, clientOrderId })).orders[0]).to.include({ state: 'OPEN' })
      const { status, body, text } = await server.client.request('DELETE', '/clob/orders', {
        raw: JSON.stringify({ ...local, ...on, address, market, clientOrderId }),
        headers: { 'content-type': 'application/json' },
      })
      expect(status, text).to.equal(200)
      await mined(server.client, body.txHash)
      await follower.hears('the cancel', ({ data }) => !has(data))
      expect((await read('/clob/orders', { ...on, address, clientOrderId })).orders[0]).to.include({ state: 'CANCELED' })
    } finally {
      await follower.close()
    }
  })
})

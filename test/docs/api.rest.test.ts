import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import { rpcTo } from '../../core/devnet/anvil.ts'
import type { TestServer } from '../../testkit/server.ts'
import { mined } from '../http/shared-server.ts'
import { mineOnDemand } from '../kits/evm/test-chain.ts'
import { printed, unlike } from './like.ts'
import { fencesOf, readPage, root, type Fence } from './page.ts'
import { readyServer } from './ready-server.ts'
import { run } from './run.ts'

const example = 'examples/once.mjs'
const pages = ['transactions', 'liquidity', 'perpetuals', 'order-books'].map((name) => `docs/bots/${name}.md`)

describe('the pages of the interface', function () {
  this.timeout(400_000)
  let server: TestServer
  let text: string
  let fences: readonly Fence[]
  const environment = () => ({ HOME: server.settings.home, SLUICE_URL: server.kernel.url })
  const trade = (name: string) => run('node', [example, name], { cwd: server.settings.home, env: environment() })
  const madeUnder = async (idempotencyKey: string) => (await server.client.get('/transactions', { idempotencyKey })).body.transactions

  before(async () => {
    text = (await Promise.all(pages.map(readPage))).join('\n')
    fences = fencesOf(text)
    server = await readyServer()
    await symlink(path.join(root, 'examples'), path.join(server.settings.home, 'examples'))
  })
  after(() => server?.stop())

  it(`shows ${example} as it is, and what it prints however often it is run`, async () => {
    const index = fences.findIndex((each) => each.file === example)
    expect(fences[index]?.text).to.equal(await readFile(path.join(root, example), 'utf8'))
    const output = await trade('order-1')
    expect(printed(output)).to.equal(printed(fences[index + 1]?.text ?? ''))
    expect(await trade('order-1')).to.equal(output)
    expect(await madeUnder('order-1')).to.have.length(1)
  })

  it('shows a program that trades once however often it is killed', async () => {
    for (let i = 0; i < 8; i++) {
      const child = spawn('node', [example, 'order-2'], {
        cwd: server.settings.home,
        env: { ...process.env, ...environment() },
        stdio: 'ignore',
      })
      const ended = new Promise((resolve) => child.once('close', resolve))
      await new Promise((resolve) => setTimeout(resolve, 60 + 20 * i))
      child.kill('SIGKILL')
      await ended
    }
    const output = await trade('order-2')
    const made = await madeUnder('order-2')
    expect(made).to.have.length(1)
    expect(output).to.contain(made[0].txHash).and.to.contain('CONFIRMED')
  })

  it('shows the life of a position as it is', async () => {
    const shown = (name: string) => JSON.parse(fences.find(({ language, file }) => language === 'json' && file === name)?.text ?? '')
    const network = { chain: 'ethereum', network: 'local' }
    const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    const ask = (verb: string, fields: object) =>
      server.client.post(`/amm/liquidity/${verb}`, { ...network, connector: 'uniswap', ...fields })
    const { body: approval } = await server.client.post('/evm/approve', {
      ...network,
      address,
      spender: 'uniswap/positions',
      token: 'USDC',
    })
    await mined(server.client, approval.txHash)
    const asked = JSON.parse(/`(\{ "token0".*\})`/.exec(text)?.[1] ?? '')

    const { body: added } = await ask('add', { ...asked, address })
    expect(unlike(shown('add'), added)).to.equal(undefined)
    const { fill } = (await mined(server.client, added.txHash)).body
    expect(unlike(shown('fill'), fill)).to.equal(undefined)
    const { body: position } = await ask('position', { tokenId: fill.tokenId })
    expect(unlike(shown('position'), position)).to.equal(undefined)
    const { token0, token1, fee } = asked
    const { body: price } = await ask('price', { token0, token1, fee, period: 1, interval: 1 })
    expect(unlike(shown('price'), price)).to.equal(undefined)
  })

  it('shows the life of shares of a pool as it is', async () => {
    const shown = (name: string) => JSON.parse(fences.find(({ file }) => file === name)?.text ?? '')
    const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    const asked = JSON.parse(/`(\{ "tokens".*\})`/.exec(text)?.[1] ?? '')
    const pool = { chain: 'ethereum', network: 'local', connector: 'uniswap', address, tokens: asked.tokens }
    const approve = async (token: string) => {
      const { body } = await server.client.post('/evm/approve', {
        ...pool,
        connector: undefined,
        tokens: undefined,
        spender: 'uniswap/v2',
        token,
      })
      await mined(server.client, body.txHash)
    }
    await approve('USDC')
    const { body: added } = await server.client.post('/amm/shares/add', { ...pool, ...asked })
    expect(unlike(shown('shares-add'), added)).to.equal(undefined)
    expect(unlike(shown('shares-fill'), (await mined(server.client, added.txHash)).body.fill)).to.equal(undefined)
    const { body: position } = await server.client.get('/amm/shares/position', pool)
    expect(unlike(shown('shares-position'), position)).to.equal(undefined)
    await approve(position.shareToken)
    const { body: removed } = await server.client.post('/amm/shares/remove', pool)
    const { fill } = (await mined(server.client, removed.txHash)).body
    expect(fill).to.include({ shares: added.shares })
  })

  it('shows the life of a perpetual position as it is', async () => {
    const shown = (name: string) => JSON.parse(fences.find(({ file }) => file === name)?.text ?? '')
    const asked: string[] = [...text.matchAll(/`(\{ "base": "ETH".*\})`/g)].map(([, text = '']) => text)
    const network = { chain: 'ethereum', network: 'local' }
    const address = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
    const act = async (path: string, fields: object) => {
      const { body, status, text: answer } = await server.client.post(path, { ...network, connector: 'perp', address, ...fields })
      expect(status, answer).to.equal(200)
      return { answer: body, fill: (await mined(server.client, body.txHash)).body.fill }
    }
    const read = async (verb: string, fields: object) =>
      (await server.client.post(`/perpAMM/${verb}`, { ...network, connector: 'perp', ...fields })).body
    const rpc = rpcTo(server.rpcUrl)
    // While anvil makes a block, calls may have its state and the clock of the block before, which the exchange does not stand.
    await mineOnDemand(rpc)
    await act('/evm/approve', { connector: undefined, spender: 'perp', token: 'USDC' })
    await act('/perpAMM/deposit', { token: 'USDC', amount: '1000' })

    const [priced, opened] = asked.map((each) => JSON.parse(each))
    expect(unlike(shown('perp-price'), await read('price', priced))).to.equal(undefined)
    expect(unlike(shown('perp-open'), (await act('/perpAMM/open', opened)).answer)).to.equal(undefined)
    const { base, quote } = opened
    expect(unlike(shown('perp-position'), await read('position', { wallet_address: address, base, quote }))).to.equal(undefined)
    for (const verb of ['margin', 'funding'])
      expect(unlike(shown(`perp-${verb}`), await read(verb, { wallet_address: address }))).to.equal(undefined)
    expect(unlike(shown('perp-fill'), (await act('/perp/close', { base, quote })).fill)).to.equal(undefined)
    await rpc('evm_setIntervalMining', 1)
  })

  it('shows the life of an order as it is', async () => {
    const shown = (name: string) => JSON.parse(fences.find(({ file }) => file === name)?.text ?? '')
    const network = { chain: 'ethereum', network: 'local' }
    const oasis = { ...network, connector: 'oasis' }
    const [address, other] = ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC']
    const [placing = ''] = [...text.matchAll(/`(\{ "market".*"BUY".*\})`/g)].map(([, text = '']) => text)
    const noted = async (txHash: string) => {
      for (const endsAt = Date.now() + 180_000; Date.now() < endsAt;) {
        const { txState } = (await server.client.get('/transactions', { ...network, txHash })).body.transactions[0]
        if (['MINED', 'CONFIRMED'].includes(txState)) return
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      throw new Error(`${txHash} was not noted.`)
    }
    const post = async (path: string, fields: object) => {
      const { body, status, text: answer } = await server.client.post(path, { ...oasis, ...fields })
      expect(status, answer).to.equal(200)
      return body
    }
    for (const [wallet, token] of [
      [address, 'USDC'],
      [other, 'WETH'],
    ])
      await noted((await post('/evm/approve', { connector: undefined, address: wallet, spender: 'oasis', token })).txHash)
    const book = (await server.client.get('/clob/orderBook', { ...oasis, market: 'WETH-USDC', depth: '2' })).body
    expect(unlike(shown('clob-book'), book)).to.equal(undefined)

    const order = JSON.parse(placing)
    const placed = await post('/clob/orders', { ...order, address })
    expect(unlike(shown('clob-placed'), placed)).to.equal(undefined)
    await noted(placed.txHash)
    const sale = { market: 'WETH-USDC', side: 'SELL', orderType: 'MARKET', amount: '0.2', limitPrice: order.price }
    await noted((await post('/clob/orders', { ...sale, address: other })).txHash)
    const asked = { ...oasis, address, clientOrderId: order.clientOrderId }
    const { body: partly } = await server.client.get('/clob/orders', asked)
    expect(unlike(shown('clob-orders'), partly)).to.equal(undefined)
    expect([partly.orders[0].state, partly.orders[0].filledAmount]).to.deep.equal(['PARTIALLY_FILLED', '0.2'])
    const raw = JSON.stringify({ ...asked, market: 'WETH-USDC' })
    const { body: gone } = await server.client.request('DELETE', '/clob/orders', { headers: { 'content-type': 'application/json' }, raw })
    expect(unlike(shown('clob-cancel'), gone)).to.equal(undefined)
    await noted(gone.txHash)
    const create = [
      { ...order, price: '2900', clientOrderId: 'bot-2' },
      { ...order, price: '0', clientOrderId: 'bot-3' },
    ]
    const batch = await post('/clob/batchOrders', {
      address,
      create,
      cancel: [{ market: 'WETH-USDC', clientOrderId: order.clientOrderId }],
    })
    expect(unlike(shown('clob-batch'), batch)).to.equal(undefined)
    expect(unlike(shown('clob-batch').created[1], batch.created[1])).to.equal(undefined)
  })

  it('shows a page of the journal as it is', async () => {
    const shown = fences.find(({ language }) => language === 'json')
    const { body } = await server.client.get('/transactions', { idempotencyKey: 'order-1' })
    expect(unlike(JSON.parse(shown?.text ?? ''), body)).to.equal(undefined)
  })
})

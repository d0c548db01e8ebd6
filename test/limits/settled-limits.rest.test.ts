// What was counted for a client and came back is free again, on the devnet's own exchanges: never more than the chain gave back.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { Contract, hexlify, JsonRpcProvider, NonceManager, parseUnits, randomBytes, toQuantity, Wallet } from 'ethers'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { v2Deployments } from '../../plugins/uniswap/deployments.ts'
import type { ExpiredAllowances } from '../../core/limits/expired-allowances.ts'
import { followAllowances, openMarket } from '../../core/parts/trading.ts'
import { newClients } from '../../core/tls/certificates.ts'
import { createClient, type Answer, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { addresses } from '../devnet/addresses.ts'
import { until } from '../transactions/site.ts'
import { atNode, local, mined, nobody, oneChain, others, swap, traders } from '../http/shared-server.ts'
import { approveAll } from './direct-approvals.ts'

/** `Wallet.createRandom` derives it from words, which takes long. */
const newWallet = () => new Wallet(hexlify(randomBytes(32)))
const thief = newWallet()
/** It takes tokens by Permit2 alone. */
const other = newWallet()
const tokens = { 'ethereum/local': { USDC: { perDay: '100000' }, WETH: { perDay: '100' }, ETH: { perDay: '100' } } }
const ofBots = { permissions: ['read', 'trade', 'thin'], wallets: 'all' }
const names = ['revoker', 'other', 'maker', 'swapper', 'taken', 'permitter', 'expirer'] as const
const clients = {
  client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' },
  // Each test has a client of its own: what one has spent is not spent by another.
  ...Object.fromEntries(names.map((name) => [name, { ...ofBots, limits: { maxDailyGas: '10', tokens } }])),
  permitter: { ...ofBots, limits: { maxDailyGas: '10', tokens, allowed: { connectors: ['permitted'] } } },
  expirer: { ...ofBots, limits: { maxDailyGas: '10', tokens, allowed: { connectors: ['permitted'] } } },
}

/** What is in a block before these is final. */
const enoughBlocks = '0x2'
const permit2Address = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
/** A connector that is not of the release, whose contract takes tokens by Permit2. */
const exchange = `
import { evm } from 'sluice/evm'
import { defineConnector, versionedSchema } from 'sluice/plugin'
import { poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'

export default defineConnector({
  family: evm,
  manifest: { name: 'permitted', apiVersion: '1.0', version: '0.1.0', trading_type: ['AMM'], available_networks: [{ chain: 'ethereum', networks: ['local'] }], schema: versionedSchema({ v2: ['v2RouterAddress', 'permit2Address'] }) },
  create(venue) {
    const router = '${other.address}'
    const AMM = poolAMM(venue, uniswapV2(venue, { version: 'v2', fee: [3n, 1000n], deployments: { 'ethereum/local': ${JSON.stringify(v2Deployments['ethereum/local'])} } }))
    return { AMM, spenders: { router }, permit2: { address: '${permit2Address}', spenders: [router] } }
  },
})
`
const defaults = `{ allowedSlippage: 1/100, ttl: 300, versions: { v2: { allowedSlippage: 1/100, ttl: 300 } }, contractAddresses: { local: { v2RouterAddress: '${other.address}', permit2Address: '${permit2Address}' } } }`

describe('what limits count once transactions are final', function () {
  this.timeout(300_000)
  let server: TestServer
  let rpc: Rpc
  let usdc: Contract
  let folder: string
  let expiries: ExpiredAllowances | undefined
  const opened = new Map<string, Client>()

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-permitted-'))
    await mkdir(path.join(folder, 'permitted'))
    await writeFile(path.join(folder, 'permitted', 'index.ts'), exchange)
    await writeFile(path.join(folder, 'permitted', 'defaults.yml'), defaults)
    server = await startServer(
      {
        plugins: [folder],
        trusted: ['permitted'],
        settings: { ...oneChain.settings, 'limits.onLocalNetworks': true, 'wallet.allowedSpenders': [thief.address] },
        // What a test waits for is seen soon.
        conf: {
          'chains/ethereum.yml': { mainnet: nobody, sepolia: nobody, local: { required: true, feeCap: 300, pollingSeconds: 0.1 } },
          'clients.yml': { clients },
        },
      },
      undefined,
      {
        market: { open: (parts) => openMarket(parts, () => 0), stop: (market) => market.stop() },
        expiries: { open: (parts) => (expiries = followAllowances(parts)), stop: (each) => each.stop() },
      },
    )
    rpc = rpcTo(server.rpcUrl)
    const provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 })
    const abi = ['function transferFrom(address,address,uint256)', 'function allowance(address,address) view returns (uint256)']
    usdc = new Contract(addresses.tokens.USDC.address, abi, new NonceManager(thief.connect(provider)))
    await rpc('anvil_setBalance', thief.address, toQuantity(parseUnits('10', 18)))
    await approveAll(server, [traders, others], ['oasis', 'uniswap'])
    await newClients(server.certsDir, names)
    for (const name of names) opened.set(name, createClient(server.url, server.certsDir, name))
  })
  after(async () => {
    for (const client of opened.values()) client.close()
    ;(usdc.runner?.provider as JsonRpcProvider | undefined)?.destroy()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const as = (name: (typeof names)[number]): Client => opened.get(name) ?? server.client
  const ofTraders = { ...local, address: traders }
  const usdcRaw = (amount: string) => parseUnits(amount, 6)

  const stateOf = async (txHash: string) => (await server.client.get('/network/poll', { ...local, txHash })).body.txState
  /** Until the journal has it as final: with the next blocks. */
  async function final(answer: Answer): Promise<void> {
    expect(answer.status, answer.text).to.equal(200)
    const { txHash } = answer.body
    await atNode(rpc, txHash)
    await rpc('anvil_mine', enoughBlocks)
    await until('it is final', async () => (await stateOf(txHash)) === 'CONFIRMED')
  }
  const used = async (name: (typeof names)[number], token: string): Promise<number> => {
    const { body } = await as(name).get('/limits')
    const row = body.limits.find((each: Record<string, string>) => each.limit === 'tokens.perDay' && each.unit === token)
    return Number(row.used)
  }

  const approve = (client: Client, amount: string) =>
    client.post('/evm/approve', { ...ofTraders, spender: thief.address, token: 'USDC', amount })
  const take = async (amount: string) => {
    const sent = await usdc.getFunction('transferFrom')(traders, thief.address, usdcRaw(amount))
    await sent.wait()
  }

  it('frees what an allowance still held when it is revoked or lowered, and keeps what was taken', async () => {
    const bot = as('revoker')
    await final(await approve(bot, '400'))
    expect(await used('revoker', 'USDC')).to.equal(400)
    await take('150')
    await final(await approve(bot, '100'))
    // 150 were taken, and 100 may be.
    expect(await used('revoker', 'USDC')).to.equal(250)
    await take('30')
    // Another client of the wallet may revoke it, too.
    await final(await approve(server.client, '0'))
    expect(await used('revoker', 'USDC')).to.equal(180)
    // What was freed once is not freed again.
    await final(await approve(server.client, '500'))
    await final(await approve(bot, '0'))
    expect(await used('revoker', 'USDC')).to.equal(180)
    await final(await approve(bot, '70'))
    await final(await approve(bot, '90'))
    expect(await used('revoker', 'USDC')).to.equal(270)
  })

  it('frees nothing that was taken in the block of the revocation', async () => {
    const bot = as('other')
    await rpc('evm_setAutomine', false)
    await rpc('evm_setIntervalMining', 0)
    const approved = await approve(bot, '400')
    expect(approved.status, approved.text).to.equal(200)
    // Each pays less than the one before it, so that they are mined in this order.
    const price = 2n * 10n ** 9n
    await atNode(rpc, approved.body.txHash)
    await rpc('anvil_mine', '0x1')
    await mined(server.client, approved.body.txHash)
    const taking = await usdc.getFunction('transferFrom')(traders, thief.address, usdcRaw('250'), {
      maxFeePerGas: 100n * price,
      maxPriorityFeePerGas: 50n * price,
      gasLimit: 200_000n,
    })
    const revoked = await approve(bot, '0')
    await atNode(rpc, revoked.body.txHash)
    await rpc('anvil_mine', '0x1')
    await rpc('evm_setAutomine', true)
    const [first, second] = await Promise.all([taking.wait(), rpc('eth_getTransactionReceipt', revoked.body.txHash)])
    expect(BigInt(Object(second).blockNumber)).to.equal(BigInt(first.blockNumber))
    expect(Number(Object(second).transactionIndex)).to.be.above(first.index)
    await final(revoked)
    expect(await used('other', 'USDC')).to.equal(250)
  })

  it('frees what an allowance by Permit2 still held when it is revoked, also after it has expired, and keeps what was taken', async () => {
    const bot = as('permitter')
    const abi = ['function transferFrom(address,address,uint160,address)']
    await rpc('anvil_setBalance', other.address, toQuantity(parseUnits('10', 18)))
    const permit2 = new Contract(permit2Address, abi, other.connect(usdc.runner?.provider ?? null))
    const set = (amount: string, fields: object = {}) =>
      bot.post('/evm/approve', { ...ofTraders, spender: 'permitted', token: 'USDC', amount, ...fields })
    await final(await set('400'))
    expect(await used('permitter', 'USDC')).to.equal(400)
    const taking = await permit2.getFunction('transferFrom')(traders, other.address, usdcRaw('150'), addresses.tokens.USDC.address)
    await taking.wait()
    await final(await set('0'))
    expect(await used('permitter', 'USDC')).to.equal(150)
    const { timestamp } = Object(await rpc('eth_getBlockByNumber', 'latest', false))
    await final(await set('200', { expires: Number(timestamp) + 3600 }))
    expect(await used('permitter', 'USDC')).to.equal(350)
    await rpc('evm_increaseTime', 4000)
    await final(await set('0'))
    expect(await used('permitter', 'USDC')).to.equal(150)
  })

  it('frees what an allowance by Permit2 still held when it expired, by a final block, once and without a transaction', async () => {
    const bot = as('expirer')
    const abi = ['function transferFrom(address,address,uint160,address)']
    await rpc('anvil_setBalance', other.address, toQuantity(parseUnits('10', 18)))
    const permit2 = new Contract(permit2Address, abi, other.connect(usdc.runner?.provider ?? null))
    const set = async (amount: string, seconds: number) => {
      const { timestamp } = Object(await rpc('eth_getBlockByNumber', 'latest', false))
      const fields = { ...ofTraders, spender: 'permitted', token: 'USDC', amount, expires: Number(timestamp) + seconds }
      await final(await bot.post('/evm/approve', fields))
    }
    await set('200', 3600)
    await (await permit2.getFunction('transferFrom')(traders, other.address, usdcRaw('50'), addresses.tokens.USDC.address)).wait()
    await expiries?.look()
    expect(await used('expirer', 'USDC')).to.equal(200)
    await rpc('evm_increaseTime', 4000)
    await rpc('anvil_mine', enoughBlocks)
    // While one that sets it anew is open, what the chain says may be of that one.
    await rpc('evm_setAutomine', false)
    const { timestamp: now } = Object(await rpc('eth_getBlockByNumber', 'latest', false))
    const anew = { ...ofTraders, spender: 'permitted', token: 'WETH', amount: '0.001', expires: Number(now) + 3600 }
    const approved = await bot.post('/evm/approve', anew)
    await expiries?.look()
    expect(await used('expirer', 'USDC')).to.equal(200)
    await rpc('evm_setAutomine', true)
    await rpc('anvil_mine', '0x1')
    await final(approved)
    await Promise.all([expiries?.look(), expiries?.look()])
    expect(await used('expirer', 'USDC')).to.equal(50)
    await expiries?.look()
    expect(await used('expirer', 'USDC')).to.equal(50)
    // One that was set anew ends when that one does.
    await set('100', 3600)
    await set('120', 9000)
    await rpc('evm_increaseTime', 4000)
    await rpc('anvil_mine', enoughBlocks)
    await expiries?.look()
    expect(await used('expirer', 'USDC')).to.equal(170)
  })

  const book = { ...local, connector: 'oasis', market: 'WETH-USDC' } as const
  const placed = (client: Client, fields: object) => client.post('/clob/orders', { ...book, orderType: 'LIMIT', ...fields })
  async function cancelled(client: Client, clientOrderId: string): Promise<void> {
    const named = new URLSearchParams({ ...book, address: traders, clientOrderId })
    await final(await client.request('DELETE', `/clob/orders?${named.toString()}`))
  }

  it('frees what a cancelled order of a book had left, and keeps what was filled', async () => {
    const bot = as('maker')
    const order = { address: traders, side: 'SELL', price: '9000', amount: '2' }
    const whole = await placed(bot, order)
    await final(whole)
    expect(await used('maker', 'WETH')).to.equal(2)
    await cancelled(bot, whole.body.clientOrderId)
    expect(await used('maker', 'WETH')).to.equal(0)

    // Somebody else takes a part of the best one.
    const { body: quotes } = await server.client.get('/clob/orderBook', book)
    const price = (Number(quotes.sells[0].price) - 0.5).toFixed(2)
    const { body, ...answer } = await placed(bot, { ...order, price })
    await final({ body, ...answer })
    await final(await placed(server.client, { address: others, side: 'BUY', price, amount: '0.5' }))
    await cancelled(bot, body.clientOrderId)
    const left = await used('maker', 'WETH')
    expect(left).to.be.within(0.5, 2)
    const logs = await rpc('eth_getLogs', {
      fromBlock: '0x0',
      address: addresses.tokens.WETH.address,
      topics: [null, null, padded(traders)],
    })
    expect(left).to.equal(2 - Number(BigInt(Object((logs as object[]).at(-1)).data)) / 1e18)
  })

  const coinSwap = { ...swap, address: traders, quote: 'ETH', base: 'USDC' }
  it('counts a swap of the coin by what it took', async () => {
    const bot = as('swapper')
    const bought = await bot.post('/amm/trade', { ...coinSwap, side: 'BUY', amount: '300' })
    const reserved = await used('swapper', 'ETH')
    await final(bought)
    const { body } = await mined(server.client, bought.body.txHash)
    expect(await used('swapper', 'ETH')).to.be.below(reserved)
    expect(await used('swapper', 'ETH')).to.equal(Number(body.fill.amountIn))
  })

  it('counts a fill that a reorganisation takes back as it was reserved, until it is final', async () => {
    const bot = as('taken')
    await rpc('evm_setAutomine', false)
    await rpc('evm_setIntervalMining', 0)
    const bought = await bot.post('/amm/trade', { ...swap, address: traders, side: 'BUY', amount: '0.1' })
    expect(bought.status, bought.text).to.equal(200)
    const reserved = await used('taken', 'USDC')
    await atNode(rpc, bought.body.txHash)
    await rpc('anvil_mine', '0x1')
    await mined(server.client, bought.body.txHash)
    // What is settled is settled by the journal, which has it some time after the chain.
    await until('the journal has it as mined', async () => {
      const { body } = await server.client.get('/transactions', { ...local, state: 'MINED' })
      return body.transactions.some(({ txHash }: { txHash: string }) => txHash === bought.body.txHash)
    })
    expect(await used('taken', 'USDC')).to.equal(reserved)
    await rpc('anvil_reorg', 1, [])
    await rpc('anvil_mine', '0x1')
    const end = Date.now() + 20_000
    while ((await stateOf(bought.body.txHash)) === 'MINED' && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await used('taken', 'USDC')).to.equal(reserved)
    // Before it is mined again, somebody makes it dearer.
    const dearer = {
      ...swap,
      address: others,
      base: 'WETH',
      quote: 'USDC',
      side: 'BUY',
      amount: '1',
      maxFeePerGas: '250',
      maxPriorityFeePerGas: '200',
    }
    await server.client.post('/amm/trade', dearer)
    await rpc('anvil_mine', '0x1')
    await rpc('evm_setAutomine', true)
    // The server sends it again by itself.
    await until('it is final', async () => {
      await rpc('anvil_mine', '0x1')
      return (await stateOf(bought.body.txHash)) === 'CONFIRMED'
    })
    const { body } = await mined(server.client, bought.body.txHash)
    expect(await used('taken', 'USDC')).to.be.below(reserved)
    expect(await used('taken', 'USDC')).to.be.closeTo(Number(body.fill.amountIn), 1e-6)
  })
})

const padded = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`

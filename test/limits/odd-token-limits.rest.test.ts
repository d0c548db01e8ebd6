// Tokens that take fees, change balances, call back or have odd decimals, against the limits of clients: counted on the chain.
import { expect } from 'chai'
import {
  Contract,
  ContractFactory,
  Interface,
  JsonRpcProvider,
  MaxUint256,
  Wallet,
  ZeroAddress,
  getCreateAddress,
  id,
  zeroPadValue,
} from 'ethers'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { openMarket } from '../../core/parts/trading.ts'
import { newClients } from '../../core/tls/certificates.ts'
import { createClient, type Answer, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { callTogether, sendFrom, takeAccount } from '../devnet/accounts.ts'
import { addresses } from '../devnet/addresses.ts'
import oddToken from '../fixtures/tokens/OddToken.json' with { type: 'json' }
import { chainSeconds, coldStore, local, mined, oneChain, outcome, traders } from '../http/shared-server.ts'

const ether = 10n ** 18n
const creator = Wallet.createRandom().address
/** Each with pools of 1,000 WETH, of which it has so many whole units. */
const odd = {
  ODD: { decimals: 18, inPool: '3000' },
  NIL: { decimals: 0, inPool: '3000000' },
  WIDE: { decimals: 36, inPool: '0.003' },
} as const
type Odd = keyof typeof odd
const names = Object.keys(odd) as Odd[]
const addressOf = Object.fromEntries(names.map((name, nonce) => [name, getCreateAddress({ from: creator, nonce })])) as Record<Odd, string>
const list = {
  name: 'Odd',
  tokens: names.map((symbol) => ({ chainId: 31337, address: addressOf[symbol], symbol, name: symbol, decimals: odd[symbol].decimals })),
}

const tokens = { 'ethereum/local': { ODD: { perDay: '10' }, NIL: { perDay: '10.9' }, WIDE: { perDay: '0.00001' }, WETH: { perDay: '1' } } }
const ofBots = { permissions: ['read', 'trade', 'send', 'thin'], wallets: [traders], sendTo: { [traders]: [coldStore] } }
const fees = { maxDailyGas: '10', maxFee: '1' }
const clients = {
  client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' },
  bot: { ...ofBots, limits: { ...fees, tokens } },
  taxed: { ...ofBots, limits: { ...fees, tokens } },
  exact: { ...ofBots, limits: { ...fees, tokens } },
  valued: { ...ofBots, limits: { ...fees, value: { perDay: '100000' } } },
  lossy: { ...ofBots, limits: { ...fees, maxDailyLoss: '100' } },
}
const { router } = addresses.exchanges.uniswap
const pairAbi = new Interface(['function sync()'])
const routerAbi = new Interface([
  'function addLiquidityETH(address token, uint256 amount, uint256 least, uint256 leastCoin, address to, uint256 deadline) payable',
  'function swapExactTokensForTokens(uint256 amountIn, uint256 least, address[] path, address to, uint256 deadline)',
  'function approve(address spender, uint256 value)',
])

describe('odd tokens against the limits of a client', function () {
  this.timeout(300_000)
  let server: TestServer
  let rpc: Rpc
  let provider: JsonRpcProvider
  let nowMs = 0
  const opened = new Map<string, Client>()
  const contracts = new Map<Odd, Contract>()

  before(async () => {
    server = await startServer(
      {
        settings: { ...oneChain.settings, 'limits.onLocalNetworks': true, 'limits.marketDepth': 20_000, 'limits.marketMinutes': 4 },
        conf: { ...oneChain.conf, 'clients.yml': { clients }, 'tokens/ethereum/local.json': JSON.stringify(list) },
      },
      undefined,
      { market: { open: (parts) => openMarket(parts, () => nowMs), stop: (market) => market.stop() } },
    )
    rpc = rpcTo(server.rpcUrl)
    provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 })
    await takeAccount(rpc, creator, 10n ** 23n)
    const deadline = (await chainSeconds(rpc)) + 3600
    for (const name of names) {
      const { data } = await new ContractFactory(oddToken.abi, oddToken.bytecode).getDeployTransaction(name, name, odd[name].decimals)
      await sendFrom(rpc, creator, { data })
    }
    const routers = Object.values(addresses.exchanges).map(({ router: each }) => each)
    for (const name of names) {
      contracts.set(name, new Contract(addressOf[name], oddToken.abi, provider))
      const inPool = raw(name, odd[name].inPool)
      await callTogether(
        rpc,
        creator,
        [creator],
        [
          ...[creator, traders, addressOf[name]].map((holder) => orderOf(name, 'mint', holder, 3n * inPool)),
          ...routers.flatMap((each) => [
            orderOf(name, 'approve', each, MaxUint256),
            {
              to: each,
              data: routerAbi.encodeFunctionData('addLiquidityETH', [addressOf[name], inPool, 0n, 0n, creator, deadline]),
              value: 1_000n * ether,
            },
          ]),
        ],
      )
    }
    const ids = Object.keys(clients).slice(1)
    await newClients(server.certsDir, ids)
    for (const id of ids) opened.set(id, createClient(server.url, server.certsDir, id))
    await done(server.client.post('/evm/wrap', { ...local, address: traders, amount: '100' }))
    for (const token of [...names, 'WETH'])
      await done(server.client.post('/evm/approve', { ...local, address: traders, spender: 'uniswap/v2', token }))
    for (const name of names) await sell('valued', name, '1')
    await sell('lossy', 'ODD', '1')
    for (let seconds = 0; seconds < 120; seconds += 60) {
      nowMs += 60_000
      await server.kernel.services.market.read()
    }
  })
  after(async () => {
    for (const client of opened.values()) client.close()
    provider?.destroy()
    await server?.stop()
  })

  const as = (name: string): Client => opened.get(name) ?? server.client
  const contractOf = (name: Odd): Contract => {
    const contract = contracts.get(name)
    if (!contract) throw new Error(`${name} is not deployed yet.`)
    return contract
  }
  /** The owner of the token sets how it behaves. */
  const tell = async (name: Odd, method: string, ...args: unknown[]) => void (await sendFrom(rpc, creator, orderOf(name, method, ...args)))
  const orderOf = (name: Odd, method: string, ...args: unknown[]) => ({
    to: addressOf[name],
    data: contractOf(name).interface.encodeFunctionData(method, args),
  })
  const raw = (name: Odd, amount: string): bigint => {
    const [whole = '0', part = ''] = amount.split('.')
    return BigInt(whole + part.padEnd(odd[name].decimals, '0').slice(0, odd[name].decimals))
  }
  async function done(answer: Promise<Answer>): Promise<void> {
    const { status, body, text } = await answer
    expect(status, text).to.equal(200)
    await mined(server.client, body.txHash)
  }
  const trade = (client: string, token: Odd, side: 'SELL' | 'BUY', amount: string) =>
    as(client).post('/amm/trade', { ...local, connector: 'uniswap', address: traders, base: token, quote: 'WETH', side, amount })
  const sell = (client: string, token: Odd, amount: string) => trade(client, token, 'SELL', amount)
  const send = (client: string, token: Odd, amount: string) =>
    as(client).post('/evm/send', { ...local, address: traders, to: coldStore, token, amount })
  const balance = (name: Odd, of = traders): Promise<bigint> => contractOf(name).getFunction('balanceOf').staticCall(of)
  const used = async (client: string, limit: string, unit: string): Promise<string> =>
    (await as(client).get('/limits')).body.limits.find(
      (each: { limit: string; unit: string }) => each.limit === limit && each.unit === unit,
    )?.used
  /** Of the wallet, by events: to others than those who take fees. */
  async function outflow(token: string, from: number): Promise<bigint> {
    const logs = await provider.getLogs({
      fromBlock: from,
      toBlock: 'latest',
      address: token,
      topics: [id('Transfer(address,address,uint256)'), zeroPadValue(traders, 32)],
    })
    return logs.filter(({ topics }) => !topics[2]?.endsWith('dead')).reduce((sum, { data }) => sum + BigInt(data), 0n)
  }
  /** What was signed is final, so that all is counted as it was. */
  async function settled(): Promise<void> {
    const open = async () =>
      (await server.client.get('/transactions', { ...local, limit: '20' })).body.transactions.filter(
        (each: { final: boolean }) => !each.final,
      )
    for (const endsAt = Date.now() + 180_000; (await open()).length > 0;) {
      if (Date.now() > endsAt) throw new Error(JSON.stringify(await open()))
      await rpc('anvil_mine', '0x2')
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }

  it('give no more than the limits, whatever they do', async () => {
    const pair = await new Contract(
      addresses.exchanges.uniswap.factory,
      ['function getPair(address,address) view returns (address)'],
      provider,
    ).getFunction('getPair')(addressOf.ODD, addresses.tokens.WETH.address)
    await tell('ODD', 'act', addressOf.ODD, routerAbi.encodeFunctionData('approve', [router, MaxUint256]))
    const from = (await provider.getBlockNumber()) + 1
    const sale = routerAbi.encodeFunctionData('swapExactTokensForTokens', [
      ether,
      0n,
      [addressOf.ODD, addresses.tokens.WETH.address],
      addressOf.ODD,
      MaxUint256,
    ])
    const ways: readonly (() => Promise<void>)[] = [
      // So that its transfers are known to be exact.
      async () => {},
      () => tell('ODD', 'tax', 10n, 0n, true),
      () => tell('ODD', 'tax', 10n, 0n, false),
      () => tell('ODD', 'tax', 0n, 10n, true),
      () => tell('ODD', 'tax', 0n, 10n, false),
      async () => tell('ODD', 'rebase', traders, (await balance('ODD')) / 2n),
      async () => tell('ODD', 'rebase', traders, (await balance('ODD')) * 3n),
      async () => tell('ODD', 'rebase', pair, (await balance('ODD', pair)) + ether),
      () => tell('ODD', 'callBack', pair, pairAbi.encodeFunctionData('sync')),
      () => tell('ODD', 'callBack', router, sale),
    ]
    const outcomes: string[] = []
    for (const way of ways) {
      await way()
      const shares = { connector: 'uniswap', tokens: ['ODD', 'WETH'], amounts: ['0.1'] }
      const answers = await Promise.all([
        sell('bot', 'ODD', '0.4'),
        trade('bot', 'ODD', 'BUY', '0.2'),
        send('bot', 'ODD', '0.2'),
        as('bot').post('/amm/shares/add', { ...local, address: traders, ...shares }),
      ])
      outcomes.push(...answers.map(outcome))
      await settled()
      await tell('ODD', 'tax', 0n, 0n, false)
      await tell('ODD', 'callBack', ZeroAddress, '0x')
    }
    for (const side of ['SELL', 'BUY'] as const)
      for (let last = ''; last !== '403 LIMIT_EXCEEDED';) {
        last = outcome(await trade('bot', 'ODD', side, '1'))
        outcomes.push(last)
        expect(outcomes).to.have.length.below(100)
      }
    await settled()
    for (const each of outcomes) expect(each).to.match(/^(200|403 LIMIT_EXCEEDED|422 [A-Z_]+|404 TOKEN_NOT_SUPPORTED)$/)
    const given = [await outflow(addressOf.ODD, from), await outflow(addresses.tokens.WETH.address, from)]
    expect(given[0] !== undefined && given[0] <= 10n * ether && given[0] > 8n * ether, `${given.join()} ${outcomes.join()}`).to.equal(true)
    expect(given[1] !== undefined && given[1] <= ether && given[1] > ether / 2n, `${given.join()} ${outcomes.join()}`).to.equal(true)
  })

  it('that take more from the sender than was asked are counted with it, where their events tell', async () => {
    await done(sell('taxed', 'ODD', '0.1'))
    await tell('ODD', 'tax', 0n, 50n, true)
    const before = await balance('ODD')
    const sent = [await sell('taxed', 'ODD', '1'), await send('taxed', 'ODD', '1')]
    expect(sent.map(outcome)).to.deep.equal(['200', '200'])
    await settled()
    await tell('ODD', 'tax', 0n, 0n, false)
    expect(before - (await balance('ODD'))).to.equal(3n * ether)
    expect(await used('taxed', 'tokens.perDay', 'ODD')).to.equal('3.1')
  })

  it('of 0 and 36 decimals are counted to the last unit, by token and by value', async () => {
    const before = [await balance('NIL'), await balance('WIDE')]
    const refused = async (answer: Promise<Answer>, left: string) => {
      const { text, ...rest } = await answer
      expect(outcome({ text, ...rest }), text).to.equal('403 LIMIT_EXCEEDED')
      expect(rest.body.details).to.include({ limit: 'tokens.perDay', left })
    }
    await done(sell('exact', 'NIL', '3'))
    await refused(sell('exact', 'NIL', '8'), '7')
    expect(outcome(await sell('exact', 'NIL', '0.5'))).to.match(/^400 /)
    await done(send('exact', 'NIL', '7'))
    await refused(send('exact', 'NIL', '1'), '0')
    await done(sell('exact', 'WIDE', '0.000006'))
    await refused(sell('exact', 'WIDE', '0.000004000000000000000000000000000001'), '0.000004')
    await done(send('exact', 'WIDE', '0.000004'))
    await refused(send('exact', 'WIDE', '0.000000000000000000000000000000000001'), '0')
    expect((before[0] ?? 0n) - (await balance('NIL'))).to.equal(10n)
    expect((before[1] ?? 0n) - (await balance('WIDE'))).to.equal(10n ** 31n)
    // Each is worth a thousand dollars.
    for (const [name, amount] of [
      ['NIL', '1000'],
      ['WIDE', '0.000001'],
    ] as const) {
      const usedBefore = Number(await used('valued', 'value.perDay', 'reference token'))
      await done(send('valued', name, amount))
      expect(Number(await used('valued', 'value.perDay', 'reference token')) - usedBefore, name).to.be.closeTo(1000, 15)
    }
  })

  it('that keep most of what is bought are counted as lost, and then nothing more is bought', async () => {
    await done(trade('lossy', 'ODD', 'BUY', '0.1'))
    await tell('ODD', 'tax', 90n, 0n, true)
    await done(trade('lossy', 'ODD', 'BUY', '1'))
    await settled()
    expect(Number(await used('lossy', 'maxDailyLoss', 'reference token'))).to.be.closeTo(900, 30)
    const refused = await trade('lossy', 'ODD', 'BUY', '0.1')
    expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
  })
})

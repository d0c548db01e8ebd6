// Markets of which one contract is broken: the others are answered, and the answer says what it lacks. No sum is told without a part of it.
import { expect } from 'chai'
import { Interface } from 'ethers'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { markets as perpMarkets } from '../../plugins/perp/index.ts'
import type { Answer, Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { brokenContracts, withContract } from './broken-contracts.ts'
import { local, mined, oneChain, outcome, traders } from './shared-server.ts'

describe('a broken market', function () {
  this.timeout(300_000)
  let server: TestServer
  let client: Client
  let rpc: Rpc
  before(async () => {
    server = await startServer(oneChain)
    client = server.client
    rpc = rpcTo(server.rpcUrl)
  })
  after(() => server?.stop())

  async function made(path: string, fields: object): Promise<void> {
    const answer = await client.post(path, fields)
    expect(outcome(answer), answer.text).to.equal('200')
    await mined(client, answer.body.txHash)
  }

  describe('that trades perpetuals', () => {
    const perp = { ...local, connector: 'perp' }
    const [eth, btc] = ['ETH', 'BTC'].map((base) => ({ base, quote: 'USD' }))
    const [, btcToken = ''] = perpMarkets['ethereum/local'] ?? []
    const get = (verb: string, fields: object = {}): Promise<Answer> => client.get(`/perpAMM/${verb}`, { ...perp, ...fields })
    const wallet = { wallet_address: traders }
    let btcPool: string

    before(async () => {
      await made('/evm/approve', { ...local, address: traders, spender: 'perp', token: 'USDC' })
      await made('/perpAMM/deposit', { ...perp, address: traders, token: 'USDC', amount: '5000' })
      const order = { ...perp, address: traders, side: 'LONG', margin: '500', leverage: '5' }
      await made('/perpAMM/open', { ...order, ...eth, amount: '0.5' })
      await made('/perpAMM/open', { ...order, ...btc, amount: '0.01' })
      const { body } = await client.get('/connector/config', { connector: 'perp' })
      const house = body.contractAddresses.local.routerAddress
      const view = new Interface([
        'function getExchange() view returns (address)',
        'function getMarketRegistry() view returns (address)',
        'function getPool(address) view returns (address)',
      ])
      const ask = async (to: string, name: string, args: string[] = []): Promise<string> =>
        view.decodeFunctionResult(name, String(await rpc('eth_call', { to, data: view.encodeFunctionData(name, args) }, 'latest')))[0]
      btcPool = await ask(await ask(await ask(house, 'getExchange'), 'getMarketRegistry'), 'getPool', [btcToken])
    })

    for (const [name, code] of Object.entries(brokenContracts))
      for (const what of ['base token', 'pool'])
        it(`takes nothing from the others where its ${what} ${name}`, async () => {
          const before = {
            margin: (await get('margin', wallet)).body.margin,
            position: (await get('position', { ...wallet, ...eth })).body,
          }
          await withContract(rpc, what === 'pool' ? btcPool : btcToken, code, async () => {
            expect((await get('pairs')).body.pairs).to.deep.equal(['ETHUSD', 'BTCUSD'])
            for (const verb of ['market-prices', 'market-status']) expect(outcome(await get(verb, eth)), verb).to.equal('200')
            expect(outcome(await get('price', { ...eth, side: 'LONG', amount: '0.1' }))).to.equal('200')

            const funding = await get('funding', wallet)
            expect(outcome(funding), funding.text).to.equal('200')
            const tickers = funding.body.funding.map((each: { tickerSymbol: string }) => each.tickerSymbol)
            expect(tickers).to.include('ETHUSD')

            const margin = await get('margin', wallet)
            expect(outcome(margin), margin.text).to.equal('200')
            const position = await get('position', { ...wallet, ...eth })
            expect(outcome(position), position.text).to.equal('200')
            const { leverage, liquidationPrice, pendingFundingPayment: _, ...own } = position.body.position
            const { leverage: __, liquidationPrice: ___, pendingFundingPayment: ____, ...ownBefore } = before.position.position
            expect(own).to.deep.equal(ownBefore)
            expect(leverage ?? liquidationPrice).to.equal(undefined)
            // The price of what is long there does not matter for what the account owes.
            const { initialMargin, ...sums } = before.margin
            expect(margin.body.margin).to.deep.equal({ initialMargin })
            for (const [body, fields] of [
              [margin.body, Object.keys(sums)],
              [position.body, ['leverage', 'liquidationPrice']],
            ] as const) {
              expect(body.unavailable.map(({ pair }: { pair: string }) => pair)).to.deep.equal(['BTCUSD'])
              for (const field of fields) expect(body.unavailable[0].reason).to.contain(field)
            }
            const balance = await get('balance', { address: traders })
            expect(outcome(balance), balance.text).to.equal('422 PRICE_FAILED')
            expect(balance.body.message).to.contain('BTCUSD')
            const taken = await client.post('/perpAMM/withdraw', { ...perp, address: traders, token: 'USDC', amount: '1' })
            expect(outcome(taken), taken.text).to.equal('422 PRICE_FAILED')
            expect(taken.body.message).to.contain('BTCUSD')
            // The exchange takes deposits all the same.
            await made('/perpAMM/deposit', { ...perp, address: traders, token: 'USDC', amount: '1' })
          })
          const after = await get('margin', wallet)
          expect(after.body.margin).to.have.all.keys(Object.keys(before.margin))
          expect(after.body).to.not.have.property('unavailable')
        })

    it('leaves no figure of the account where it is short there', async () => {
      const order = { ...perp, address: traders, side: 'SHORT', margin: '500', leverage: '5' }
      await made('/perpAMM/open', { ...order, ...btc, amount: '0.02' })
      for (const name of ['is gone', 'returns a megabyte'] as const)
        await withContract(rpc, btcToken, brokenContracts[name], async () => {
          const { body, text } = await get('margin', wallet)
          expect(body.margin, text).to.deep.equal({})
          expect(body.unavailable[0]).to.include({ pair: 'BTCUSD' })
        })
    })

    it('takes no blame where the exchange itself does not answer', async () => {
      const { body } = await client.get('/connector/config', { connector: 'perp' })
      await withContract(rpc, body.contractAddresses.local.vaultAddress, brokenContracts['is gone'], async () => {
        expect(outcome(await get('margin', wallet))).to.equal('422 PRICE_FAILED')
      })
    })
  })

  describe('that has an order book', () => {
    const oasis = { ...local, connector: 'oasis' }
    const weth = { market: 'WETH-USDC' }
    const get = (path: string, fields: object = {}): Promise<Answer> => client.get(`/clob/${path}`, { ...oasis, ...fields })
    let contract: string
    before(async () => {
      const { body } = await client.get('/connector/config', { connector: 'oasis' })
      contract = body.contractAddresses.local.routerAddress
    })

    // The first requests of all: nothing is known of the contract yet.
    for (const [name, code] of Object.entries(brokenContracts))
      it(`names its address where the contract of all ${name}`, () =>
        withContract(rpc, contract, code, async () => {
          for (const [path, fields] of [
            ['markets', {}],
            ['ticker', {}],
            ['orderBook', weth],
            ['orders', { address: traders }],
            ['balances', { address: traders }],
          ] as const) {
            const answer = await get(path, fields)
            expect(outcome(answer), `${path}: ${answer.text}`).to.equal('503 SERVICE_UNINITIALIZED')
            expect(answer.body.message).to.contain(contract)
          }
        }))

    it('takes nothing from the others where the contract reverts for its tokens', async () => {
      const { body: tokens } = await client.get('/network/tokens', { ...local, tokenSymbols: 'DAI' })
      const copy = '0x00000000000000000000000000000000000c0de1'
      await rpc('anvil_setCode', copy, await rpc('eth_getCode', contract, 'latest'))
      await withContract(rpc, contract, revertsFor(tokens[0].address, copy), async () => {
        const markets = await get('markets')
        expect(outcome(markets), markets.text).to.equal('200')
        expect(markets.body.markets).to.have.property('WETH-USDC')
        expect(Object.keys(markets.body.markets).filter((each) => each.includes('DAI'))).to.deep.equal([])
        expect(markets.body.unavailable.map(({ market }: { market: string }) => market)).to.include('WETH-DAI')
        const ticker = await get('ticker')
        expect(Object.keys(ticker.body.markets), ticker.text).to.include('WETH-USDC')
        expect(outcome(await get('orderBook', weth))).to.equal('200')
        expect(outcome(await get('orders', { ...weth, address: traders }))).to.equal('200')
        // An order that is missing would be taken for one that is over.
        for (const path of ['orders', 'balances']) {
          const all = await get(path, { address: traders })
          expect(outcome(all), all.text).to.equal('503 SERVICE_UNINITIALIZED')
        }
      })
    })
  })
})

/** A contract that reverts where its first or second argument is this address, and else does what the code at another one does. */
function revertsFor(address: string, copy: string): string {
  const isArgument = (offset: string) => `60${offset}3573${address.slice(2)}14606e57`
  const delegate = `3660006000376000600036600073${copy.slice(2)}5af4`
  return `0x${isArgument('04')}${isArgument('24')}${delegate}3d600060003e6069573d6000fd5b3d6000f35b60006000fd`
}

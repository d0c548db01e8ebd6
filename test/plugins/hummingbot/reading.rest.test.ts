import { expect } from 'chai'
import { admins, mined, swap, traders } from '../../http/shared-server.ts'
import { chainNetwork, decimals, numbers, texts, type Bot } from './bot.ts'
import { sharedServer, type SharedServer } from './shared-server.ts'

describe('what bots of Hummingbot read', function () {
  this.timeout(400_000)
  let server: SharedServer
  let bot: Bot
  let trader: Bot
  let idle: Bot

  before(async () => {
    server = await sharedServer()
    bot = server.bots.client
    trader = server.bots.trader
    idle = server.bots.idle
  })

  describe('the service and its configuration', () => {
    it('answers a ping, also of who may read nothing, and a restart that restarts nothing', async () => {
      expect(await idle.get('/')).to.deep.equal({ status: 'ok' })
      expect(await bot.post('/restart')).to.deep.equal({})
      expect(await bot.get('/')).to.deep.equal({ status: 'ok' })
    })

    for (const slash of ['', '/'])
      it(`has chains, networks and connectors at paths ${slash === '' ? 'without' : 'with'} a slash at the end`, async () => {
        const { chains } = await bot.get(`/config/chains${slash}`)
        expect(chains).to.deep.equal([{ chain: 'ethereum', networks: ['mainnet', 'sepolia', 'local'] }])
        const { connectors } = await bot.get(`/config/connectors${slash}`)
        const of = (name: string) => connectors.find((each: { name: string }) => each.name === name)
        expect(of('sluice')).to.deep.include({ chain: 'ethereum', trading_types: ['router'] })
        expect(of('uniswap')).to.deep.equal({
          name: 'uniswap',
          chain: 'ethereum',
          trading_types: ['router', 'clmm', 'amm'],
          networks: ['mainnet', 'sepolia', 'local'],
        })
      })

    it('has what makes a connector of the client ready', async () => {
      const chain = await bot.get('/config', { namespace: 'ethereum' })
      expect(chain).to.include({ defaultNetwork: 'mainnet', defaultWallet: admins })
      expect(await trader.get('/config', { namespace: 'ethereum' })).to.include({ defaultWallet: traders })
      const network = await bot.get('/config/', { namespace: chainNetwork })
      expect(network).to.include({ nativeCurrencySymbol: 'ETH', swapProvider: 'sluice/router' })
      // The data feed of 2.16 asks so.
      expect(await bot.get('/config', { namespace: 'local' })).to.deep.equal({ swapProvider: 'sluice/router' })
      expect(await bot.get('/config', { namespace: 'uniswap' })).to.deep.equal({ slippagePct: 1 })
      expect((await bot.refusal('GET', '/config', { namespace: 'nothing' })).status).to.equal(404)
    })

    it('knows by name what it lists, and shows all of it at once', async () => {
      const { namespaces } = await bot.get('/config/namespaces')
      expect(namespaces).to.include.members(['ethereum', chainNetwork, 'sluice', 'uniswap', 'apiKeys'])
      expect(Object.keys(await bot.get('/config'))).to.deep.equal(namespaces)
    })

    it('says of a path that there is not that it is not served, which is no proof that a position is gone', async () => {
      const { status, body } = await bot.refusal('GET', '/trading/clmm/fetch-pools', { chainNetwork })
      expect([status, body.error]).to.deep.equal([501, 'Not Implemented'])
    })

    it('tells a client of another generation that this is not the one it speaks', async () => {
      for (const [method, path, of] of [
        ['POST', '/amm/price', 'up to 1.17'],
        ['GET', '/network/status', 'up to 1.17'],
        ['POST', '/amm/liquidity/add', 'up to 1.17'],
        ['POST', '/chain/balances', '1.18 to 2.2'],
        ['POST', '/ethereum/approve', '2.3 to 2.5'],
        ['GET', '/connectors/uniswap/clmm/quote-swap', 'before 2.16'],
        ['POST', '/connectors/uniswap/amm/execute-swap/', 'before 2.16'],
      ] as const) {
        const { status, body } = await bot.refusal(method, path, { network: 'local' })
        expect([status, body.code], path).to.deep.equal([501, undefined])
        expect(body.message).to.contain(of)
      }
    })
  })

  describe('wallets', () => {
    it('are those that the certificate may use, for all chains of EVM together', async () => {
      const [all, ...others] = await bot.get('/wallet', { showHardware: 'true' })
      expect([all.chain, others]).to.deep.equal(['ethereum', []])
      expect(all.walletAddresses).to.include.members([admins, traders])
      expect(await trader.get('/wallet/')).to.deep.equal([{ chain: 'ethereum', walletAddresses: [traders], hardwareWalletAddresses: [] }])
    })

    it('take no key over the network, and say what to do instead', async () => {
      const key = `0x${'12'.repeat(32)}`
      const { status, body } = await bot.refusal('POST', '/wallet/add', { chain: 'ethereum', privateKey: key, setDefault: true })
      expect(status).to.equal(403)
      expect(body.message).to.contain('sluice wallet add').and.not.contain(key)
      expect((await bot.refusal('DELETE', '/wallet/remove', { chain: 'ethereum', address: admins })).status).to.equal(403)
    })
  })

  describe('a chain', () => {
    it('has a status and the cost of gas, as numbers', async () => {
      const status = await bot.get('/chains/ethereum/status', { network: 'local' })
      expect(status).to.include({ chain: 'ethereum', network: 'local', nativeCurrency: 'ETH' })
      numbers(status, 'currentBlockNumber')
      const gas = await bot.get('/chains/ethereum/estimate-gas', { network: 'local' })
      numbers(gas, 'fee', 'feePerComputeUnit', 'computeUnits', 'timestamp')
      expect(gas.fee).to.be.above(0).and.below(0.01)
      expect(gas.feeAsset).to.equal('ETH')
    })

    it('tells balances as numbers, never above what is there, of the tokens that are named or of all', async () => {
      // What other tests left of it is not known, and a token of which nothing is there is not among all.
      const { body } = await server.client.post('/evm/wrap', { chain: 'ethereum', network: 'local', address: traders, amount: '0.01' })
      await mined(server.client, body.txHash)
      const { balances } = await bot.post('/chains/ethereum/balances', { network: 'local', address: traders, tokens: ['WETH', 'ETH'] })
      expect(Object.keys(balances)).to.deep.equal(['WETH', 'ETH'])
      numbers(balances, 'WETH', 'ETH')
      const all = (await trader.post('/chains/ethereum/balances', { network: 'local' })).balances
      expect(all).to.include.keys('ETH', 'WETH', 'USDC')
      expect((await trader.refusal('POST', '/chains/ethereum/balances', { network: 'local', address: admins })).status).to.equal(403)
    })

    it('tells allowances of a connector, also with its type behind the name', async () => {
      const request = { network: 'local', address: traders, tokens: ['WETH'] }
      const answer = await bot.post('/chains/ethereum/allowances', { ...request, spender: 'uniswap/router' })
      texts(answer, 'spender')
      decimals(answer.approvals, 'WETH')
      expect(await bot.post('/chains/ethereum/allowances', { ...request, spender: 'uniswap' })).to.deep.equal(answer)
    })

    for (const [theirs, own] of [
      ['uniswap/clmm', 'uniswap/positions'],
      ['uniswap/clmm/swap', 'uniswap'],
      ['uniswap/amm', 'uniswap/v2'],
      ['uniswap/v4Positions', 'uniswap/v4Positions'],
      ['pancakeswap/clmm', 'pancakeswap/positions'],
    ] as const)
      it(`takes ${theirs} for the spender that their own gateway means by it`, async () => {
        const answer = await bot.post('/chains/ethereum/allowances', {
          network: 'local',
          address: admins,
          tokens: ['WETH'],
          spender: theirs,
        })
        const asked = { chain: 'ethereum', network: 'local', address: admins, tokenSymbols: ['WETH'], spender: own }
        const { spender, approvals } = (await server.client.post('/evm/allowances', asked)).body
        expect(answer).to.deep.equal({ spender, approvals })
        texts(answer, 'spender')
      })

    it('tells what became of a transaction', async () => {
      const { body } = await server.client.post('/evm/wrap', { chain: 'ethereum', network: 'local', address: traders, amount: '0.01' })
      const poll = () => bot.post('/chains/ethereum/poll', { network: 'local', signature: body.txHash })
      let last = await poll()
      for (let tries = 0; last.txStatus === 0 && tries < 1_000; tries++) {
        expect(last.error).to.equal(null)
        await new Promise((resolve) => setTimeout(resolve, 50))
        last = await poll()
      }
      expect(last).to.include({ signature: body.txHash, txStatus: 1, error: null })
      expect(last.fee).to.be.above(0).and.below(0.01)
      const unknown = await bot.post('/chains/ethereum/poll', { network: 'local', signature: `0x${'ab'.repeat(32)}` })
      expect(unknown).to.include({ txStatus: -2, fee: null, error: null })
      expect(await bot.post('/chains/ethereum/poll', { network: 'local', signature: 'x' })).to.include({ txStatus: -2, error: null })
    })
  })

  describe('tokens and pools', () => {
    it('list the tokens of a network, by one word or by two', async () => {
      const { tokens } = await bot.get('/tokens', { chainNetwork })
      expect(tokens.length).to.be.above(3)
      for (const token of tokens) {
        texts(token, 'symbol', 'address', 'name')
        numbers(token, 'decimals')
      }
      expect((await bot.get('/tokens/', { chain: 'ethereum', network: 'local' })).tokens).to.deep.equal(tokens)
      expect((await bot.get('/tokens', { chainNetwork, search: 'usdc' })).tokens).to.have.length(1)
    })

    it('find a token by its symbol or address', async () => {
      const { token } = await bot.get('/tokens/WETH', { chainNetwork })
      expect((await bot.get(`/tokens/${token.address}`, { chainNetwork })).token).to.deep.equal(token)
      expect(await bot.get(`/tokens/find/${token.address}`, { chainNetwork })).to.deep.equal(token)
      const { status, body } = await bot.refusal('GET', '/tokens/NOPE', { chainNetwork })
      expect([status, body.code]).to.deep.equal([404, 'INVALID_PARAMS'])
    })

    it('save a token only with the permission for it', async () => {
      const { token } = await bot.get('/tokens/WETH', { chainNetwork })
      expect((await bot.refusal('POST', `/tokens/save/${token.address}?chainNetwork=${chainNetwork}`)).status).to.equal(403)
    })

    it('find pools by pair, type and address', async () => {
      const [first] = await bot.get('/pools', { chainNetwork, search: 'WETH-USDC', connector: 'uniswap' })
      texts(first, 'connector', 'type', 'network', 'baseSymbol', 'quoteSymbol', 'baseTokenAddress', 'quoteTokenAddress', 'address')
      decimals(first, 'feePct')
      expect([first.baseSymbol, first.quoteSymbol]).to.deep.equal(['WETH', 'USDC'])
      for (const type of ['clmm', 'amm']) {
        const pool = await bot.get('/pools/WETH-USDC', { chainNetwork, connector: 'uniswap', type })
        expect(pool).to.include({ connector: 'uniswap', type })
        expect((await bot.get(`/pools/find/${pool.address}`, { chainNetwork })).address).to.equal(pool.address)
        expect((await bot.post(`/pools/save/${pool.address}?chainNetwork=${chainNetwork}`)).pool.address).to.equal(pool.address)
      }
      expect((await bot.refusal('GET', '/pools/WETH-USDC', { chainNetwork, connector: 'curve', type: 'clmm' })).status).to.equal(404)
    })
  })

  describe('quotes', () => {
    const pair = { chainNetwork, baseToken: 'WETH', quoteToken: 'USDC' }

    for (const side of ['SELL', 'BUY'] as const)
      it(`of a ${side} are decimals as text, exact in the amount, within the slippage`, async () => {
        const extras = { slippagePct: '0.05', approximateIfNoExactOut: 'true', walletAddress: admins }
        const quote = await bot.get('/trading/router/quote-swap', { ...pair, amount: '1E-2', side, ...extras })
        decimals(quote, 'price', 'amountIn', 'amountOut', 'minAmountOut', 'maxAmountIn', 'priceImpactPct')
        texts(quote, 'tokenIn', 'tokenOut', 'routePath')
        expect(Number(side === 'SELL' ? quote.amountIn : quote.amountOut)).to.equal(0.01)
        const worse = side === 'SELL' ? quote.minAmountOut / quote.amountOut : quote.amountIn / quote.maxAmountIn
        expect(worse).to.be.within(0.9995 - 1e-6, 1)
        expect(JSON.stringify(quote)).not.to.contain('null')
      })

    it('of the connector sluice, and without one, are the best of all; of another they are its own', async () => {
      const ask = { ...pair, amount: '0.01', side: 'SELL' }
      const best = (await server.client.get('/amm/price', { ...swap, connector: 'any', amount: '0.01' })).body
      for (const query of [ask, { ...ask, connector: 'sluice' }, { ...ask, connector: 'sluice/router' }])
        expect(await bot.get('/trading/router/quote-swap', query)).to.include({ price: best.price })
      const own = (await server.client.get('/amm/price', { ...swap, amount: '0.01' })).body
      expect(await bot.get('/trading/router/quote-swap', { ...ask, connector: 'uniswap' })).to.include({ price: own.price })
    })

    it('go through one pool, or pools of one type', async () => {
      for (const type of ['clmm', 'amm']) {
        const { address } = await bot.get('/pools/WETH-USDC', { chainNetwork, connector: 'uniswap', type })
        const ask = { ...pair, connector: 'uniswap', amount: '0.01', side: 'SELL' }
        const quote = await bot.get(`/trading/${type}/quote-swap`, { ...ask, poolAddress: address })
        expect(quote.routePath).to.contain(address)
        expect(quote.poolAddress).to.equal(address)
        const { routePath } = await bot.get(`/trading/${type}/quote-swap`, ask)
        expect(routePath).to.match(type === 'amm' ? /^v2:0x\w+( → v2:0x\w+)*$/ : /^(v3:0x\w+( → v3:0x\w+)*|v4:0x\w+( → v4:0x\w+)*)$/)
        const other = type === 'amm' ? 'clmm' : 'amm'
        const wrong = await bot.refusal('GET', `/trading/${other}/quote-swap`, { ...ask, poolAddress: address })
        expect([wrong.status, wrong.body.code]).to.deep.equal([400, 'INVALID_PARAMS'])
      }
      expect((await bot.refusal('GET', '/trading/amm/quote-swap', { ...pair, amount: '1', side: 'SELL' })).status).to.equal(400)
    })

    it('are numbers for clients of 2.16, at the path that they ask', async () => {
      const quote = await bot.get('/trading/swap/quote', { ...pair, connector: 'uniswap/clmm', amount: '0.01', side: 'BUY' })
      numbers(quote, 'price', 'amountIn', 'amountOut', 'minAmountOut', 'maxAmountIn', 'priceImpactPct')
    })

    it('that there are none of are refused with what the client knows', async () => {
      const ask = { ...pair, amount: '0.01', side: 'SELL' }
      const refused = async (query: object) => {
        const { status, body } = await bot.refusal('GET', '/trading/router/quote-swap', query)
        return [status, body.code]
      }
      expect(await refused({ ...ask, side: 'BUY', amount: '100000000000' })).to.deep.equal([422, 'NO_ROUTE_FOUND'])
      expect(await refused({ ...ask, quoteToken: 'NOPE' })).to.deep.equal([404, 'INVALID_PARAMS'])
      expect(await refused({ ...ask, chainNetwork: 'ethereum-nowhere' })).to.deep.equal([400, 'INVALID_PARAMS'])
      expect(await refused({ ...ask, amount: 'much' })).to.deep.equal([400, 'INVALID_PARAMS'])
    })
  })

  it('is closed to a certificate that may read nothing', async () => {
    for (const [path, query] of [
      ['/wallet', {}],
      ['/tokens', { chainNetwork }],
      ['/trading/router/quote-swap', { chainNetwork, baseToken: 'WETH', quoteToken: 'USDC', amount: '1', side: 'SELL' }],
    ] as const)
      expect((await idle.refusal('GET', path, query)).status, path).to.equal(403)
  })
})

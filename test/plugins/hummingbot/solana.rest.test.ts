import { expect } from 'chai'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { realProgram } from '../../../tools/solana-node/programs/real.ts'
import { oneChain } from '../../http/shared-server.ts'
import { botsOf, decimals, numbers, texts, type Bot } from './bot.ts'

/** As Hummingbot's clients name it, in 2.17 and in 2.16. Here it is the devnet's. */
const chainNetwork = 'solana-mainnet-beta'
const network = 'mainnet-beta'
/** The devnet's. */
const wallet = '49oRR1gxxcMVqr7TVZrV7G6KdBkGq6oc6oomQ3oC6yF1'
const pair = { chainNetwork, baseToken: 'BASE', quoteToken: 'USDC' }
/** The programs of the others are their authors': each is left out where no folder has it. */
const others = [
  ['raydium', realProgram('raydium_cp_swap')],
  ['meteora', realProgram('cp_amm')],
] as const
const missing = new Map(others.flatMap(([name, found]) => ('missing' in found ? [[name, found.missing] as const] : [])))
const connectors = ['poolswap', 'raydium', 'meteora'] as const
const here: readonly string[] = connectors.filter((name) => name === 'poolswap' || !missing.has(name))

describe('Solana for bots of Hummingbot', function () {
  this.timeout(300_000)
  let server: TestServer
  let bot: Bot
  const { botOf, close } = botsOf(() => server)

  before(async () => {
    const disabled = oneChain.settings['plugins.disabled'].filter((name) => !['solana', ...here].includes(name))
    server = await startServer({
      settings: { 'plugins.disabled': disabled },
      conf: { ...oneChain.conf, 'interfaces/hummingbot.yml': { port: 0, networks: { [chainNetwork]: 'solana/local' } } },
    })
    bot = botOf()
  })
  after(async () => {
    close()
    await server?.stop()
  })

  it('makes a connector of the client ready: chain, wallet, coin, provider, gas and tokens', async () => {
    const { chains } = await bot.get('/config/chains')
    expect(chains.find(({ chain }: { chain: string }) => chain === 'solana').networks).to.include(network)
    const ofSolana = (await bot.get('/wallet')).find(({ chain }: { chain: string }) => chain === 'solana')
    expect(ofSolana.walletAddresses[0]).to.equal(wallet)
    expect(await bot.get('/config', { namespace: 'solana' })).to.include({ defaultNetwork: network, defaultWallet: wallet })
    expect(await bot.get('/config', { namespace: chainNetwork })).to.include({ nativeCurrencySymbol: 'SOL', swapProvider: 'sluice/router' })
    const status = await bot.get('/chains/solana/status', { network })
    expect(status).to.include({ chain: 'solana', network, nativeCurrency: 'SOL' })
    numbers(status, 'currentBlockNumber')
    const gas = await bot.get('/chains/solana/estimate-gas', { network })
    expect(gas).to.include({ feeAsset: 'SOL', denomination: 'lamports' })
    numbers(gas, 'fee', 'feePerComputeUnit', 'computeUnits')
    const { tokens } = await bot.get('/tokens', { chainNetwork })
    expect(tokens.map(({ symbol }: { symbol: string }) => symbol)).to.include.members(['SOL', 'USDC', 'BASE'])
    for (const token of tokens) numbers(token, 'decimals')
    const { connectors: listed } = await bot.get('/config/connectors')
    for (const name of ['sluice', ...here]) {
      const shown = listed.find((each: { name: string; chain: string }) => each.name === name && each.chain === 'solana')
      expect(shown.networks, name).to.include(network)
    }
  })

  it('tells balances as numbers, and 0 or -2 of what is not there', async () => {
    const { balances } = await bot.post('/chains/solana/balances', { network, address: wallet, tokens: ['SOL', 'USDC', 'BASE'] })
    numbers(balances, 'SOL', 'USDC', 'BASE')
    expect(balances.USDC).to.be.above(1_000)
    const { balances: all } = await bot.post('/chains/solana/balances', { network, address: wallet, tokens: [], fetchAll: true })
    expect(all).to.include.keys('SOL', 'USDC', 'BASE')
    const unknown = { network, signature: '5'.repeat(87) }
    expect(await bot.post('/chains/solana/poll', unknown)).to.include({ txStatus: -2, fee: null, error: null })
  })

  for (const connector of connectors) {
    const why = connector === 'poolswap' ? undefined : missing.get(connector)
    const title = `swaps on ${connector} as it is quoted, in both generations`
    ;(why === undefined ? it : it.skip)(why === undefined ? title : `${title} (left out: ${why})`, async () => {
      for (const side of ['SELL', 'BUY'] as const) {
        const quote = await bot.get('/trading/router/quote-swap', { ...pair, connector, side, amount: '2' })
        texts(quote, 'quoteId', 'tokenIn', 'tokenOut')
        expect(quote.routePath).to.match(/^(\w+:)?\w{32,44}/)
        decimals(quote, 'price', 'amountIn', 'amountOut', 'minAmountOut', 'maxAmountIn')
        const body = { ...pair, connector, side, amount: 2, walletAddress: wallet, slippagePct: 0.5 }
        const { signature, status, data } = await bot.post('/trading/router/execute-swap', body)
        expect(status).to.equal(1)
        decimals(data, 'amountIn', 'amountOut', 'fee')
        expect(Number(side === 'SELL' ? data.amountIn : data.amountOut)).to.equal(2)
        expect(data).to.include({ amountIn: quote.amountIn, amountOut: quote.amountOut })
        const poll = await bot.post('/chains/solana/poll', { network, signature })
        expect(poll).to.include({ signature, txStatus: 1, error: null, fee: Number(data.fee) })
      }
      const ofQuote = await bot.get('/trading/router/quote-swap', { ...pair, connector: 'sluice', side: 'SELL', amount: '1' })
      const executed = { chainNetwork, connector: 'sluice', walletAddress: wallet, quoteId: ofQuote.quoteId }
      expect((await bot.post('/trading/router/execute-quote', executed)).status).to.equal(1)
      const older = { ...pair, connector: `${connector}/router`, side: 'SELL', amount: '1' }
      numbers(await bot.get('/trading/swap/quote', older), 'price', 'amountIn', 'amountOut')
      expect((await bot.post('/trading/swap/execute', { ...older, walletAddress: wallet })).status).to.equal(1)
    })
  }

  it('refuses in clear words what it does not have there: pools with ranges, and the wrapped coin', async () => {
    const swap = { ...pair, connector: 'poolswap', side: 'SELL', amount: 1 }
    const ranges = await bot.refusal('GET', '/trading/clmm/quote-swap', swap)
    expect([ranges.status, ranges.body.code]).to.deep.equal([400, 'INVALID_PARAMS'])
    expect(ranges.body.message).to.match(/the pool \w+ has the type amm, not clmm/)
    const open = { chainNetwork, connector: 'poolswap', poolAddress: wallet, lowerPrice: 1, upperPrice: 2, baseTokenAmount: 1 }
    const opened = await bot.refusal('POST', '/trading/clmm/open', { ...open, quoteTokenAmount: 1, walletAddress: wallet })
    expect([opened.status, opened.body.message]).to.deep.equal([
      501,
      'The connector poolswap has no trading type AMM_RANGE; GET /plugins shows what it has.',
    ])
    const wrapped = await bot.refusal('POST', '/chains/solana/wrap', { network, address: wallet, amount: '1' })
    expect([wrapped.status, wrapped.body.message]).to.deep.equal([
      501,
      'solana-mainnet-beta is no network of EVM: there is nothing to wrap before a swap, which takes and pays the coin itself. Nothing was signed.',
    ])
    const unwrapped = await bot.refusal('POST', '/chains/solana/unwrap', { network, address: wallet })
    const approval = { chainNetwork, address: wallet, spender: 'poolswap', token: 'BASE' }
    const approved = await bot.refusal('POST', '/chains/ethereum/approve', approval)
    const allowed = await bot.refusal('POST', '/chains/ethereum/allowances', { ...approval, tokens: ['BASE'] })
    for (const { status, body } of [unwrapped, approved, allowed]) {
      expect(status, body.message).to.equal(501)
      expect(body.message).to.contain('solana-mainnet-beta is no network of EVM').and.not.to.contain('/evm')
    }
  })
})

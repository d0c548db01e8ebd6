import { expect } from 'chai'
import { JsonRpcProvider, Wallet } from 'ethers'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { abi, acting, all, makeKeyedPools, modes } from '../plugins/uniswap/v4-keyed-pools.ts'
import { walkAnswers } from './answers-of-a-block.ts'
import { local, oneChain, outcome } from './shared-server.ts'

// Account 0 of anvil's well-known mnemonic.
const traderKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

describe('several amounts while blocks come', function () {
  this.timeout(300_000)
  let server: TestServer
  let mining = true
  let pauseMs = 20
  let mined: Promise<void> | undefined
  before(async () => {
    server = await startServer({
      ...oneChain,
      conf: { ...oneChain.conf, 'connectors/uniswap.yml': { v4Pools: { 'ethereum/local': all } } },
    })
    const provider = new JsonRpcProvider(server.rpcUrl, 31337, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 30 })
    const trader = new Wallet(traderKey, provider)
    await makeKeyedPools(provider, trader)
    // It gives another price in each block.
    await (await trader.sendTransaction({ to: acting.hooks, data: abi.encodeFunctionData('set', [modes.byBlock, 2_500]) })).wait()
    provider.destroy()
    const rpc = rpcTo(server.rpcUrl)
    mined = (async () => {
      while (mining) {
        await rpc('evm_mine')
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    })()
  })
  after(async () => {
    mining = false
    await mined
    await server?.stop()
  })

  const amounts = ['0.001', '0.002', '0.005', '0.01', '0.02', '0.05', '0.1', '0.2']
  const weth = { base: 'WETH', quote: 'USDC' }
  for (const [what, fields] of [
    ['of Algebra 1.0', { ...weth, connector: 'quickswap-v3' }],
    ['of Algebra Integral', { ...weth, connector: 'camelot-v4' }],
    ['of constant products', { ...weth, connector: 'sushiswap' }],
    ['of all connectors', { ...weth, connector: 'any' }],
    ['of v4 with a pool whose hooks act', { base: 'WBTC', quote: 'DAI', connector: 'uniswap', version: 'v4' }],
  ] as const)
    for (const side of ['SELL', 'BUY'])
      it(`${what} are all of one block: ${side}`, async () => {
        const blocks = new Set<number>()
        // Until blocks came meanwhile.
        for (let tries = 0; tries < 10 || blocks.size < 3; tries += 1) {
          const answer = await server.client.post('/amm/price', { ...local, ...fields, side, amounts })
          if (outcome(answer) === '503 NETWORK' && pauseMs < 1_000) {
            // Too fast for this machine.
            pauseMs *= 2
            continue
          }
          expect(outcome(answer), answer.text).to.equal('200')
          const { quotes, blockNumber } = answer.body
          expect(quotes).to.have.length(amounts.length)
          for (const each of quotes) expect(each, JSON.stringify(each)).to.include({ blockNumber })
          blocks.add(blockNumber)
        }
      })

  const answers = Number(process.env['SLUICE_WALK_QUOTES'] ?? 400)
  const seed = Number(process.env['SLUICE_WALK_SEED'] ?? 1)
  it(`are the same at one block, whatever else was asked, from memory or not: ${answers} answers (SLUICE_WALK_QUOTES), seed ${seed} (SLUICE_WALK_SEED)`, async function () {
    this.timeout(120_000 + answers * 100)
    mining = false
    await mined
    const told = await walkAnswers(server, rpcTo(server.rpcUrl), seed, answers)
    if (process.env['SLUICE_WALK_QUOTES']) console.log(`      ${JSON.stringify(told)}`)
    for (const [what, count] of Object.entries(told)) expect(count, what).to.be.above(0)
  })
})

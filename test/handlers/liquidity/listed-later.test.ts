import { expect } from 'chai'
import type { Chain, RangeTerms } from '../../../core/contracts/index.ts'
import type { ConnectorContext } from '../../../core/handlers/context.ts'
import { rangeChangeHandlers } from '../../../core/handlers/amm/range-changes.ts'
import { createTokenBook } from '../../../core/live-state/token-book.ts'
import { canonicalAddress } from '../../../kits/evm/encoding.ts'

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const [weth, odd] = ['0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2', '0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D']
const price = { numerator: 1n, denominator: 1n }
const pool = { address: odd, version: 'v3', token0: odd, token1: weth, fee: 500, liquidity: 1n, price }
const amounts = { amount0Raw: 1n, amount1Raw: 1n }
const bounds = { tickLower: 0, tickUpper: 10, lowerPrice: price, upperPrice: price }
const position = { ...bounds, tokenId: '7', owner: wallet, pool, liquidity: 1n, inRange: true, amounts, unclaimed: amounts }

describe('a position in a token that is put on the list while the server runs', () => {
  it('is changed by a connector that is told so, with the next request', async () => {
    const told: (readonly string[] | undefined)[] = []
    const plan = (...args: readonly unknown[]) => {
      told.push((args.at(-1) as RangeTerms).listed)
      throw new Error('It was told.')
    }
    const impl = { address: canonicalAddress, nativeCurrency: { symbol: 'ETH', address: '0x0', decimals: 18 } } as unknown as Chain
    const tokens = createTokenBook(impl, [{ symbol: 'WETH', address: weth, decimals: 18 }], 'ethereum/mainnet')
    const range = {
      rangeVersions: ['v3'],
      positionManager: odd,
      position: async () => ({ head: { number: 1n, timestamp: 0 }, position }),
      remove: plan,
      collect: plan,
    }
    const context = {
      venue: {
        connector: 'uniswap',
        builtIn: true,
        contracts: [],
        config: { allowedSlippage: '1/100', ttl: 300 },
        impl: { AMM_RANGE: range },
      },
      network: { chain: 'ethereum', network: 'mainnet', impl, tokens },
      signal: AbortSignal.timeout(60_000),
      caller: { id: 'bot' },
      services: { wallets: { all: () => [{ chain: 'ethereum', address: wallet }] }, following: { ageSeconds: () => 0 } },
    } as unknown as ConnectorContext
    const request = { chain: 'ethereum', network: 'mainnet', connector: 'uniswap', address: wallet, tokenId: '7', native: true }
    const { AMMLiquidityRemove: remove, AMMLiquidityCollectFees: collect } = rangeChangeHandlers
    for (const ask of [remove, collect]) expect(await Promise.resolve(ask(request, context)).catch(String)).to.equal('Error: It was told.')
    tokens.add({ symbol: 'ODD', address: odd, decimals: 18 })
    for (const ask of [remove, collect]) expect(await Promise.resolve(ask(request, context)).catch(String)).to.equal('Error: It was told.')
    expect(told).to.deep.equal([[weth], [weth], [odd, weth], [odd, weth]])
  })
})

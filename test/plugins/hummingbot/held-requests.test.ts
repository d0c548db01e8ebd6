import { expect } from 'chai'
import type { InterfaceCall } from '../../../core/contracts/interface.ts'
import { createInterface } from '../../../plugins/hummingbot/interface.ts'
import { newQuoteId } from '../../../plugins/hummingbot/quote-ids.ts'

const waits = { receiptSeconds: 25, positionSeconds: 290, staleSeconds: 2, collectSeconds: 120, quoteSeconds: 300 }
const { paths } = createInterface({
  ...waits,
  networks: { 'ethereum-local': 'ethereum/local' },
  defaultNetworks: { ethereum: 'local' },
  port: 0,
})

/** Of one request: after how many seconds an equal one takes its place, though its connection stands. */
async function staleSecondsOf(path: string, request: Record<string, unknown>): Promise<number | undefined> {
  let asked: number | undefined
  const call = {
    preferences: { read: async () => ({}) },
    once: async ({ staleSeconds }: { staleSeconds: number }) => void (asked = staleSeconds),
    call: async () => ({ token0: 'A', token1: 'B', pool: '0xb', version: 'v3' }),
  } as unknown as InterfaceCall
  await paths.find((each) => each.path === path)?.answer(request, call)
  return asked
}

describe('two equal requests at once of Hummingbot’s clients', () => {
  const on = { chainNetwork: 'ethereum-local', chain: 'ethereum', walletAddress: '0xA', address: '0xA', connector: 'uniswap' }
  const pair = { baseToken: 'WETH', quoteToken: 'USDC', amount: '1', side: 'SELL' }

  const quoteId = newQuoteId({
    chain: 'ethereum',
    network: 'local',
    connector: 'uniswap',
    base: 'WETH',
    quote: 'USDC',
    amount: '1',
    side: 'SELL',
    limitPrice: '1',
  })

  it('stay two for as long as the first may be held to its receipt', async () => {
    for (const [path, request] of [
      ['/trading/router/execute-swap', pair],
      ['/trading/swap/execute', pair],
      ['/trading/router/execute-quote', { quoteId }],
      ['/chains/:chain/wrap', { amount: '1' }],
      ['/chains/:chain/unwrap', { amount: '1' }],
      ['/chains/ethereum/approve', { spender: 'uniswap', token: 'USDC' }],
      ['/trading/amm/add', { poolAddress: '0xb', baseTokenAmount: '1', quoteTokenAmount: '1' }],
      ['/trading/amm/remove', { poolAddress: '0xb', percentageToRemove: '50' }],
      ['/trading/clmm/add', { positionAddress: 'v3:7', baseTokenAmount: '1' }],
      ['/trading/clmm/remove', { positionAddress: 'v3:7', percentageToRemove: '50' }],
      ['/trading/clmm/collect-fees', { positionAddress: 'v3:7' }],
    ] as const)
      expect(await staleSecondsOf(path, { ...on, ...request }), path).to.be.above(waits.receiptSeconds)
  })
})

import { expect } from 'chai'
import type { JournaledTransaction } from '../../core/api/index.ts'
import { transactionTable } from '../../core/cli/tx-table.ts'

const txHash = `0x${'ab'.repeat(32)}`
const trade = {
  id: 'one',
  chain: 'binance-smart-chain',
  network: 'mainnet',
  address: `0x${'Ab'.repeat(20)}`,
  client: 'maker',
  kind: 'trade',
  connector: 'pancakeswap',
  txHash,
  nonce: 12_345,
  txState: 'CONFIRMED',
  createdAt: 0,
  request: { path: '/amm/trade', fields: { side: 'BUY', base: 'WETH', quote: 'USDC', amount: '0.5' } },
  planned: { price: '3000.1' },
  fill: { amountIn: '1500.75', amountOut: '0.5', price: '3001.5' },
  slippage: { quote: '0.0004666512' },
  cost: { rawFee: '126', fee: '0.000000000000000126', feeToken: 'BNB' },
} as unknown as JournaledTransaction
const shown = (more: object) => transactionTable([{ ...trade, ...more }], 90_000).split('\n')

describe('the list of transactions in a terminal', () => {
  it('says what a trade bought or sold, at which price, at what cost and for whom', () => {
    expect(shown({})).to.deep.equal([
      'AGE   STATE      WHAT                 WHERE                        WALLET       NONCE  CLIENT',
      '90 s  CONFIRMED  trade (pancakeswap)  binance-smart-chain/mainnet  0xAbAb…AbAb  12345  maker',
      `  ${txHash}`,
      '  BUY 0.5 WETH for 1500.75 USDC at 3001.5, slippage 0.0004666512; cost 0.000000000000000126 BNB',
    ])
    const sold = { side: 'SELL', base: 'WETH', quote: 'USDC', amount: '0.5' }
    const sale = shown({ request: { path: '/amm/trade', fields: sold }, fill: { amountIn: '0.5', amountOut: '1499', price: '2998' } })
    expect(sale[3]).to.contain('SELL 0.5 WETH for 1499 USDC at 2998')
  })

  it('says what was asked for where nothing is filled, and of other kinds', () => {
    expect(shown({ txHash: null, fill: undefined, cost: undefined }).slice(2)).to.deep.equal([
      '  not signed',
      '  BUY 0.5 WETH for USDC, quoted at 3000.1',
    ])
    const asked = { path: '/evm/approve', fields: { chain: 'x', spender: 'uniswap', token: 'USDC' } }
    const failed = shown({ kind: 'approve', request: asked, fill: undefined, reason: 'out of gas' })
    expect(failed.slice(3)).to.deep.equal(['  spender=uniswap token=USDC; cost 0.000000000000000126 BNB', '  out of gas'])
  })

  it('is no wider than 100 columns, whatever is long', () => {
    const long = { side: 'SELL', base: `0x${'1'.repeat(40)}`, quote: `0x${'2'.repeat(40)}`, amount: '1' }
    const lines = shown({
      client: 'a-client-with-a-name-that-is-quite-long',
      request: { path: '/amm/trade', fields: long },
      fill: { amountIn: `1.${'1'.repeat(18)}`, amountOut: `2.${'2'.repeat(18)}`, price: `3.${'3'.repeat(24)}` },
      reason: 'a reason of several words '.repeat(10),
    })
    expect(lines.filter((line) => line.length > 100)).to.deep.equal([])
    expect(lines.join('\n')).to.contain(txHash)
  })
})

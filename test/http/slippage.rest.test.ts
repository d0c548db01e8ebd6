import { expect } from 'chai'
import type { Answer } from '../../testkit/client.ts'
import { until } from '../transactions/site.ts'
import { admins, atNode, local, mined, noted, outcome, sharedServer, type SharedServer, traders, withoutBlocks } from './shared-server.ts'

const coinFor = {
  SELL: { base: 'ETH', quote: 'USDC', amount: '0.5', most: '25' },
  BUY: { base: 'USDC', quote: 'ETH', amount: '40000', most: '60000' },
} as const
const dollarFor = {
  SELL: { base: 'DAI', quote: 'USDC', amount: '100', most: '400000' },
  BUY: { base: 'USDC', quote: 'DAI', amount: '100', most: '400000' },
} as const

describe('a trade past its bound', function () {
  this.timeout(300_000)
  let server: SharedServer
  before(async () => {
    server = await sharedServer()
    for (const [address, token] of [
      [traders, 'DAI'],
      [admins, 'DAI'],
    ]) {
      const { body, text } = await server.client.post('/evm/approve', { ...local, address, spender: 'curve', token })
      expect(body.txHash, text).to.be.a('string')
      await mined(server.client, body.txHash)
    }
  })

  /** A larger trade of the same kind is before it in the block, and moves the price. */
  async function overtaken({ most, ...trade }: { most: string } & Record<string, string>): Promise<Answer> {
    return withoutBlocks(server.rpc, async () => {
      const own = await server.client.post('/amm/trade', { ...local, ...trade, address: traders, allowedSlippage: '1/10000' })
      expect(outcome(own), own.text).to.equal('200')
      const fees = { maxPriorityFeePerGas: '20', maxFeePerGas: '60' }
      const before = await server.client.post('/amm/trade', { ...local, ...trade, ...fees, amount: most, address: admins })
      expect(outcome(before), before.text).to.equal('200')
      for (const { body } of [own, before]) await atNode(server.rpc, body.txHash)
      await server.rpc('evm_increaseTime', 2)
      await server.rpc('evm_mine')
      await noted(server.client, own.body.txHash)
      return await server.client.get('/network/poll', { ...local, txHash: own.body.txHash })
    })
  }

  /** What the journal has of it is less then. */
  async function final(txHash: string): Promise<Answer> {
    await server.rpc('anvil_mine', 5)
    await until('it is final', async () => (await server.client.get('/transactions', { txHash })).body.transactions[0].final)
    return server.client.get('/network/poll', { ...local, txHash })
  }

  const exchanges: readonly (readonly [string, string | undefined, typeof coinFor | typeof dollarFor])[] = [
    ['uniswap', 'v2', coinFor],
    ['uniswap', 'v3', coinFor],
    ['uniswap', 'v4', coinFor],
    ['sushiswap', 'v2', coinFor],
    ['sushiswap', 'v3', coinFor],
    ['pancakeswap', 'v2', coinFor],
    ['pancakeswap', 'v3', coinFor],
    ['balancer', undefined, coinFor],
    ['curve', undefined, dollarFor],
  ]
  for (const [connector, version, pair] of exchanges)
    for (const side of ['SELL', 'BUY'] as const)
      it(`says that it reverted for slippage: ${connector} ${version ?? ''}, ${side}`, async () => {
        const answer = await overtaken({ connector, ...(version && { version }), ...pair[side], side })
        for (const { body, text } of [answer, await final(answer.body.txHash)]) {
          expect(body.txReceipt?.status, text).to.equal(0)
          expect(body, text).to.include({ cause: 'slippage' })
        }
      })
})

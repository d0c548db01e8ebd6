import { expect } from 'chai'
import type { Answer } from '../../testkit/client.ts'
import { nodeErrorRows } from '../fixtures/node-errors.ts'
import { local, mined, outcome, traders } from './shared-server.ts'
import { startBehindProxy, type BehindProxy } from './trouble/behind-proxy.ts'
import { healthy, saying } from './trouble/faulty-proxy.ts'

describe('a trade by what a wallet approved, where the best route needs another approval', function () {
  this.timeout(300_000)
  let stage: BehindProxy
  before(async () => {
    stage = await startBehindProxy()
  })
  after(() => stage?.stop())

  const swap = { ...local, connector: 'uniswap', base: 'USDT', quote: 'USDC', side: 'SELL', amount: '5000', address: traders }
  const trade = (): Promise<Answer> => stage.server.client.post('/amm/trade', swap)

  it("does not fail as unapproved because of the node's trouble with the other route", async () => {
    const { client } = stage.server
    const approve = { ...local, address: traders, spender: 'uniswap/v3', token: 'USDT', amount: '100000' }
    const approved = await client.post('/evm/approve', approve)
    expect(outcome(approved), approved.text).to.equal('200')
    await mined(client, approved.body.txHash)
    // It does not set the node aside.
    const row = nodeErrorRows.find(({ message }) => message === 'header not found')
    const told: string[] = []
    // The check that finds no allowance, the allowances, and the questions for the other route: each fails once.
    for (const answered of [1, 2, 3, 4, 5, 6]) {
      let questions = 0
      await stage.proxy.become((exchange) => {
        const isQuestion = exchange.methods.includes('eth_estimateGas') || (questions > 0 && exchange.methods.includes('eth_call'))
        if (isQuestion) questions += 1
        return questions <= answered || !isQuestion
          ? healthy(exchange)
          : saying((method) => (method === 'eth_call' ? row : undefined))(exchange)
      })
      told.push(outcome(await trade()))
      await stage.proxy.become(healthy)
    }
    expect(outcome(await trade())).to.equal('200')
    expect(told).not.to.include('422 INSUFFICIENT_ALLOWANCE')
    expect(told).to.include('503 NETWORK')
  })
})

import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import type { Answer } from '../../../testkit/client.ts'
import { uniswap } from '../../http/shared-server.ts'
import { converse, folder, startEnds, type Ends } from './own-ends.ts'

const hasControllers = (checkout: string) => existsSync(path.join(checkout, 'controllers/generic/lp_rebalancer/lp_rebalancer.py'))

/** They divide what they have by prices, and send all digits of it. Skipped where HUMMINGBOT_FOLDER names no checkout, or one without controllers. */
describe('the controllers of Hummingbot 2.16, from the checkout that HUMMINGBOT_FOLDER names', function () {
  this.timeout(300_000)
  let ends: Ends
  let seen: Answer['body']

  before(async function () {
    if (folder === undefined || !hasControllers(folder)) return this.skip()
    ends = await startEnds(['WETH', 'USDC'], ['uniswap', 'uniswap/positions'])
    const { pools } = (await ends.server.client.get('/amm/pools', { ...uniswap, base: 'WETH', quote: 'USDC', version: 'v3' })).body
    seen = JSON.parse(await converse('own-controllers.py', [folder, String(ends.proxy.port), 'uniswap', String(pools[0].pool)], {}))
  })
  after(() => ends?.stop())

  for (const side of ['RANGE', 'SELL', 'BUY'])
    it(`open and close a position by lp_rebalancer on the side ${side}`, () => {
      const { opened, state, sent } = seen[side]
      expect(opened).to.equal(side === 'RANGE' ? 'IN_RANGE' : 'OUT_OF_RANGE')
      expect(state).to.equal('COMPLETE')
      expect(sent).to.have.length(1)
    })

  it('get a price for each level of xemm_multiple_levels', () => {
    expect(seen.xemm).to.have.length(4)
    for (const { amount, price } of seen.xemm) {
      expect(amount.split('.')[1].length, amount).to.be.above(18)
      expect(Number(price), amount).to.be.within(2_000, 4_000)
    }
  })
})

import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { isClose } from './amounts.ts'
import type { Card } from './index.ts'

export const priceCards: readonly Card[] = [
  [
    'LP-08 the tokens in the other order give the mirrored answer',
    async ({ around, add, price, position, ground: { token0, token1, fee } }) => {
      const [there, back] = [await price(), await price({ token0: token1, token1: token0 })]
      expect([back.token0, back.token1]).to.deep.equal([there.token1, there.token0])
      expect(isClose(Number(there.price) * Number(back.price), 1), `${there.price} ${back.price}`).to.equal(true)
      expect(back).to.include({ pool: there.pool, tick: there.tick, sqrtPriceX96: there.sqrtPriceX96, liquidity: there.liquidity })

      const asked = await around(0.9, 1.1)
      const one = await add(asked)
      const other = await add({
        ...asked,
        token0: token1,
        token1: token0,
        fee,
        amount0: asked.amount1,
        amount1: asked.amount0,
        lowerPrice: String(1 / Number(asked.upperPrice)),
        upperPrice: String(1 / Number(asked.lowerPrice)),
      })
      expect(other.fill).to.include({ amount0: one.fill.amount1, amount1: one.fill.amount0, liquidity: one.fill.liquidity })
      expect(isClose(Number(other.answer.lowerPrice) * Number(one.answer.upperPrice), 1)).to.equal(true)
      expect(isClose(Number(other.answer.upperPrice) * Number(one.answer.lowerPrice), 1)).to.equal(true)
      const { lowerPrice, upperPrice, poolPrice } = await position(one.fill.tokenId)
      expect(await position(other.fill.tokenId)).to.include({ lowerPrice, upperPrice, poolPrice })
    },
  ],
  [
    'LP-09 bounds are snapped outward, and those that were used give the same range again, in either order',
    async ({ around, add, ground: { token0, token1 } }) => {
      const asked = await around(0.93, 1.04)
      const { answer } = await add(asked)
      expect(Number(answer.lowerPrice)).to.be.at.most(Number(asked.lowerPrice))
      expect(Number(answer.upperPrice)).to.be.at.least(Number(asked.upperPrice))
      const { lowerPrice, upperPrice } = answer
      expect((await add({ ...asked, lowerPrice, upperPrice })).answer).to.include({ lowerPrice, upperPrice })

      const { answer: mirrored } = await add({
        ...asked,
        token0: token1,
        token1: token0,
        amount0: asked.amount1,
        amount1: asked.amount0,
        lowerPrice: String(1 / Number(asked.upperPrice)),
        upperPrice: String(1 / Number(asked.lowerPrice)),
      })
      const turned = { token0: token1, token1: token0, amount0: asked.amount1, amount1: asked.amount0 }
      const used = { lowerPrice: mirrored.lowerPrice, upperPrice: mirrored.upperPrice }
      expect((await add({ ...asked, ...turned, ...used })).answer).to.include(used)
    },
  ],
  [
    'LP-10 the series of prices is as long as it was asked for, and says how far the oracle holds',
    async ({ price, sold, refused, ground: { token0, token1, fee } }) => {
      await sold('0.001')
      await sleep(3_000)
      const asked = { token0, token1, fee }
      const far = await refused('price', { ...asked, period: 4_000_000_000, interval: 10_000_000 }, '422 PRICE_FAILED')
      const { holdsSeconds } = far.body.details
      expect(holdsSeconds).to.be.within(1, 4_000_000_000)
      expect(far.body.message).to.contain(String(holdsSeconds))

      const period = Math.min(holdsSeconds, 10)
      const series = await price({ period, interval: 1 })
      expect(series).to.include({ period, interval: 1 })
      expect(series.prices).to.have.length(period)
      // Nobody traded since: the mean is the price of a whole tick, which is 1.0001 times the next.
      const last = Number(series.prices.at(-1))
      expect(Math.abs(last / Number(series.price) - 1)).to.be.below(0.00011)
      expect((await price({ period, interval: period })).prices).to.have.length(1)
      expect((await price()).prices).to.deep.equal([])

      await refused('price', { ...asked, period: 60, interval: 61 }, '400 INCOMPLETE_PARAMS', 'interval')
      await refused('price', { ...asked, period: 60 }, '400 INCOMPLETE_PARAMS', 'interval')
      await refused('price', { ...asked, interval: 60 }, '400 INCOMPLETE_PARAMS', 'period')
      await refused('price', { ...asked, period: 1_000_000, interval: 1 }, '400 INCOMPLETE_PARAMS', 'interval')
    },
  ],
]

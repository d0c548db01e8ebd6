import { expect } from 'chai'
import { randomBits } from '../../../../testkit/random-bits.ts'
import { distanceToBest } from './exhaustive.ts'
import { randomWorld, worldKinds } from './random-worlds.ts'

const worlds = { uniswap: 150, algebra: 60, weighted: 30, stable: 30 }

describe('the answer to a swap in a random world of up to 30 pools', function () {
  this.timeout(300_000)
  for (const kind of worldKinds) {
    it(`is within a basis point of the best of all routes and divisions in hundredths, net of gas (${kind})`, () => {
      const random = randomBits(1)
      let [compared, refused, split] = [0, 0, 0]
      for (let count = 0; count < worlds[kind]; count += 1) {
        const distance = distanceToBest(randomWorld(kind, random))
        if (distance === 'refused') refused += 1
        if (distance === undefined || distance === 'refused') continue
        compared += 1
        split += distance.isSplit ? 1 : 0
        expect(distance.ours, `world ${count}`).to.be.at.most(1)
      }
      expect(compared).to.be.above(worlds[kind] / 2)
      expect(split > 0, 'several routes at once').to.equal(kind === 'uniswap' || kind === 'algebra')
      // A swap that no single route takes is refused, though several would take it together.
      expect(refused).to.be.below(worlds[kind] / 50)
    })
  }
})

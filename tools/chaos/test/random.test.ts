import { expect } from 'chai'
import { randomOf, type Random } from '../random.ts'

const ten = (random: Random) => Array.from({ length: 10 }, () => random.below(1000))

describe('the chance that a run is made of', () => {
  it('follows from the seed alone', () => {
    expect(ten(randomOf('a'))).to.deep.equal(ten(randomOf('a')))
    expect(ten(randomOf('a'))).to.not.deep.equal(ten(randomOf('b')))
  })

  it('gives each part a stream of its own, whatever others have drawn before', () => {
    const busy = randomOf('a')
    ten(busy)
    expect(ten(busy.fork('killer'))).to.deep.equal(ten(randomOf('a').fork('killer')))
    expect(ten(busy.fork('killer'))).to.not.deep.equal(ten(busy.fork('traffic')))
  })

  it('keeps to what it was asked for', () => {
    const random = randomOf('a')
    const drawn = Array.from({ length: 1000 }, () => random.between(1, 5))
    expect([...new Set(drawn)].toSorted((a, b) => a - b)).to.deep.equal([1, 2, 3, 4, 5])
    expect(random.shuffled(drawn)).to.have.members(drawn)
  })
})

import { expect } from 'chai'
import { hashOf, numberOf, SecondTimes } from '../../core/base/second-times.ts'

describe('Numbers that were seen before', () => {
  it('are told the second time and not the first, the least and the largest too', () => {
    const times = new SecondTimes()
    for (const number of [0, 1, 2 ** 32 - 1, hashOf('amount=1'), numberOf(10n ** 18n, 1), 2 ** 53 - 1]) {
      expect(times.isSecond(number), String(number)).to.equal(false)
      expect(times.isSecond(number), String(number)).to.equal(true)
    }
  })

  it('are forgotten when another one takes their place', () => {
    const times = new SecondTimes(1)
    const numbers = [1, 2, 3]
    for (const number of numbers) times.isSecond(number)
    expect(numbers.filter((number) => times.isSecond(number)).length).to.be.at.most(2)
  })
})

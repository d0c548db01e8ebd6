import { expect } from 'chai'
import { dropOldest } from '../../core/base/oldest.ts'

describe('dropping the oldest entries', () => {
  it('keeps the newest, and looks at none that stays but the first', () => {
    const map = new Map([1, 2, 3, 4].map((each) => [each, each]))
    let looked = 0
    const counted = {
      get size() {
        return map.size
      },
      *keys() {
        for (const key of map.keys()) {
          looked += 1
          yield key
        }
      },
      delete: (key: number) => map.delete(key),
    }
    dropOldest(counted, 4)
    expect([[...map.keys()], looked]).to.deep.equal([[1, 2, 3, 4], 1])
    dropOldest(counted, 2)
    expect([[...map.keys()], looked]).to.deep.equal([[3, 4], 4])
  })
})

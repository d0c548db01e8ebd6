import { expect } from 'chai'
import { lpVersions, type PositionLife } from '../hummingbot/position-bots.ts'
import type { PositionEvent } from '../hummingbot/position-facts.ts'
import { missingOfPositions } from '../hummingbot/shown.ts'
import { wallet } from './made-history.ts'

const repeated = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))

describe('whether a run of positions showed anything', () => {
  const life = (index: number, booked: PositionLife['booked']): PositionLife => ({
    id: index,
    amountRaw: 1n,
    wallet,
    version: lpVersions[index % lpVersions.length]?.name ?? '',
    wants: 'life',
    calls: [],
    booked,
  })
  const burnt = (index: number): PositionEvent => ({
    txHash: `0x${index}`,
    is: 'burnt',
    tokenId: String(index),
    raw: [0n, 0n],
    paidRaw: 1n,
    input: '',
    block: 1,
  })

  it('is enough where most are burnt on the chain', () => {
    const lives = [...repeated(50, (index) => life(index, 'closed')), ...repeated(50, (index) => life(index, 'gone'))]
    expect(missingOfPositions(lives, repeated(90, burnt))).to.equal(undefined)
  })

  it('is too little where bots are told that positions are gone which were never opened', () => {
    const lives = [...repeated(10, (index) => life(index, 'closed')), ...repeated(90, (index) => life(index, 'gone'))]
    expect(missingOfPositions(lives, repeated(10, burnt))).to.contain('10 of 100 positions are burnt')
    expect(
      missingOfPositions(
        lives,
        repeated(100, () => burnt(1)),
      ),
    ).to.contain('1 of 100 positions are burnt')
  })

  it('is too little where none was closed in a version of the clients', () => {
    const lives = repeated(100, () => life(0, 'closed'))
    expect(missingOfPositions(lives, repeated(100, burnt))).to.contain(`none of ${lpVersions[1]?.name}`)
  })
})

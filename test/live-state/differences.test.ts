import { expect } from 'chai'
import { differencesBetween } from '../../core/live-state/differences.ts'
import { TickTable } from '../../kits/amm/v3/swap.ts'

describe('what differs between a state in memory and the chain', () => {
  it('is told by field, from the outside in', () => {
    const inMemory = { pool: { state: { fee: 500, price: { sqrtPriceX96: 79n }, ticks: [1, 2] } }, isNew: true }
    const onChain = { pool: { state: { fee: 3000, price: { sqrtPriceX96: 80n }, ticks: [1, 2, 3] } }, isNew: true }
    expect(differencesBetween(inMemory, onChain)).to.deep.equal([
      { field: 'pool.state.fee', inMemory: '500', onChain: '3000' },
      { field: 'pool.state.price.sqrtPriceX96', inMemory: '79', onChain: '80' },
      { field: 'pool.state.ticks.2', inMemory: 'undefined', onChain: '3' },
    ])
    expect(differencesBetween(inMemory, structuredClone(inMemory))).to.deep.equal([])
  })

  it('is told of ticks, whose liquidity is decoded when it is used', () => {
    const ticksOf = (net: bigint) => ({ ticks: new TickTable(-100, 100, [-10, 10], { gross: () => 7n, net: () => net }) })
    expect(differencesBetween(ticksOf(7n), ticksOf(8n)).map(({ field, onChain }) => [field, onChain])).to.deep.equal([
      ['ticks.ticks.10.net', '8'],
      ['ticks.ticks.-10.net', '8'],
    ])
  })

  it('is told of a state that the chain does not have', () => {
    expect(differencesBetween({ pool: { fee: 1 } }, undefined)).to.deep.equal([
      { field: '', inMemory: '{ pool: { fee: 1 } }', onChain: 'undefined' },
    ])
  })

  it('is cut where it is long, and ends where a state contains itself', () => {
    const [one, other] = [1, 2].map((last) => {
      const state: Record<string, unknown> = { text: `${'x'.repeat(5_000)}${last}` }
      state['itself'] = state
      for (let index = 0; index < 50; index += 1) state[`field${index}`] = index * last
      return state
    })
    const found = differencesBetween(one, other)
    expect(found).to.have.length(8)
    expect(found[0]?.inMemory).to.have.length(121)
    const [round, square] = [{ next: {} }, { next: {} }]
    round.next = round
    square.next = square
    expect(differencesBetween(round, square)).to.deep.equal([])
  })
})

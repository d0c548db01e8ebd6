import { expect } from 'chai'
import { OneBlock } from '../../core/live-state/one-block.ts'
import type { Bundle } from '../../core/live-state/tracked-states.ts'

describe('the block of several quotes', () => {
  const bundle = (number: bigint, hash: string) =>
    ({ parts: [], images: false, peek: () => ({ states: [], head: { number, hash, timestamp: 1 } }) }) as unknown as Bundle
  const isOne = (...bundles: readonly Bundle[]): boolean => {
    const block = new OneBlock()
    for (const each of bundles) block.peek(each)
    return block.isOne
  }

  it('counts as one where all states are after it, and not where another fork has its number', () => {
    expect(isOne()).to.equal(true)
    expect(isOne(bundle(7n, '0x7a'), bundle(7n, '0x7a'))).to.equal(true)
    expect(isOne(bundle(7n, '0x7a'), bundle(8n, '0x8a'))).to.equal(false)
    expect(isOne(bundle(7n, '0x7a'), bundle(7n, '0x7b'))).to.equal(false)
  })
})

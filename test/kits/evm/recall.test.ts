import { expect } from 'chai'
import { chainOver } from './test-chain.ts'

describe('trades from memory', () => {
  it('are for networks on which gas that was simulated tells what others like it take, and what is left over costs nothing', () => {
    const nobody = { rpcUrls: ['http://127.0.0.1:1'] }
    expect(chainOver(nobody, {}).chain.rail).to.have.property('recall')
    for (const special of [{ gasPaysLayer1: true }, { gasLimitIsPaid: true }, { rollup: 'op-stack' }] as const)
      expect(chainOver(nobody, special).chain.rail, Object.keys(special).join('')).not.to.have.property('recall')
  })
})

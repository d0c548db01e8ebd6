import { expect } from 'chai'
import { chainOver } from './test-chain.ts'

describe('the check from memory', () => {
  it('exists only where cached gas limits hold and unused gas costs nothing', () => {
    const nobody = { rpcUrls: ['http://127.0.0.1:1'] }
    expect(chainOver(nobody, {}).chain.rail).to.have.property('cachedChecks')
    for (const special of [{ gasPaysLayer1: true }, { gasLimitIsPaid: true }, { rollup: 'op-stack' }] as const)
      expect(chainOver(nobody, special).chain.rail, Object.keys(special).join('')).not.to.have.property('cachedChecks')
  })
})

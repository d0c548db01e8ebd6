import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { memoProgram } from '../../../core/wallet/policy-solana.ts'
import { tokenPrograms } from '../../../core/wallet/solana-contained.ts'

const factsOf = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../fixtures/published/${name}.json`, import.meta.url), 'utf8')).facts

describe('the programs that the signer knows', () => {
  it('have the addresses that their packages give', () => {
    expect(factsOf('solana-memo')).to.deep.equal({ MEMO_PROGRAM_ADDRESS: memoProgram })
    expect(factsOf('solana-token-2022')).to.include({ TOKEN_2022_PROGRAM_ADDRESS: tokenPrograms[1] })
  })
})

import { expect } from 'chai'
import { accountsAMM } from '../../../../kits/solana/amm/pool-amm.ts'
import { amount, at, createAccounts, first, image, kind, naming, own, program, second, third } from './two-vaults.ts'

const taker = { address: program, carries: () => true, fill: () => undefined }

describe('an exchange of pools that are sets of accounts', () => {
  const { chain, asked, reader } = createAccounts()
  const amm = accountsAMM(reader, { protocols: [kind], programs: [taker] })

  beforeEach(() => {
    chain.clear()
    chain.set(own, naming(first, second)).set(first, amount(5)).set(second, amount(6))
    asked.length = 0
  })

  describe('tells the tokens of a pool that a caller names', () => {
    it('by its accounts', async () => {
      expect(await amm.poolTokens?.(own, at)).to.deep.equal(['A', 'B'])
    })

    it('and asks no node for what is no address: it would be put aside for refusing it', async () => {
      for (const wrong of ['', 'x', '0x00', `${own}11`, own.slice(1), ` ${own}`, '1'.repeat(256)])
        expect(await amm.poolTokens?.(wrong, at), wrong).to.equal(undefined)
      expect(asked).to.deep.equal([])
    })

    it('and reads no more of a stranger account than a pool can have', async () => {
      chain.set(third, image(program, new Uint8Array(1_000_000).fill(7)))
      expect(await amm.poolTokens?.(third, at)).to.equal(undefined)
      expect(asked.map(({ addresses }) => addresses)).to.deep.equal([[third]])
      expect(asked[0]?.bytes).to.be.below(20_000)
    })
  })
})

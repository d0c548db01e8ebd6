import { generateKeyPairSigner, getAddressEncoder, getProgramDerivedAddress, type Address } from '@solana/kit'
import { expect } from 'chai'
import { addressBytes, addressFrom, associatedAddress, derivedAddress, tokenAccountOf } from '../../../kits/solana/index.ts'
import { token2022Program } from '../../../kits/solana/tokens.ts'

const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

describe('addresses on Solana', () => {
  let owners: Address[]
  before(async () => {
    owners = await Promise.all(Array.from({ length: 40 }, async () => (await generateKeyPairSigner()).address))
  })

  it('match those that @solana/kit derives', async () => {
    for (const [index, owner] of owners.entries()) {
      const seeds = [Buffer.from('pool'), Uint8Array.of(index)]
      const [expected] = await getProgramDerivedAddress({ programAddress: owner, seeds })
      expect(derivedAddress(owner, seeds)).to.equal(expected)
    }
  })

  it('match @solana-program/token for token accounts, for both programs of tokens', async () => {
    const [mint = ''] = owners
    for (const owner of owners) {
      expect(tokenAccountOf(owner, mint)).to.equal(await associatedAddress(owner, mint, tokenProgram))
      expect(tokenAccountOf(owner, mint, token2022Program)).to.equal(await associatedAddress(owner, mint, token2022Program))
    }
  })

  it('take 32 bytes, there and back, and nothing else', () => {
    for (const owner of owners) {
      expect([...addressBytes(owner)]).to.deep.equal([...getAddressEncoder().encode(owner)])
      expect(addressFrom(addressBytes(owner))).to.equal(owner)
    }
    for (const wrong of ['', '0x12', owners[0]!.slice(12)]) expect(() => addressBytes(wrong)).to.throw()
    expect(() => addressFrom(new Uint8Array(31))).to.throw()
  })
})

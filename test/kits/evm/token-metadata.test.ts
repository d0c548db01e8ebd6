import { expect } from 'chai'
import { AbiCoder, encodeBytes32String } from 'ethers'
import { readSymbol, readToken } from '../../../kits/evm/tokens.ts'

const address = '0x9f8F72aA9304c8B593d555F12eF6589cC3A579A2'
const ok = (data: string) => ({ ok: true, data })
const text = (symbol: string) => ok(AbiCoder.defaultAbiCoder().encode(['string'], [symbol]))
const number = (value: bigint) => ok(AbiCoder.defaultAbiCoder().encode(['uint256'], [value]))
const failed = { ok: false, data: '0x' }

describe('a token read from the chain', () => {
  it('reads its symbol as text or as the 32 bytes of old tokens', () => {
    expect(readToken(address, text('UNI'), number(18n))).to.deep.equal({ symbol: 'UNI', address, decimals: 18 })
    expect(readToken(address, ok(encodeBytes32String('MKR')), number(18n))).to.deep.equal({ symbol: 'MKR', address, decimals: 18 })
  })

  it('drops invisible characters, line breaks and changes of direction from its symbol, and cuts it to 32 characters', () => {
    expect(readSymbol(text('U\u0000S\u202eD\u200bC \n'))).to.equal('USDC')
    expect(readSymbol(text('x'.repeat(1000)))).to.have.length(32)
  })

  it('shows its address if its symbol cannot be read', () => {
    for (const symbol of [failed, ok('0x'), ok('0x1234'), ok(`0x${'ff'.repeat(96)}`), text('\u0007')]) {
      expect(readToken(address, symbol, number(6n))).to.deep.equal({ symbol: address, address, decimals: 6 })
    }
  })

  it('needs decimals, and no more than fit into 256 bits', () => {
    for (const decimals of [failed, ok('0x'), number(78n), number(2n ** 200n)])
      expect(readToken(address, text('X'), decimals)).to.equal(undefined)
  })
})

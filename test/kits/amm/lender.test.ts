import { expect } from 'chai'
import { lender } from '../../../kits/amm/index.ts'

const lends = 'swap(uint256 amount0Out, uint256 amount1Out, address to, bytes data)'
const pool = `0x${'11'.repeat(20)}`
const token = `0x${'22'.repeat(20)}`

describe('a loan for the trial of a token', () => {
  it('has the amount, and the call with every argument but the recipient', () => {
    const loan = lender({ lends, recipient: 2 })(pool, token, 5n, [5n, 0n, '0x01'])
    expect(loan.sentRaw).to.equal(5n)
    expect(loan.code).to.match(/^0x[0-9a-f]+$/)
  })

  it('is refused by name where the recipient is no address, arguments are missing or too many, or the amount is none', () => {
    expect(() => lender({ lends, recipient: 1 })).to.throw(
      'argument 1 of swap, counted from 0, is uint256; recipient is the index of the address',
    )
    expect(() => lender({ lends, recipient: 4 })).to.throw('argument 4 of swap, counted from 0, is not there')
    const borrow = lender({ lends, recipient: 2 })
    expect(() => borrow(pool, token, 5n, [5n, 0n, pool, '0x01'])).to.throw('swap has 3 arguments beside its recipient, and 4 were given')
    expect(() => borrow(pool, token, 5n, [])).to.throw('swap has 3 arguments beside its recipient, and 0 were given')
    expect(() => borrow(pool, token, 0n, [0n, 0n, '0x01'])).to.throw('sentRaw is not a bigint above 0')
  })
})

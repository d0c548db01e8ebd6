import { expect } from 'chai'
import { AbiCoder } from 'ethers'
import { lender } from '../../../kits/amm/index.ts'
import { feeOnTransferCheck } from '../../../kits/amm/fee-on-transfer.ts'
import type { EvmReader } from '../../../kits/evm/types.ts'

const lends = 'swap(uint256 amount0Out, uint256 amount1Out, address to, bytes data)'
const pool = `0x${'11'.repeat(20)}`
const token = `0x${'22'.repeat(20)}`

describe('a loan for the trial of a token', () => {
  it('has the amount, and the call with every argument but the recipient', () => {
    const loan = lender({ lends, recipient: 2 })(pool, token, 5n, [5n, 0n, '0x01'])
    expect(loan.sentRaw).to.equal(5n)
    expect(loan.code).to.match(/^0x[0-9a-f]+$/)
  })

  it('names what is wrong where the recipient is no address, arguments are missing or too many, or the amount is none', () => {
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

describe('a token whose transfers are tried', () => {
  const steth = { symbol: 'stETH', address: token, decimals: 18 }
  const at = { signal: new AbortController().signal }

  /** What is said of a token, of which so much arrived in the trial and so much came back. */
  async function refusal(sentRaw: bigint, arrivedRaw: bigint, returnedRaw: bigint): Promise<string> {
    const data = AbiCoder.defaultAbiCoder().encode(['bool', 'uint256', 'bool', 'uint256'], [true, arrivedRaw, true, returnedRaw])
    const reader = { call: async () => ({ ok: true, data }) } as Partial<EvmReader> as EvmReader
    try {
      await feeOnTransferCheck(reader)([{ token: steth, pool, loan: () => ({ pool, loan: { code: '0x00', sentRaw } }) }], at)
      return 'none'
    } catch (error) {
      expect(error).to.have.property('name', 'TOKEN_NOT_SUPPORTED')
      return error instanceof Error ? error.message : ''
    }
  }
  const many = 10n ** 15n

  for (const [what, sentRaw, arrivedRaw, returnedRaw] of [
    ['both ways', many, many - 1n, many - 2n],
    ['by two units', many, many - 2n, many - 4n],
    ['when bought only', many, many - 1n, many - 1n],
    ['when sold only', many, many, many - 1n],
    ['of the smallest trial', 10_000n, 9_999n, 9_998n],
  ] as const)
    it(`gets a refusal that says it rounds by a unit: ${what}`, async () => {
      const said = await refusal(sentRaw, arrivedRaw, returnedRaw)
      expect(said).to.match(/^stETH \(0x2+\) rounds by a unit when it is transferred \(of \d+ smallest units \d+ arrived\)/)
      expect(said).to.not.contain('fee on transfer')
    })

  for (const [what, sentRaw, arrivedRaw, returnedRaw, said] of [
    ['two percent', many, (many * 98n) / 100n, (many * 9604n) / 10_000n, '(2 % when bought, 2 % when sold)'],
    ['three units', many, many - 3n, many - 6n, '(less than 0.01 % when bought, less than 0.01 % when sold)'],
    ['a fee that is rounded to a unit', 100n, 99n, 98n, '(1 % when bought, 1.01 % when sold)'],
    ['a fee when sold beside rounding', many, many - 1n, (many * 99n) / 100n, '(less than 0.01 % when bought, 1 % when sold)'],
  ] as const)
    it(`gets a refusal that says it takes a fee: ${what}`, async () => {
      expect(await refusal(sentRaw, arrivedRaw, returnedRaw)).to.contain(`takes a fee on transfer ${said}`)
    })

  it('passes where everything arrives', async () => {
    expect(await refusal(many, many, many)).to.equal('none')
    expect(await refusal(many, many + 1n, many + 1n)).to.equal('none')
  })
})

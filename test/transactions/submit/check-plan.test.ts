import { expect } from 'chai'
import type { Plan } from '../../../core/contracts/index.ts'
import { canonicalAddress } from '../../../kits/evm/encoding.ts'
import { checkPlan, type SubmitRequest } from '../../../core/transactions/submit-request.ts'
import { pureRail as rail } from '../never.ts'

// What is judged is pure: of the chain it takes the spelling of addresses and what a step calls.
const network = { chain: 'c', network: 'n', impl: { rail, address: canonicalAddress } } as unknown as SubmitRequest['network']
const router = '0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D'
const other = '0xd9e1cE17f2641f24aE83637ab66a2cca9C378B9F'

const check =
  (steps: readonly { to: string; value: string }[], valueRaw = 0n) =>
  () => {
    const plan = { steps: steps.map((step) => ({ data: '0x', ...step })), needs: [], memo: null } as unknown as Plan
    checkPlan({ plan, scope: { contracts: [router], valueRaw }, network, venue: { connector: 'greedy' } })
  }

describe('a plan', () => {
  it("may call the contracts of its scope in any spelling, with the request's value", () => {
    expect(check([{ to: router, value: '0' }])).not.to.throw()
    expect(check([{ to: router.toLowerCase(), value: '5' }], 5n)).not.to.throw()
  })

  it('may call nothing else in any step', () => {
    expect(
      check([
        { to: router, value: '0' },
        { to: other, value: '0' },
      ]),
    ).to.throw('The connector greedy calls 0xd9e1')
    expect(check([{ to: 'nonsense', value: '0' }]))
      .to.throw('nothing was signed')
      .with.property('name', 'UNKNOWN_ERROR')
  })

  it('may not send more than the request allows in all steps together', () => {
    expect(check([{ to: router, value: '1' }])).to.throw('allows 0 at most')
    expect(
      check(
        [
          { to: router, value: '3' },
          { to: router, value: '3' },
        ],
        5n,
      ),
    ).to.throw('sends 6')
    expect(
      check(
        [
          { to: router, value: '6' },
          { to: router, value: '-1' },
        ],
        5n,
      ),
    ).to.throw('negative')
  })

  it('needs at least one step', () => {
    expect(check([])).to.throw('has no step')
  })
})

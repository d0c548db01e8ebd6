import { expect } from 'chai'
import type { ConnectorContext } from '../../core/handlers/context.ts'
import { simulatedCommitment, unsimulatedCommitment } from '../../core/handlers/simulated-commitment.ts'
import { givesNothing } from '../../core/transactions/budgets.ts'

const usdc = { address: 'usdc', symbol: 'USDC', decimals: 6 }
const context = {
  caller: { id: 'bot', permissions: new Set(['trade', 'thin']) },
  network: { chain: 'ethereum', network: 'mainnet', tokens: { listedAt: (token: string) => (token === 'usdc' ? usdc : undefined) } },
  venue: { connector: 'theirs', builtIn: false },
  services: { limitsOf: () => undefined, market: { isChecked: () => false } },
} as unknown as ConnectorContext
const repayment = { plan: { steps: [null], needs: [], memo: null }, commitment: givesNothing, reduces: true } as Parameters<
  typeof simulatedCommitment
>[1]
type Outcome = Parameters<typeof simulatedCommitment>[0]
const outcome = (of: Partial<Outcome>): Outcome => ({ is: 'done', gains: new Map(), grants: [], ...of })
const takes = (of: Partial<Outcome>, planned = repayment) => simulatedCommitment(outcome(of), planned, context).takes

describe('what is called a repayment by a connector that is not built in', () => {
  it('takes something where listed tokens leave, or the node does not tell', () => {
    expect(takes({ sent: new Map() })).to.equal(undefined)
    expect(takes({ sent: new Map([['share', 5n]]) })).to.equal(undefined)
    expect(takes({ sent: new Map([['usdc', 5n]]) })).to.equal(true)
    expect(takes({})).to.equal(true)
    expect(takes({}, { ...repayment, reduces: false })).to.equal(undefined)
  })

  it('takes something on a rail of its own, where nothing is simulated', () => {
    expect(unsimulatedCommitment(repayment)).to.deep.equal({ ...givesNothing, takes: true })
    expect(unsimulatedCommitment({ ...repayment, reduces: false })).to.equal(givesNothing)
  })
})

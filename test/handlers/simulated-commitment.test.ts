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

describe('what a plan of several steps of a connector that is not built in commits its wallet to', () => {
  /** One of each is worth 1. */
  const value = (amounts: Readonly<Record<string, bigint>> = {}) => Object.values(amounts).reduce((sum, raw) => sum + raw, 0n)
  const allowed = { percent: 100 }
  const held = {
    ...context,
    caller: { id: 'bot', permissions: new Set(['trade']) },
    services: {
      limitsOf: () => ({}),
      allowLists: { maxPriceImpact: () => undefined },
      holdings: { follow: () => {} },
      settings: {
        get limits() {
          return { maxPriceImpact: allowed.percent }
        },
      },
      market: {
        isChecked: () => true,
        valuesNow: (_: unknown, tokens: readonly string[]) => Object.fromEntries(tokens.map((each) => [each, 1n])),
        medianValues: (_: unknown, tokens: readonly string[]) => Object.fromEntries(tokens.map((each) => [each, 1n])),
        compare: (_: unknown, { gives, gets }: { gives: Record<string, bigint>; gets?: Record<string, bigint> }) => {
          const lostMicros = value(gives) - value(gets)
          return { is: 'priced', givenMicros: value(gives), lostMicros, mostLostMicros: lostMicros, mostGivenMicros: value(gives) }
        },
      },
    },
  } as unknown as ConnectorContext
  held.network.impl = { nativeCurrency: { address: 'coin' } } as never
  const step = (gains: Record<string, bigint>) => ({ gains: new Map(Object.entries(gains)), sent: new Map<string, bigint>() })
  const committed = (commitment: object, ...steps: readonly ReturnType<typeof step>[]) => {
    const gains = new Map<string, bigint>()
    for (const each of steps) for (const [token, raw] of each.gains) gains.set(token, (gains.get(token) ?? 0n) + raw)
    const planned = { plan: { steps: steps.map(() => null), needs: [], memo: null }, commitment } as unknown as typeof repayment
    return simulatedCommitment(outcome({ gains, sent: new Map(), ...(steps.length > 1 && { steps }) }), planned, held)
  }
  const swap = { gives: { in: 100n }, gets: { out: 98n } }

  it('is what one step loses, also where another one brings more than that', () => {
    const deposit = { gives: { in: 100n } }
    expect(committed(deposit, step({ in: -100n, out: 100n })).market?.lossMicros).to.equal(0n)
    const apart = committed(deposit, step({ in: -100n }), step({ out: 300n }))
    expect(apart.market?.lossMicros).to.equal(100n)
    expect([apart.gives, apart.gets]).to.deep.equal([{ in: 100n }, {}])
    expect(committed(deposit, step({ out: 300n }), step({ in: -60n, out: 50n }), step({ in: -40n, out: 60n })).market?.lossMicros).to.equal(
      10n,
    )
  })

  it('is the same of a swap in parts as of the whole, with what the signed bytes permit', () => {
    const parts = committed(swap, step({ in: -45n, out: 50n }), step({ in: -45n, out: 50n }))
    expect(parts).to.deep.include({ gives: { in: 100n }, gets: { out: 98n } })
    expect(parts.market?.lossMicros).to.equal(2n)
    expect(committed(swap, step({ in: -99n, out: 99n })).market?.lossMicros).to.equal(2n)
  })

  it('is refused where one step alone is too far below the market', () => {
    allowed.percent = 5
    const far = () => committed({ gives: { in: 100n } }, step({ in: -100n, out: 1n }), step({ out: 300n }))
    expect(far).to.throw(/At worst this is 99.* % below the market/)
    expect(() => committed(swap, step({ in: -50n, out: 50n }), step({ in: -50n, out: 48n }))).not.to.throw()
    allowed.percent = 100
  })
})

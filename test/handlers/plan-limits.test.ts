import { expect } from 'chai'
import type { Json, Plan } from '../../core/contracts/index.ts'
import type { ConnectorContext } from '../../core/handlers/context.ts'
import { submit } from '../../core/handlers/wallets.ts'
import { checkPlan, type SubmitRequest } from '../../core/transactions/submit-request.ts'
import { canonicalAddress } from '../../kits/evm/encoding.ts'
import { createGasLimitCache } from '../../kits/evm/gas-limit.ts'
import type { EvmIntent } from '../../kits/evm/types.ts'
import { pureRail as rail } from '../transactions/never.ts'

const router = '0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D'
const call = { to: router, data: '0x', value: '0' }
const alike = { kind: 'swap', units: '900000', through: ['pool'] }

describe('what a plan may use of gas and time', () => {
  /** The request as it comes to the queue, where its plan is checked. */
  async function submitted(
    steps: readonly Json[],
    { builtIn = false, deadline, asked }: { builtIn?: boolean; deadline?: number; asked?: number } = {},
  ) {
    const plan = { steps, needs: [], memo: null, ...(deadline !== undefined && { deadline }) } as unknown as Plan
    const impl = { rail, address: canonicalAddress, nativeCurrency: { address: '0x0' }, evm: {} }
    let seen: SubmitRequest | undefined
    const context = {
      network: { chain: 'ethereum', network: 'mainnet', impl, tokens: { listed: [] } },
      venue: { connector: 'strange', builtIn, contracts: [router], bridges: {}, impl: {} },
      signal: AbortSignal.timeout(60_000),
      caller: { id: 'bot' },
      services: {
        limitsOf: () => undefined,
        market: { isChecked: () => false },
        registry: { quarantined: () => undefined },
        transactions: {
          async submit(request: SubmitRequest & { plan: Plan }) {
            checkPlan(request)
            seen = request
            return { txHash: '0x1', nonce: 0 }
          },
        },
      },
    } as unknown as ConnectorContext
    const scope = { contracts: [router], valueRaw: 0n, ...(asked !== undefined && { deadline: asked }) }
    const request = { plan, network: context.network, venue: context.venue, scope }
    await submit(request as unknown as SubmitRequest, context, new Map())
    if (!seen) throw new Error('Nothing was submitted.')
    return seen
  }
  const refusal = (...args: Parameters<typeof submitted>): Promise<string> =>
    submitted(...args).then(
      () => 'none',
      ({ name, message }: Error) => `${name} ${message}`,
    )

  it('ends at four steps of a plugin that is not built in', async () => {
    expect((await submitted([call, call, call, call])).plan.steps).to.have.length(4)
    const five = [call, call, call, call, call]
    expect(await refusal(five)).to.match(/^UNKNOWN_ERROR The connector strange has 5 steps, .*4 at most/)
    expect(await refusal(five, { builtIn: true })).to.equal('none')
  })

  it('says of gas what it may use beyond its estimate, never less than nothing and never much', async () => {
    expect((await submitted([{ ...call, spareGas: '350000' }])).plan.steps).to.deep.equal([{ ...call, spareGas: '350000' }])
    for (const spareGas of ['500001', '29000000', '-1', '1e5', '', 350_000, null])
      expect(await refusal([{ ...call, spareGas }]), String(spareGas)).to.match(/^UNKNOWN_ERROR .*spareGas/)
    expect(await refusal([{ ...call, spareGas: '29000000' }], { builtIn: true })).to.equal('none')
  })

  it('ends at five million gas of a plugin that is not built in, on chains that count it', async () => {
    expect((await submitted([call])).scope.most).to.deep.include({ gas: 5_000_000n })
    expect((await submitted([call], { builtIn: true })).scope).not.to.have.property('most')
  })

  it("leaves what is known of other plans' gas as it is", async () => {
    const gasLimits = createGasLimitCache()
    const { plan } = await submitted([{ ...call, alike }])
    gasLimits.learn(plan.steps[0] as unknown as EvmIntent, 'wallet', 60_000n, 30_000_000n)
    expect(gasLimits.limitOf({ ...call, alike: { ...alike, units: '100000' } }, 'wallet')).to.equal(undefined)
    expect((await submitted([{ ...call, alike }], { builtIn: true })).plan.steps).to.deep.equal([{ ...call, alike }])
  })

  it("allows the request's deadline or none of a plugin that is not built in: the server cancels what is late, and shows it", async () => {
    expect((await submitted([call], { deadline: 1000, asked: 1000 })).plan.deadline).to.equal(1000)
    expect(await refusal([call], { asked: 1000 })).to.equal('none')
    for (const deadline of [1, 999, 1001])
      expect(await refusal([call], { deadline, asked: 1000 })).to.match(/^UNKNOWN_ERROR .*deadline is \d+, .* 1000 or none/)
    expect(await refusal([call], { deadline: 1000 })).to.match(/^UNKNOWN_ERROR .*deadline is 1000, .* none/)
    expect(await refusal([call], { builtIn: true, deadline: 999, asked: 1000 })).to.equal('none')
  })
})

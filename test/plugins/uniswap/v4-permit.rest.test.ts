import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { Contract } from 'ethers'
import { parse } from 'yaml'
import { permitTypedData, type Connector, type Permit, type Plan } from '../../../core/contracts/index.ts'
import type { Evm, EvmIntent } from '../../../kits/evm/index.ts'
import uniswap from '../../../plugins/uniswap/index.ts'
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../../kits/amm/devnet-fixture.ts'

const { USDC, WETH, DAI } = tokens
const defaults = parse(readFileSync(new URL('../../../plugins/uniswap/defaults.yml', import.meta.url), 'utf8'))
const permit2Abi = [
  'function allowance(address owner, address token, address spender) view returns (uint160 amount, uint48 expiration, uint48 nonce)',
  'function invalidateNonces(address token, address spender, uint48 newNonce)',
  'function permit(address owner, ((address token, uint160 amount, uint48 expiration, uint48 nonce) details, address spender, uint256 sigDeadline) permitSingle, bytes signature)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
]
const gas = { feeOverrides: {} }

/** A wallet whose token Permit2 may move, and whose router has no allowance. */
describe('A swap of Uniswap v4 with a signed permit', () => {
  let fixture: DevnetFixture
  let exchange: Connector<Evm, 'AMM' | 'AMM_RANGE'>
  let permit2: Contract
  let router = ''
  before(async () => {
    fixture = await openDevnetFixture()
    exchange = uniswap.create({ ...fixture.venue(defaults.contractAddresses.local), config: defaults })
    permit2 = new Contract(exchange.permit2?.address ?? '', permit2Abi, fixture.trader)
    router = exchange.permit2?.spenders[0] ?? ''
    for (const token of [USDC, DAI]) await fixture.approve(token.address, await permit2.getAddress())
  })
  after(() => fixture.close())

  async function planOf(amountRaw: bigint, exact: 'in' | 'out' = 'in', tokenIn = USDC, ttl = 600): Promise<Plan<Evm>> {
    const quote = await exchange.AMM.quote({ tokenIn, tokenOut: WETH, exact, amountRaw }, { version: 'v4' }, at())
    const boundRaw = exact === 'in' ? (quote.amountRaw * 99n) / 100n : (quote.amountRaw * 101n) / 100n
    return exchange.AMM.swap(quote, { recipient: fixture.trader.address, boundRaw, deadline: quote.head.timestamp + ttl })
  }
  const check = (plan: Plan<Evm>, price: object = { ...gas, withPermit: exchange.permit2?.withPermit }) =>
    fixture.chain.rail.check(plan.steps, plan.needs, fixture.trader.address, { ...gas, ...price }, at())
  const allowance = async (token: string): Promise<readonly [bigint, bigint, bigint]> => {
    const [amount, expires, nonce] = await permit2.getFunction('allowance')(fixture.trader.address, token, router)
    return [amount, expires, nonce]
  }

  async function signed(permit: Permit): Promise<string> {
    const { domain, types, message } = permitTypedData(permit, fixture.chain.chainId)
    return fixture.trader.signTypedData(domain, types, message)
  }

  async function swapWith(plan: Plan<Evm>) {
    const { permits, prepared } = await check(plan)
    const [permit] = permits ?? []
    if (!permit) throw new Error('Nothing is to be signed.')
    const step = exchange.permit2?.withPermit?.(plan.steps[0], permit, await signed(permit))
    if (!step) throw new Error('The step takes no permit.')
    return { permit, step, gasLimit: prepared[0]?.gas.gasLimit ?? 0n }
  }
  const send = async ({ to, data, value }: EvmIntent, gasLimit: bigint) =>
    fixture.mined((await fixture.trader.sendTransaction({ to, data, value, gasLimit })).hash)

  it('lacks an allowance where no permit may be signed', async () => {
    const failure = await check(await planOf(100_000_000n), {}).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failure).to.have.property('name', 'INSUFFICIENT_ALLOWANCE')
  })

  it('asks for a permit of exactly the amount, until the deadline, with the next nonce', async () => {
    const plan = await planOf(100_000_000n)
    const { permits } = await check(plan)
    expect(permits).to.deep.equal([
      {
        permit2: await permit2.getAddress(),
        token: USDC.address,
        spender: router,
        amountRaw: 100_000_000n,
        expires: plan.deadline,
        nonce: Number((await allowance(USDC.address))[2]),
      },
    ])
  })

  it('fills within the gas limit, and leaves no allowance', async () => {
    for (const plan of [await planOf(100_000_000n), await planOf(200_000_000n)]) {
      const [, , before] = await allowance(USDC.address)
      const { step, gasLimit } = await swapWith(plan)
      const receipt = await send(step, gasLimit)
      expect(receipt.status).to.equal(1)
      expect(exchange.AMM.fill(receipt, plan.memo)?.amountInRaw).to.be.oneOf([100_000_000n, 200_000_000n])
      const [amount, , nonce] = await allowance(USDC.address)
      expect([amount, nonce]).to.deep.equal([0n, before + 1n])
    }
  })
})

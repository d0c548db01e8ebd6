import { expect } from 'chai'
import { Interface } from 'ethers'
import type { Json, Quote, Swap, Token } from '../../../core/contracts/index.ts'
import type { EvmReceipt } from '../../../kits/evm/index.ts'
import { at, tokens } from '../../kits/amm/devnet-fixture.ts'
import { openBalancer } from './balancer-fixture.ts'

const { WETH, USDC, DAI, WBTC, USDT } = tokens
const zero = '0x0000000000000000000000000000000000000000'
const ether = 10n ** 18n
const vaultAbi = new Interface(['error Error(string)'])

const inTenMinutes = () => Math.floor(Date.now() / 1000) + 600
const loose = ({ swap, amountRaw }: Quote) => (swap.exact === 'in' ? (amountRaw * 99n) / 100n : (amountRaw * 101n) / 100n)

describe('swaps of Balancer', () => {
  let balancer: Awaited<ReturnType<typeof openBalancer>>
  let eth: Token
  before(async () => {
    balancer = await openBalancer()
    eth = balancer.fixture.chain.nativeCurrency
    await balancer.approveAll()
  })
  after(() => balancer.fixture.close())

  const quoted = (swap: Swap) => balancer.AMM.quote(swap, {}, at())
  const planned = (quote: Quote, terms: { boundRaw?: bigint; deadline?: number } = {}) =>
    balancer.AMM.swap(quote, { recipient: balancer.fixture.trader.address, boundRaw: loose(quote), deadline: inTenMinutes(), ...terms })

  const swaps: readonly [name: string, hops: number, swapOf: () => Swap][] = [
    ['tokens for tokens, an exact amount in', 1, () => ({ tokenIn: USDC, tokenOut: WBTC, exact: 'in', amountRaw: 3_000_000_000n })],
    ['tokens for tokens, an exact amount out', 1, () => ({ tokenIn: WBTC, tokenOut: USDC, exact: 'out', amountRaw: 3_000_000_000n })],
    ['a pool that takes simple powers', 1, () => ({ tokenIn: USDT, tokenOut: WETH, exact: 'in', amountRaw: 10n ** 9n })],
    [
      'a pool that takes simple powers, an exact amount out',
      1,
      () => ({ tokenIn: WETH, tokenOut: USDT, exact: 'out', amountRaw: 10n ** 9n }),
    ],
    ['a pool with an oracle', 1, () => ({ tokenIn: DAI, tokenOut: WETH, exact: 'in', amountRaw: 10n ** 19n })],
    ['two hops', 2, () => ({ tokenIn: USDT, tokenOut: WBTC, exact: 'in', amountRaw: 10n ** 10n })],
    ['two hops, an exact amount out', 2, () => ({ tokenIn: USDT, tokenOut: WBTC, exact: 'out', amountRaw: 10_000_000n })],
    ['three hops', 3, () => ({ tokenIn: DAI, tokenOut: USDT, exact: 'in', amountRaw: 6n * 10n ** 21n })],
    ['three hops, an exact amount out', 3, () => ({ tokenIn: USDT, tokenOut: DAI, exact: 'out', amountRaw: 6n * 10n ** 21n })],
    ['the coin for tokens, an exact amount in', 1, () => ({ tokenIn: eth, tokenOut: USDC, exact: 'in', amountRaw: ether })],
    [
      'the coin for tokens, an exact amount out, with the rest given back',
      1,
      () => ({ tokenIn: eth, tokenOut: USDC, exact: 'out', amountRaw: 3_000_000_000n }),
    ],
    ['tokens for the coin, an exact amount in', 1, () => ({ tokenIn: USDC, tokenOut: eth, exact: 'in', amountRaw: 3_000_000_000n })],
    ['tokens for the coin, an exact amount out', 1, () => ({ tokenIn: WBTC, tokenOut: eth, exact: 'out', amountRaw: ether })],
  ]

  for (const [name, hops, swapOf] of swaps) {
    it(`give what was quoted, by the fill and by the balances: ${name}`, async () => {
      const { fixture, AMM, own } = balancer
      const swap = swapOf()
      const quote = await quoted(swap)
      expect(quote.route.length).to.equal(hops)
      expect(await own(quote)).to.equal(quote.amountRaw)
      const held = await Promise.all([fixture.balance(swap.tokenIn), fixture.balance(swap.tokenOut)])
      const plan = planned(quote)
      const receipt = await fixture.execute(plan)

      const [amountInRaw, amountOutRaw] = swap.exact === 'in' ? [swap.amountRaw, quote.amountRaw] : [quote.amountRaw, swap.amountRaw]
      expect(AMM.fill(receipt, JSON.parse(JSON.stringify(plan.memo)))).to.deep.equal({ amountInRaw, amountOutRaw })
      const gasRaw = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
      const now = await Promise.all([fixture.balance(swap.tokenIn), fixture.balance(swap.tokenOut)])
      expect(held[0] - now[0]).to.equal(amountInRaw + (swap.tokenIn.native ? gasRaw : 0n))
      expect(now[1] - held[1]).to.equal(amountOutRaw - (swap.tokenOut.native ? gasRaw : 0n))
      expect(Number(quote.gasUnits)).to.be.closeTo(Number(receipt.gasUsed), 0.3 * Number(receipt.gasUsed))
    })
  }

  it('need the exact amount, or the bound, and an allowance for the Vault; the coin needs none', async () => {
    const { vault } = balancer
    const sell = await quoted({ tokenIn: USDC, tokenOut: WETH, exact: 'in', amountRaw: 7n * 10n ** 6n })
    expect(planned(sell).needs).to.deep.equal([
      { is: 'balance', token: USDC.address, amountRaw: 7_000_000n },
      { is: 'allowance', token: USDC.address, spender: vault, amountRaw: 7_000_000n },
    ])
    const plan = planned(await quoted({ tokenIn: eth, tokenOut: USDC, exact: 'out', amountRaw: 10n ** 6n }), { boundRaw: 12_345n })
    expect(plan.needs).to.deep.equal([{ is: 'balance', token: zero, amountRaw: 12_345n }])
    expect(plan.steps.map(({ to, value }) => [to, value])).to.deep.equal([[vault, '12345']])
  })

  for (const exact of ['in', 'out'] as const) {
    for (const route of ['one hop', 'two hops'] as const) {
      it(`revert with a bound that is one unit too tight, and succeed at the bound itself (exact ${exact}, ${route})`, async () => {
        const [tokenIn, tokenOut] = route === 'one hop' ? [USDC, WETH] : [USDT, WBTC]
        const amountRaw = exact === 'in' ? 10n ** 9n : 10n ** 7n
        const quote = await quoted({ tokenIn, tokenOut, exact, amountRaw })
        const tight = quote.amountRaw + (exact === 'in' ? 1n : -1n)
        expect(await reason(planned(quote, { boundRaw: tight }))).to.equal('BAL#507')
        expect((await balancer.fixture.execute(planned(quote, { boundRaw: quote.amountRaw }))).status).to.equal(1)
      })
    }
  }

  it('revert after their deadline', async () => {
    const quote = await quoted({ tokenIn: USDC, tokenOut: WETH, exact: 'in', amountRaw: 10n ** 9n })
    expect(await reason(planned(quote, { deadline: quote.head.timestamp - 1 }))).to.equal('BAL#508')
  })

  it('show no fill where they reverted, in another receipt, or for another memo', async () => {
    const { fixture, AMM } = balancer
    const quote = await quoted({ tokenIn: USDC, tokenOut: WETH, exact: 'in', amountRaw: 10n ** 9n })
    const plan = planned(quote)
    const receipt = await fixture.execute(plan)
    const other = planned(await quoted({ tokenIn: WETH, tokenOut: USDC, exact: 'in', amountRaw: ether }))
    const { fill: readFill } = AMM
    const fill = (changes: Partial<EvmReceipt>, memo = plan.memo) => readFill({ ...receipt, ...changes }, memo)
    expect(fill({})).to.not.equal(undefined)
    expect(fill({}, other.memo)).to.equal(undefined)
    expect(fill({ status: 0 })).to.equal(undefined)
    expect(fill({ logs: [...receipt.logs, ...receipt.logs] })).to.equal(undefined)
    const elsewhere = receipt.logs.map((log) => ({ ...log, address: zero }))
    expect(fill({ logs: elsewhere })).to.equal(undefined)
    const memos: readonly Json[] = [null, 1, [], {}, { vault: zero, swaps: [1], exact: 'in' }, { vault: zero, swaps: [], exact: 'in' }]
    for (const memo of memos) expect(fill({}, memo)).to.equal(undefined)
  })

  const reason = async ({ steps: [{ to, data, value }] }: ReturnType<typeof planned>): Promise<unknown> => {
    const { provider, trader } = balancer.fixture
    const error: unknown = await provider
      .send('eth_call', [{ from: trader.address, to, data, value: `0x${BigInt(value).toString(16)}` }, 'latest'])
      .then(
        () => 'no revert',
        (thrown: unknown) => thrown,
      )
    const thrownData = /0x08c379a0[0-9a-f]+/.exec(JSON.stringify(error))?.[0] ?? '0x'
    return vaultAbi.decodeErrorResult('Error', thrownData)[0]
  }
})

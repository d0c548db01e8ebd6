import { expect } from 'chai'
import { Contract, Interface } from 'ethers'
import type { AMM, Quote, Swap, Token } from '../../../../core/contracts/index.ts'
import type { Evm } from '../../../../kits/evm/index.ts'
import { v2Deployments } from '../../../../plugins/uniswap/deployments.ts'
import { addresses } from '../../../devnet/addresses.ts'
import { pairAMM } from './pair-amm.ts'
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../devnet-fixture.ts'

const { router } = addresses.exchanges.uniswap
const { WETH, USDC, DAI, WBTC, USDT } = tokens
const zero = '0x0000000000000000000000000000000000000000'

const inTenMinutes = () => Math.floor(Date.now() / 1000) + 600
const loose = ({ swap, amountRaw }: Quote) => (swap.exact === 'in' ? (amountRaw * 99n) / 100n : (amountRaw * 101n) / 100n)

describe('swaps of a constant-product exchange', () => {
  let fixture: DevnetFixture
  let amm: AMM<Evm>
  let eth: Token

  before(async () => {
    fixture = await openDevnetFixture()
    amm = pairAMM(fixture.venue({ v2RouterAddress: router }), { version: 'v2', fee: [3n, 1000n], deployments: v2Deployments })
    eth = fixture.chain.nativeCurrency
    for (const { address } of [WETH, USDC, DAI, WBTC, USDT]) await fixture.approve(address, router)
  })
  after(() => fixture.close())

  const planned = (quote: Quote, terms: { boundRaw?: bigint; deadline?: number; recipient?: string } = {}) =>
    amm.swap(quote, { recipient: fixture.trader.address, boundRaw: loose(quote), deadline: inTenMinutes(), ...terms })

  const swaps: readonly [string, () => Swap][] = [
    ['tokens for tokens, an exact amount in', () => ({ tokenIn: USDC, tokenOut: WETH, exact: 'in', amountRaw: 3_000_000_000n })],
    ['tokens for tokens, an exact amount out', () => ({ tokenIn: USDC, tokenOut: WETH, exact: 'out', amountRaw: 10n ** 18n })],
    ['two hops', () => ({ tokenIn: DAI, tokenOut: WBTC, exact: 'in', amountRaw: 10n ** 22n })],
    ['two hops, an exact amount out', () => ({ tokenIn: DAI, tokenOut: WBTC, exact: 'out', amountRaw: 10_000_000n })],
    ['a token whose transfers return nothing', () => ({ tokenIn: USDT, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 9n })],
    ['the coin for tokens, an exact amount in', () => ({ tokenIn: eth, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 18n })],
    [
      'the coin for tokens, an exact amount out, with the rest given back',
      () => ({ tokenIn: eth, tokenOut: USDC, exact: 'out', amountRaw: 3_000_000_000n }),
    ],
    ['tokens for the coin, an exact amount in', () => ({ tokenIn: USDC, tokenOut: eth, exact: 'in', amountRaw: 3_000_000_000n })],
    ['tokens for the coin, an exact amount out', () => ({ tokenIn: WBTC, tokenOut: eth, exact: 'out', amountRaw: 10n ** 18n })],
  ]

  for (const [name, swapOf] of swaps) {
    it(`give what was quoted, by the fill and by the balances: ${name}`, async () => {
      const swap = swapOf()
      const quote = await amm.quote(swap, {}, at())
      const held = await Promise.all([fixture.balance(swap.tokenIn), fixture.balance(swap.tokenOut)])
      const plan = planned(quote)
      const receipt = await fixture.execute(plan)

      const fill = amm.fill(receipt, JSON.parse(JSON.stringify(plan.memo)))
      const [amountInRaw, amountOutRaw] = swap.exact === 'in' ? [swap.amountRaw, quote.amountRaw] : [quote.amountRaw, swap.amountRaw]
      expect(fill).to.deep.equal({ amountInRaw, amountOutRaw })

      const gasRaw = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
      const now = await Promise.all([fixture.balance(swap.tokenIn), fixture.balance(swap.tokenOut)])
      expect(held[0] - now[0]).to.equal(amountInRaw + (swap.tokenIn.native ? gasRaw : 0n))
      expect(now[1] - held[1]).to.equal(amountOutRaw - (swap.tokenOut.native ? gasRaw : 0n))
      expect(Number(quote.gasUnits)).to.be.closeTo(Number(receipt.gasUsed), 0.4 * Number(receipt.gasUsed))
    })
  }

  it('need the exact amount, or the bound, and an allowance for the router', async () => {
    const sell = await amm.quote({ tokenIn: USDC, tokenOut: WETH, exact: 'in', amountRaw: 7n * 10n ** 6n }, {}, at())
    expect(planned(sell).needs).to.deep.equal([
      { is: 'balance', token: USDC.address, amountRaw: 7_000_000n },
      { is: 'allowance', token: USDC.address, spender: router, amountRaw: 7_000_000n },
    ])
    const buy = await amm.quote({ tokenIn: USDC, tokenOut: WETH, exact: 'out', amountRaw: 10n ** 16n }, {}, at())
    expect(planned(buy, { boundRaw: 99n }).needs.map(({ amountRaw }) => amountRaw)).to.deep.equal([99n, 99n])
  })

  it('need the coin and no allowance for the coin, and carry the bound as value', async () => {
    const quote = await amm.quote({ tokenIn: eth, tokenOut: USDC, exact: 'out', amountRaw: 10n ** 6n }, {}, at())
    const plan = planned(quote, { boundRaw: 12_345n })
    expect(plan.needs).to.deep.equal([{ is: 'balance', token: zero, amountRaw: 12_345n }])
    expect(plan.steps.map(({ to, value }) => [to, value])).to.deep.equal([[router, '12345']])
  })

  it('pay another recipient', async () => {
    const recipient = '0x00000000000000000000000000000000000000AB'
    const quote = await amm.quote({ tokenIn: WETH, tokenOut: DAI, exact: 'in', amountRaw: 10n ** 17n }, {}, at())
    const plan = planned(quote, { recipient })
    const receipt = await fixture.execute(plan)
    expect(await fixture.balance(DAI, recipient)).to.equal(quote.amountRaw)
    expect(amm.fill(receipt, plan.memo)?.amountOutRaw).to.equal(quote.amountRaw)
  })

  for (const exact of ['in', 'out'] as const) {
    it(`revert past their bound and cost only gas (exact ${exact})`, async () => {
      const quote = await amm.quote({ tokenIn: WETH, tokenOut: DAI, exact, amountRaw: 10n ** 18n }, {}, at())
      const held = await fixture.balance(WETH)
      const plan = planned(quote, { boundRaw: quote.amountRaw + (exact === 'in' ? 1n : -1n) })
      const receipt = await fixture.execute(plan)
      expect(receipt.status).to.equal(0)
      expect(amm.fill(receipt, plan.memo)).to.equal(undefined)
      expect(await fixture.balance(WETH)).to.equal(held)
    })

    it(`succeed exactly at their bound (exact ${exact})`, async () => {
      const quote = await amm.quote({ tokenIn: WETH, tokenOut: DAI, exact, amountRaw: 10n ** 18n }, {}, at())
      expect((await fixture.execute(planned(quote, { boundRaw: quote.amountRaw }))).status).to.equal(1)
    })
  }

  it('revert after their deadline', async () => {
    const quote = await amm.quote({ tokenIn: WETH, tokenOut: DAI, exact: 'in', amountRaw: 10n ** 18n }, {}, at())
    const plan = planned(quote, { deadline: quote.head.timestamp - 1 })
    expect(plan.deadline).to.equal(quote.head.timestamp - 1)
    expect((await fixture.execute(plan)).status).to.equal(0)
  })

  it('show no fill in the receipt of another transaction', async () => {
    const quote = await amm.quote({ tokenIn: WETH, tokenOut: DAI, exact: 'in', amountRaw: 10n ** 18n }, {}, at())
    const other = await amm.quote({ tokenIn: DAI, tokenOut: WETH, exact: 'in', amountRaw: 10n ** 18n }, {}, at())
    const receipt = await fixture.execute(planned(other))
    expect(amm.fill(receipt, planned(quote).memo)).to.equal(undefined)
    expect(amm.fill(receipt, null)).to.equal(undefined)
    expect(amm.fill(receipt, { router })).to.equal(undefined)
  })

  it('have a fill without what somebody sent to the pool before, which the pool’s own log includes', async () => {
    const quote = await amm.quote({ tokenIn: WETH, tokenOut: DAI, exact: 'in', amountRaw: 10n ** 18n }, {}, at())
    const gift = new Contract(WETH.address, ['function transfer(address,uint256)'], fixture.trader)
    await fixture.mined((await gift.getFunction('transfer')(quote.route[0]?.pool, 777n)).hash)
    const plan = planned(quote)
    const fill = amm.fill(await fixture.execute(plan), plan.memo)
    expect(fill).to.deep.equal({ amountInRaw: 10n ** 18n, amountOutRaw: quote.amountRaw })
  })

  it('take three hops where there is no shorter route, and use about the estimated gas', async () => {
    const far = await fixture.list('TestToken', 'FAR', 10n ** 24n, USDC, 10n ** 12n)
    const near = await fixture.list('TestToken', 'NEAR', 10n ** 24n, DAI, 10n ** 24n)
    const quote = await amm.quote({ tokenIn: far, tokenOut: near, exact: 'in', amountRaw: 10n ** 18n }, {}, at())
    expect(quote.route.map(({ tokenOut }) => tokenOut)).to.deep.equal([USDC.address, DAI.address, near.address])

    const plan = planned(quote)
    const receipt = await fixture.execute(plan)
    expect(amm.fill(receipt, plan.memo)).to.deep.equal({ amountInRaw: 10n ** 18n, amountOutRaw: quote.amountRaw })
    expect(Number(quote.gasUnits)).to.be.closeTo(Number(receipt.gasUsed), 0.4 * Number(receipt.gasUsed))
  })

  it('call functions named after another coin at forks that have them', async () => {
    const abi = new Interface(['function swapExactAVAXForTokens(uint256,address[],address,uint256) payable'])
    const fork = pairAMM(fixture.venue({ routerAddress: router }), { fee: [3n, 1000n], deployments: v2Deployments, coin: 'AVAX' })
    const quote = await amm.quote({ tokenIn: eth, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 18n }, {}, at())
    const [step] = fork.swap(quote, { recipient: fixture.trader.address, boundRaw: 5n, deadline: 6 }).steps
    expect(abi.parseTransaction(step)?.args.toArray().slice(0, 2)).to.deep.equal([5n, [WETH.address, USDC.address]])
  })
})

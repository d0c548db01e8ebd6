import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { Contract } from 'ethers'
import { parse } from 'yaml'
import type { Connector, Quote, Swap, Token } from '../../../core/contracts/index.ts'
import { partsOf } from '../../../kits/amm/index.ts'
import type { Evm } from '../../../kits/evm/index.ts'
import uniswap from '../../../plugins/uniswap/index.ts'
import { devnetQuoter } from '../../../testkit/devnet-operators.ts'
import { devnetFiles } from '../../devnet/test-devnet.ts'
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../../kits/amm/devnet-fixture.ts'

const { WETH, USDC, DAI, WBTC, USDT } = tokens
const defaults = parse(readFileSync(new URL('../../../plugins/uniswap/defaults.yml', import.meta.url), 'utf8'))
const [uniswapFile = ''] = devnetFiles
const permit2Abi = ['function approve(address token, address spender, uint160 amount, uint48 expiration)']
const [most, never] = [2n ** 160n - 1n, 2n ** 48n - 1n]

describe('Uniswap v4', () => {
  let fixture: DevnetFixture
  let exchange: Connector<Evm, 'AMM' | 'AMM_RANGE'>
  let ETH: Token
  before(async () => {
    fixture = await openDevnetFixture()
    exchange = uniswap.create({ ...fixture.venue(defaults.contractAddresses.local), config: defaults })
    ETH = fixture.chain.nativeCurrency
    const { address, spenders } = exchange.permit2 ?? { address: '', spenders: [] }
    const permit2 = new Contract(address, permit2Abi, fixture.trader)
    for (const token of [WETH, USDC, DAI, WBTC, USDT]) {
      for (const each of [address, ...Object.values(exchange.spenders ?? {})]) await fixture.approve(token.address, each)
      for (const spender of spenders) await (await permit2.getFunction('approve')(token.address, spender, most, never)).wait()
    }
  })
  after(() => fixture.close())

  const sell = (tokenIn: Token, tokenOut: Token, amountRaw: bigint): Swap => ({ tokenIn, tokenOut, exact: 'in', amountRaw })
  const buy = (tokenIn: Token, tokenOut: Token, amountRaw: bigint): Swap => ({ tokenIn, tokenOut, exact: 'out', amountRaw })
  const quote = (swap: Swap, version?: string): Promise<Quote> => exchange.AMM.quote(swap, version === undefined ? {} : { version }, at())

  /** By the exchange's own quoter, part by part. */
  const own = async (each: Quote): Promise<bigint> => {
    const quoter = await devnetQuoter(uniswapFile, fixture.provider)
    let sum = 0n
    for (const { route, exactRaw } of partsOf(each))
      sum += (await (each.swap.exact === 'in' ? quoter?.exactIn : quoter?.exactOut)?.(route, exactRaw, Number(each.head.number))) ?? 0n
    return sum
  }

  /** Trades at the quoted price, with no room unless it is given, and says what moved by balances and by the fill. */
  async function trade(each: Quote, boundRaw = each.amountRaw) {
    const { tokenIn, tokenOut } = each.swap
    const before = [await fixture.balance(tokenIn), await fixture.balance(tokenOut)] as const
    const plan = exchange.AMM.swap(each, {
      recipient: fixture.trader.address,
      boundRaw,
      deadline: Math.floor(Date.now() / 1000) + 600,
    })
    const receipt = await fixture.execute(plan)
    const gasRaw = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice ?? 0)
    const spent = before[0] - (await fixture.balance(tokenIn)) - (tokenIn.native ? gasRaw : 0n)
    const received = (await fixture.balance(tokenOut)) - before[1] + (tokenOut.native ? gasRaw : 0n)
    return { receipt, moved: { amountInRaw: spent, amountOutRaw: received }, fill: exchange.AMM.fill(receipt, plan.memo) }
  }

  it('asks the node at most four times for the first quote of a pair', async () => {
    const fresh = uniswap.create({ ...fixture.venue(defaults.contractAddresses.local), config: defaults })
    const before = fixture.counted.rpc
    const first = await fresh.AMM?.quote(sell(WETH, DAI, 5n * 10n ** 18n), { version: 'v4' }, at())
    expect(first?.route.every(({ version }) => version === 'v4')).to.equal(true)
    expect(fixture.counted.rpc - before).to.be.within(1, 4)
  })

  it('quotes to the unit what its own quoter says', async () => {
    const pairs = [
      [WETH, USDC],
      [USDC, WETH],
      [USDC, DAI],
      [DAI, USDC],
      [USDT, USDC],
      [USDT, WETH],
      [WETH, USDT],
      [DAI, WBTC],
      [USDC, WBTC],
    ] as const
    for (const [a, b] of pairs)
      for (const size of [1n, 10n, 1000n]) {
        const unit = 10n ** BigInt(Math.max(a.decimals - 3, 0))
        for (const swap of [sell(a, b, unit * size), buy(a, b, 10n ** BigInt(Math.max(b.decimals - 3, 0)) * size)]) {
          const each = await quote(swap, 'v4')
          expect(new Set(each.route.map(({ version }) => version))).to.deep.equal(new Set(['v4']))
          expect(each.amountRaw, `${a.symbol} ${b.symbol} ${swap.exact} ${swap.amountRaw}`).to.equal(await own(each))
        }
      }
  })

  it('trades what it quotes, with the coin in either form at each end', async () => {
    const swaps = [
      sell(ETH, USDC, 10n ** 17n),
      sell(USDC, ETH, 100_000_000n),
      sell(WETH, USDC, 10n ** 17n),
      sell(USDC, WETH, 100_000_000n),
      buy(ETH, USDC, 100_000_000n),
      buy(USDC, ETH, 10n ** 17n),
      buy(WETH, USDC, 100_000_000n),
      buy(USDC, WETH, 10n ** 17n),
      sell(ETH, USDT, 10n ** 17n),
      buy(USDT, ETH, 10n ** 17n),
      sell(DAI, WBTC, 10n ** 21n),
      buy(USDT, DAI, 10n ** 20n),
      sell(ETH, USDC, 90n * 10n ** 18n),
      buy(USDC, ETH, 90n * 10n ** 18n),
      sell(WBTC, ETH, 10_000_000n),
      buy(ETH, WBTC, 1_000_000n),
    ]
    for (const swap of swaps) {
      const each = await quote(swap, 'v4')
      const { receipt, moved, fill } = await trade(each)
      const name = `${swap.tokenIn.symbol} ${swap.tokenOut.symbol} ${swap.exact} ${each.route.length}`
      expect(receipt.status, name).to.equal(1)
      const quoted =
        swap.exact === 'in'
          ? { amountInRaw: swap.amountRaw, amountOutRaw: each.amountRaw }
          : { amountInRaw: each.amountRaw, amountOutRaw: swap.amountRaw }
      expect(moved, name).to.deep.equal(quoted)
      expect(fill, name).to.deep.equal(quoted)
    }
  })

  it('buys exactly the amount, however it is split, also where the pools have moved since the quote', async () => {
    const dollars = 10n ** 6n
    let splits = 0
    for (const [paid, bought, amountRaw] of [
      [WBTC, USDT, 500_000n * dollars],
      [WBTC, USDT, 1_000_000n * dollars + 1n],
      [WBTC, USDC, 800_000n * dollars + 7n],
      [WETH, USDT, 700_000n * dollars + 3n],
      [USDC, WETH, 300n * 10n ** 18n + 1n],
      [USDT, WBTC, 10n ** 9n + 1n],
    ] as const) {
      const [swap, other] = [buy(paid, bought, amountRaw), sell(paid, bought, 10n ** BigInt(paid.decimals) + 1n)]
      for (const hasMoved of [false, true]) {
        const each = await quote(swap)
        if (each.parts) splits += 1
        if (hasMoved) await trade(await quote(other))
        const { moved, fill } = await trade(each, (each.amountRaw * 11n) / 10n)
        expect(moved.amountOutRaw, `${paid.symbol} ${bought.symbol} ${amountRaw}`).to.equal(amountRaw)
        expect(fill).to.deep.equal(moved)
        if (!hasMoved) expect(moved.amountInRaw).to.equal(each.amountRaw)
      }
    }
    expect(splits).to.be.above(4)
  })
})

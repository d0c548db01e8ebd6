import { expect } from 'chai'
import { Contract, getCreate2Address, id, keccak256 } from 'ethers'
import * as fc from 'fast-check'
import type { AMM, Swap, Token } from '../../../../core/contracts/index.ts'
import type { Evm } from '../../../../kits/evm/index.ts'
import { v2Deployments } from '../../../../plugins/uniswap/deployments.ts'
import { addresses } from '../../../devnet/addresses.ts'
import { pairAMM } from './pair-amm.ts'
import { pathsBetween } from '../paths-between.ts'
import { rejection } from './rejection.ts'
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../devnet-fixture.ts'

const { router } = addresses.exchanges.uniswap
const options = { version: 'v2', fee: [3n, 1000n], deployments: v2Deployments } as const
const { WETH, USDC, DAI, WBTC, USDT } = tokens
const oneOf = ({ decimals }: Token) => 10n ** BigInt(decimals)

describe('quotes of a constant-product exchange', () => {
  let fixture: DevnetFixture
  let amm: AMM<Evm>
  let own: Contract
  let eth: Token

  before(async () => {
    fixture = await openDevnetFixture()
    amm = pairAMM(fixture.venue({ v2RouterAddress: router }), options)
    eth = fixture.chain.nativeCurrency
    own = new Contract(
      router,
      [
        'function getAmountsOut(uint256,address[]) view returns (uint256[])',
        'function getAmountsIn(uint256,address[]) view returns (uint256[])',
      ],
      fixture.provider,
    )
  })
  after(() => fixture.close())

  const refused = (swap: Swap) => rejection(amm.quote(swap, {}, at()))

  /** The output of the exchange's own router along a path. */
  const ask = async (exact: 'in' | 'out', amountRaw: bigint, path: readonly string[], blockTag: number): Promise<bigint> => {
    const amounts: bigint[] = [
      ...(await own.getFunction(exact === 'in' ? 'getAmountsOut' : 'getAmountsIn').staticCall(amountRaw, path, { blockTag })),
    ]
    return (exact === 'in' ? amounts.at(-1) : amounts[0]) ?? 0n
  }

  it('equal the router to the unit, at their block, for a thousand random swaps', async () => {
    const pair = fc.shuffledSubarray([eth, USDC, DAI, WBTC, USDT], { minLength: 2, maxLength: 2 })
    const size = fc.tuple(fc.integer({ min: 0, max: 4 }), fc.bigInt({ min: 1_000_000n, max: 9_999_999n }))
    const swaps = fc.sample(fc.tuple(pair, fc.constantFrom('in' as const, 'out' as const), size), 1000)
    const lengths = new Set<number>()
    const compare = async ([[tokenIn = WETH, tokenOut = WETH], exact, [exponent, mantissa]]: (typeof swaps)[number]): Promise<void> => {
      const given = exact === 'in' ? tokenIn : tokenOut
      const worth = [USDC, DAI, USDT].includes(given) ? 1000n : 1n
      // From a ten-thousandth of a coin to ten of them.
      const amountRaw = (worth * oneOf(given) * mantissa * 10n ** BigInt(exponent)) / 10n ** 10n + 1n
      const quote = await amm.quote({ tokenIn, tokenOut, exact, amountRaw }, {}, at())
      const path = [...quote.route.slice(0, 1).map((hop) => hop.tokenIn), ...quote.route.map((hop) => hop.tokenOut)]
      expect(quote.amountRaw).to.equal(await ask(exact, amountRaw, path, Number(quote.head.number)))
      lengths.add(quote.route.length)
    }
    for (let done = 0; done < swaps.length; done += 25) await Promise.all(swaps.slice(done, done + 25).map(compare))
    expect([...lengths]).to.have.members([1, 2])
  }).timeout(400_000)

  it('take the best of all routes the router knows', async () => {
    const free = { ...fixture.chain.reader, gasPriceRaw: () => 0n }
    const gasFree = pairAMM({ ...fixture.venue({ v2RouterAddress: router }), reader: free }, options)
    for (const [tokenIn, tokenOut] of [
      [USDT, WBTC],
      [DAI, USDT],
      [WETH, USDC],
      [WBTC, DAI],
    ] as const) {
      const amountRaw = 5000n * oneOf(tokenIn)
      const quote = await gasFree.quote({ tokenIn, tokenOut, exact: 'in', amountRaw }, {}, at())
      const paths = pathsBetween(
        tokenIn.address,
        tokenOut.address,
        fixture.chain.reader.intermediates.map(({ address }) => address),
      )
      const offers = await Promise.all(paths.map((path) => ask('in', amountRaw, path, Number(quote.head.number)).catch(() => 0n)))
      expect(quote.amountRaw).to.equal(offers.reduce((a, b) => (a > b ? a : b)))
    }
  })

  it('cost one call to the node each', async () => {
    const before = fixture.counted.rpc
    for (let count = 0; count < 10; count += 1)
      await amm.quote({ tokenIn: WETH, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 18n }, {}, at())
    expect(fixture.counted.rpc - before).to.equal(10)
  })

  it('check the configured router once', async () => {
    const asked: number[] = []
    const { reader } = fixture.chain
    const counting = { ...reader, read: (...args: Parameters<typeof reader.read>) => (asked.push(args[0].length), reader.read(...args)) }
    const counted = pairAMM({ ...fixture.venue({ v2RouterAddress: router }), reader: counting }, options)
    for (let count = 0; count < 2; count += 1)
      await counted.quote({ tokenIn: WETH, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 18n }, {}, at())
    expect((asked[0] ?? 0) - (asked[1] ?? 0)).to.equal(2)
  })

  it('name their pools, fees and block', async () => {
    const quote = await amm.quote({ tokenIn: DAI, tokenOut: WBTC, exact: 'in', amountRaw: 10n ** 21n }, {}, at())
    expect(quote.route.map(({ tokenIn, tokenOut, version, fee }) => [tokenIn, tokenOut, version, fee])).to.deep.equal([
      [DAI.address, WETH.address, 'v2', '0.003'],
      [WETH.address, WBTC.address, 'v2', '0.003'],
    ])
    expect(quote.spender).to.equal(router)
    expect(Number(quote.head.number)).to.be.closeTo(await fixture.provider.getBlockNumber(), 2)
    // 1000 DAI at 3000 DAI and 20 WETH per WBTC.
    expect(quote.spotAmountRaw).to.equal(1_666_667n)
  })

  it('use the pools of the wrapped coin for the coin', async () => {
    const [coin, wrapped] = await Promise.all(
      [eth, WETH].map((tokenIn) => amm.quote({ tokenIn, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 18n }, {}, at())),
    )
    expect(coin?.amountRaw).to.equal(wrapped?.amountRaw)
    expect(coin?.route).to.deep.equal(wrapped?.route)
  })

  describe('end in a refusal', () => {
    it('with the largest possible amount, which can be traded', async () => {
      const swap = { tokenIn: WETH, tokenOut: WBTC, exact: 'out' } as const
      const error = await refused({ ...swap, amountRaw: 1000n * 10n ** 8n })
      expect(error).to.include({ name: 'PRICE_FAILED' })
      expect(error.details).to.deep.equal({ token: 'WBTC', most: '499.99999999' })
      expect((await amm.quote({ ...swap, amountRaw: 49_999_999_999n }, {}, at())).amountRaw).to.be.a('bigint')
    })

    it('for more than a pool takes', async () => {
      const error = await refused({ tokenIn: WETH, tokenOut: USDC, exact: 'in', amountRaw: 2n ** 200n })
      expect(error).to.include({ name: 'PRICE_FAILED' })
      expect(error.message).to.match(/cannot take that much: at most 519229685852\d+\.\d+ WETH/)
    })

    it('for an input so small that nothing would come out', async () => {
      const error = await refused({ tokenIn: WETH, tokenOut: USDC, exact: 'in', amountRaw: 1n })
      expect(error).to.include({ name: 'PRICE_FAILED' })
      expect(error.message).to.match(/^0\.000000000000000001 WETH is too little/)
    })

    it('for a token without any pool', async () => {
      const nobody = { symbol: 'NONE', address: getCreate2Address(router, id('none'), keccak256('0x')), decimals: 18 }
      const error = await refused({ tokenIn: nobody, tokenOut: USDC, exact: 'in', amountRaw: 1n })
      expect(error).to.include({ name: 'PRICE_FAILED' })
      expect(error.message).to.match(/no pool from NONE to USDC, neither a direct one nor one through WETH, USDC/)
    })

    it('for the coin against its wrapped form', async () => {
      expect(await refused({ tokenIn: eth, tokenOut: WETH, exact: 'in', amountRaw: 1n })).to.include({ name: 'INCOMPLETE_PARAMS' })
    })

    it('for a version that the exchange does not have', async () => {
      const swap = { tokenIn: WETH, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 18n } as const
      expect(await rejection(amm.quote(swap, { version: 'v9' }, at()))).to.include({ name: 'UNSUPPORTED' })
      expect((await amm.quote(swap, { version: 'v2' }, at())).route).to.have.length(1)
    })

    it('while the configured router is another exchange’s or no contract', async () => {
      const swap = { tokenIn: WETH, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 18n } as const
      for (const wrong of [addresses.exchanges.sushiswap.router, fixture.trader.address]) {
        const misled = pairAMM(fixture.venue({ v2RouterAddress: wrong }), options)
        const error = await rejection(misled.quote(swap, {}, at()))
        expect(error).to.include({ name: 'SERVICE_UNINITIALIZED' })
        expect(error.message).to.contain(wrong)
      }
    })
  })
})

import { expect } from 'chai'
import { Contract, MaxUint256 } from 'ethers'
import type { AMM, Token } from '../../../../../core/contracts/index.ts'
import type { Evm } from '../../../../../kits/evm/index.ts'
import { poolAMM } from '../../../../../kits/amm/index.ts'
import { uniswapV3 } from '../../../../../kits/amm/v3/index.ts'
import { getSqrtRatioAtTick } from '../../../../../kits/amm/v3/math.ts'
import { v3Deployments } from '../../../../../plugins/uniswap/deployments.ts'
import { addresses } from '../../../../devnet/addresses.ts'
import { rejection } from '../../v2/rejection.ts'
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../../devnet-fixture.ts'

const { WETH } = tokens
const ether = 10n ** 18n
const { router, positionManager } = addresses.rangeExchanges.uniswap
const managerAbi = [
  'function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) payable returns (address)',
  'function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline)) payable returns (uint256, uint128, uint256, uint256)',
]

describe('tokens that take a fee on transfer and have pools of concentrated liquidity only', () => {
  let fixture: DevnetFixture
  let amm: AMM<Evm>
  let feeCode: string

  before(async () => {
    fixture = await openDevnetFixture()
    const venue = fixture.venue({ v3RouterAddress: router, positionManagerAddress: positionManager })
    amm = poolAMM(venue, uniswapV3(venue, { deployments: v3Deployments }))
    const taking = await fixture.deploy('FeeOnTransferToken', 'Fee', 'FEE', 18)
    feeCode = await fixture.provider.getCode(await taking.getAddress())
    await fixture.approve(WETH.address, positionManager)
  })
  after(() => fixture.close())

  /** A new token in a pool with WETH at a price of 1, in a range that is so many tick spacings above or below that, in the token's price. */
  const list = async (symbol: string, range: readonly [lower: number, upper: number]): Promise<Token> => {
    const contract = await fixture.deploy('TestToken', symbol, symbol, 18)
    const address = await contract.getAddress()
    await (await contract.getFunction('mint')(fixture.trader.address, 1000n * ether)).wait()
    await fixture.approve(address, positionManager)
    const tokenFirst = address.toLowerCase() < WETH.address.toLowerCase()
    const [token0, token1] = tokenFirst ? [address, WETH.address] : [WETH.address, address]
    const [from = 0, to = 0] = (tokenFirst ? range : [-range[1], -range[0]]).map((spacings) => spacings * 60)
    const manager = new Contract(positionManager, managerAbi, fixture.trader)
    await (await manager.getFunction('createAndInitializePoolIfNecessary')(token0, token1, 3000, getSqrtRatioAtTick(0))).wait()
    const mint = [token0, token1, 3000, from, to, ether, ether, 0n, 0n, fixture.trader.address, MaxUint256]
    // One block later it can take more gas than estimated.
    await (await manager.getFunction('mint')(mint, { gasLimit: 5_000_000n })).wait()
    return { symbol, address, decimals: 18 }
  }
  /** Pools refuse tokens that take a fee, but a fee can be switched on later. */
  const takeFee = ({ address }: Token) => fixture.provider.send('anvil_setCode', [address, feeCode])

  const buy = (token: Token) => amm.quote({ tokenIn: WETH, tokenOut: token, exact: 'in', amountRaw: ether / 1000n }, {}, at())
  const sell = (token: Token) => amm.quote({ tokenIn: token, tokenOut: WETH, exact: 'in', amountRaw: ether / 1000n }, {}, at())

  it('get a refusal when bought and when sold, which names the fee; others get none', async () => {
    const exact = await list('PLAIN', [-10, 10])
    expect((await buy(exact)).amountRaw > 0n).to.equal(true)
    expect((await sell(exact)).amountRaw > 0n).to.equal(true)
    const taxed = await list('TAX', [-10, 10])
    await takeFee(taxed)
    for (const error of [await rejection(buy(taxed)), await rejection(sell(taxed))]) {
      expect(error).to.include({ name: 'TOKEN_NOT_SUPPORTED' })
      expect(error.message).to.match(/^TAX \(0x[0-9a-fA-F]{40}\) takes a fee on transfer \(2 % when bought, 2 % when sold\)/)
    }
  })

  it('get a refusal where the pool has nothing in range but can still be bought from', async () => {
    const aside = await list('ASIDE', [2, 3])
    expect((await buy(aside)).amountRaw > 0n).to.equal(true)
    const taxed = await list('TAX2', [2, 3])
    await takeFee(taxed)
    expect((await rejection(buy(taxed))).message).to.match(/takes a fee on transfer \(2 % when bought, 2 % when sold\)/)
  })

  it('need no check where the pool has none of the token: nobody can buy it, and the pool refuses who sells it', async () => {
    const soldOnly = await list('SOLD', [-3, -2])
    await takeFee(soldOnly)
    expect(await rejection(buy(soldOnly))).to.include({ name: 'PRICE_FAILED' })
    const quote = await sell(soldOnly)
    await fixture.approve(soldOnly.address, router)
    const terms = { recipient: fixture.trader.address, boundRaw: 1n, deadline: Math.floor(Date.now() / 1000) + 600 }
    expect((await fixture.execute(amm.swap(quote, terms))).status).to.equal(0)
  })
})

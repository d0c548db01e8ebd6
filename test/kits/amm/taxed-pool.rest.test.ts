import { expect } from 'chai'
import { Contract, ContractFactory, MaxUint256 } from 'ethers'
import type { Quote, QuoteChoice } from '../../../core/contracts/index.ts'
import { poolAMM } from '../../../kits/amm/index.ts'
import { uniswapV2 } from '../../../kits/amm/v2/index.ts'
import { getSqrtRatioAtTick } from '../../../kits/amm/v3/math.ts'
import { uniswapV3 } from '../../../kits/amm/v3/index.ts'
import { v2Deployments, v3Deployments } from '../../../plugins/uniswap/deployments.ts'
import { addresses } from '../../devnet/addresses.ts'
import oddToken from '../../fixtures/tokens/OddToken.json' with { type: 'json' }
import { at, openDevnetFixture, tokens, type DevnetFixture } from './devnet-fixture.ts'
import { rejection } from './v2/rejection.ts'

const { WETH } = tokens
const ether = 10n ** 18n
const { router: v3RouterAddress, positionManager: positionManagerAddress } = addresses.rangeExchanges.uniswap
const contracts = { v2RouterAddress: addresses.exchanges.uniswap.router, v3RouterAddress, positionManagerAddress }
const managerAbi = [
  'function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) payable returns (address)',
  'function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline)) payable returns (uint256, uint128, uint256, uint256)',
]

describe('a token that takes a fee of what comes out of one of its pools only', () => {
  let fixture: DevnetFixture
  let token: Contract
  let address: string

  before(async () => {
    fixture = await openDevnetFixture()
    const { trader } = fixture
    const deployed = await new ContractFactory(oddToken.abi, oddToken.bytecode, trader).deploy('Tax', 'TAX', 18)
    address = await (await deployed.waitForDeployment()).getAddress()
    token = new Contract(address, oddToken.abi, trader)
    await (await token.getFunction('mint')(trader.address, 1000n * ether)).wait()
    await fixture.pool(address, 10n * ether, WETH.address, 10n * ether)
    await fixture.approve(WETH.address, positionManagerAddress)
    await fixture.approve(address, positionManagerAddress)
    const [token0, token1] = BigInt(address) < BigInt(WETH.address) ? [address, WETH.address] : [WETH.address, address]
    const manager = new Contract(positionManagerAddress, managerAbi, trader)
    await (await manager.getFunction('createAndInitializePoolIfNecessary')(token0, token1, 3000, getSqrtRatioAtTick(0))).wait()
    const mint = [token0, token1, 3000, -12_000, 12_000, 5n * ether, 5n * ether, 0n, 0n, trader.address, MaxUint256]
    await (await manager.getFunction('mint')(mint, { gasLimit: 5_000_000n })).wait()
  })
  after(() => fixture.close())

  /** An exchange that has seen no token yet, and its quotes of a purchase. */
  const buyer = () => {
    const venue = fixture.venue(contracts)
    const amm = poolAMM(
      venue,
      uniswapV2(venue, { version: 'v2', fee: [3n, 1000n], deployments: v2Deployments }),
      uniswapV3(venue, { deployments: v3Deployments, mixedWith: { version: 'v2', deployments: v2Deployments } }),
    )
    const tokenOut = { symbol: 'TAX', address, decimals: 18 }
    return async (choice: QuoteChoice = {}): Promise<Quote> =>
      amm.quote({ tokenIn: WETH, tokenOut, exact: 'in', amountRaw: 2n * ether }, choice, at())
  }
  const takeFrom = async (pool: string | undefined) => {
    await (await token.getFunction('tax')(5n, 0n, true)).wait()
    await (await token.getFunction('taxOnly')(pool)).wait()
  }
  const poolsOf = async () => {
    await takeFrom(fixture.trader.address)
    const quote = await buyer()()
    expect(quote.parts).to.have.length(2)
    return new Map(quote.route.map(({ version, pool }) => [version, pool]))
  }

  it('fails through that pool, although another pool showed that its transfers are exact', async () => {
    const pools = await poolsOf()
    for (const [taxed, other] of [
      ['v2', 'v3'],
      ['v3', 'v2'],
    ] as const) {
      await takeFrom(pools.get(taxed))
      const buy = buyer()
      expect((await buy({ version: other })).amountRaw > 0n).to.equal(true)
      const error = await rejection(buy({ version: taxed }))
      expect(error, taxed).to.include({ name: 'TOKEN_NOT_SUPPORTED' })
      expect(error.message).to.match(/^TAX \(0x[0-9a-fA-F]{40}\) takes a fee on transfer \(5 % when bought, 0 % when sold\)/)
      expect((await buy({ version: other })).amountRaw > 0n).to.equal(true)
    }
  })

  it('fails where any part of a divided trade passes that pool', async () => {
    const pools = await poolsOf()
    for (const version of ['v2', 'v3']) {
      await takeFrom(pools.get(version))
      expect(await rejection(buyer()()), version).to.include({ name: 'TOKEN_NOT_SUPPORTED' })
    }
  })
})

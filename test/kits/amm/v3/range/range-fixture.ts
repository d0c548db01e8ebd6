import { Contract, type Wallet } from 'ethers'
import type { AMMRange, Plan, RangeAmounts, RangeTerms, Token } from '../../../../../core/contracts/index.ts'
import type { TickPool, TickPosition, TickRange } from '../../../../../kits/amm/v3/range-prices.ts'
import type { Evm, EvmReceipt } from '../../../../../kits/evm/index.ts'
import { v3Range } from '../../../../../kits/amm/v3/range.ts'
import { rangeOf } from '../../../../../kits/amm/v3/range-prices.ts'
import { v3Deployments } from '../../../../../plugins/uniswap/deployments.ts'
import { addresses } from '../../../../devnet/addresses.ts'
import { at, openDevnetFixture, tokens } from '../../devnet-fixture.ts'

const { positionManager, router } = addresses.rangeExchanges.uniswap
const routerAbi = [
  'function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params) payable returns (uint256)',
]
const managerAbi = [
  'function collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max) params) payable returns (uint256 amount0, uint256 amount1)',
]
const most128 = 2n ** 128n - 1n

export const inTenMinutes = () => Math.floor(Date.now() / 1000) + 600

export type RangeFixture = Awaited<ReturnType<typeof openRangeFixture>>

/** The devnet's pools of concentrated liquidity, positions through the kit, and swaps without it. */
export async function openRangeFixture() {
  const fixture = await openDevnetFixture()
  const exchange = {
    version: 'v3',
    ...v3Deployments['ethereum/local'],
    fees: [100, 500, 3000, 10_000],
    feeTiers: { LOWEST: 100, LOW: 500, MEDIUM: 3000, HIGH: 10_000 },
    positionManager,
    listed: new Set(Object.values(tokens).map(({ address }) => address)),
  }
  const range: AMMRange<Evm> = v3Range(exchange, fixture.chain.reader)
  for (const { address } of Object.values(tokens)) {
    await fixture.approve(address, positionManager)
    await fixture.approve(address, router)
  }
  const owner = fixture.trader.address
  const terms = (changed: Partial<RangeTerms> = {}): RangeTerms => ({
    owner,
    slippage: { numerator: 1n, denominator: 100n },
    deadline: inTenMinutes(),
    native: false,
    ...changed,
  })

  const pool = async (a: Token, b: Token, fee: number): Promise<TickPool> => {
    const { pools } = await range.rangePools([a, b], { fee }, at())
    if (!pools[0]) throw new Error(`No pool of ${a.symbol} and ${b.symbol} at ${fee}.`)
    return pools[0] as TickPool
  }

  /** A range whose bounds are this many tick spacings from the price. */
  const about = ({ tick, tickSpacing }: TickPool, below: number, above: number): TickRange => {
    const nearest = Math.floor(tick / tickSpacing)
    return rangeOf((nearest + below) * tickSpacing, (nearest + above) * tickSpacing)
  }

  const succeed = async (plan: Plan<Evm>): Promise<EvmReceipt> => {
    const receipt = await fixture.execute(plan)
    if (receipt.status !== 1) throw new Error(`Reverted: ${receipt.transactionHash}`)
    return receipt
  }

  const minted = async (of: TickPool, between: TickRange, most: RangeAmounts, changed: Partial<RangeTerms> = {}): Promise<string> => {
    const plan = range.add({ pool: of, range: between, most }, terms(changed))
    const fill = range.rangeFill(await succeed(plan), plan.memo)
    if (!fill) throw new Error('No fill of a mint.')
    return fill.tokenId
  }

  const position = async (tokenId: string): Promise<TickPosition> => {
    const read = await range.position(tokenId, at())
    if (!read) throw new Error(`No position ${tokenId}.`)
    return read.position as TickPosition
  }

  /** What the manager itself would pay for a collection now. */
  const collectable = async (tokenId: string, of = owner): Promise<RangeAmounts> => {
    const manager = new Contract(positionManager, managerAbi, fixture.provider)
    const params = { tokenId, recipient: of, amount0Max: most128, amount1Max: most128 }
    const [amount0Raw, amount1Raw] = await manager.getFunction('collect').staticCall(params, { from: of })
    return { amount0Raw, amount1Raw }
  }

  /** Swaps the amount, or less where the pool's price reaches the limit. */
  const swap = async (tokenIn: Token, tokenOut: Token, fee: number, amountInRaw: bigint, sqrtPriceLimitX96 = 0n): Promise<EvmReceipt> => {
    const contract = new Contract(router, routerAbi, fixture.trader)
    const params = {
      tokenIn: tokenIn.address,
      tokenOut: tokenOut.address,
      fee,
      recipient: owner,
      amountIn: amountInRaw,
      amountOutMinimum: 0n,
      sqrtPriceLimitX96,
    }
    const sent = await contract.getFunction('exactInputSingle')(params, { gasLimit: 5_000_000n })
    const receipt = await fixture.mined(sent.hash)
    if (receipt.status !== 1) throw new Error(`The swap reverted: ${sent.hash}`)
    return receipt
  }

  /** Swaps until the pool has this price. */
  const moveTo = async ({ token0, token1, fee }: TickPool, sqrtPriceX96: bigint): Promise<void> => {
    const ends = [token0, token1].map((address) => Object.values(tokens).find((token) => token.address === address))
    const [first, second] = ends
    if (!first || !second) throw new Error('A pool of other tokens.')
    const falls = sqrtPriceX96 < (await pool(first, second, fee)).sqrtPriceX96
    await swap(falls ? first : second, falls ? second : first, fee, 10n ** (falls ? 28n : 28n), sqrtPriceX96)
  }

  const as = (wallet: Wallet, plan: Plan<Evm>) => {
    const [{ to, data, value }] = plan.steps
    return wallet.sendTransaction({ to, data, value, gasLimit: 1_000_000n }).then(({ hash }) => fixture.mined(hash))
  }

  return { ...fixture, range, exchange, owner, terms, pool, about, succeed, minted, position, collectable, swap, moveTo, as }
}

import { MaxUint256, parseUnits } from 'ethers'
import type { PerpFixture } from './fixture.ts'

const tickOf = (price: number) => Math.round(Math.log(price) / Math.log(1.0001) / 200) * 200

/** Adds liquidity of the exchange's deployer between two prices. */
export async function addRange(
  fixture: PerpFixture,
  base: string,
  { lower, upper, depth }: { lower: number; upper: number; depth: number },
): Promise<void> {
  const house = await fixture.contract('ClearingHouse')
  const params = {
    baseToken: fixture.named(base).id,
    base: parseUnits(String(depth), 18),
    quote: parseUnits(String(depth * upper), 18),
    lowerTick: tickOf(lower),
    upperTick: tickOf(upper),
    minBase: 0n,
    minQuote: 0n,
    useTakerBalance: false,
    deadline: MaxUint256,
  }
  await (await house.getFunction('addLiquidity').send(params, { gasLimit: 6_000_000n })).wait()
}

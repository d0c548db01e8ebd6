import { outBetween, paidBetween } from '../math/swap-math.ts'

/** From one price to another with the same liquidity all the way. What goes in and comes out is reckoned when it is first asked for. */
export class Stretch {
  readonly startX96: bigint
  readonly endX96: bigint
  readonly liquidity: bigint
  readonly #feePips: bigint
  readonly #zeroForOne: boolean
  #paidRaw: bigint | undefined
  #outRaw: bigint | undefined

  constructor(startX96: bigint, endX96: bigint, liquidity: bigint, feePips: bigint, zeroForOne: boolean) {
    this.startX96 = startX96
    this.endX96 = endX96
    this.liquidity = liquidity
    this.#feePips = feePips
    this.#zeroForOne = zeroForOne
  }

  /** For all of it, with the fee; rounded up. */
  get paidRaw(): bigint {
    return (this.#paidRaw ??= paidBetween(this.startX96, this.endX96, this.liquidity, this.#feePips, this.#zeroForOne))
  }

  /** Of all of it; rounded down. */
  get outRaw(): bigint {
    return (this.#outRaw ??= outBetween(this.startX96, this.endX96, this.liquidity, this.#zeroForOne))
  }
}

/** Of one pool and direction, by the tick that they start at: a swap that has moved the price meets most of them again. */
export type Stretches = Map<number, Stretch>

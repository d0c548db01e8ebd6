import type { Swap, Token } from '../../../../core/contracts/index.ts'
import type { randomBits } from '../../../../testkit/random-bits.ts'

export type Random = ReturnType<typeof randomBits>

/** The random choices of a walk, the same for the same seed. */
export function drawing(tokens: readonly Token[], wrapped: string, { below, bits }: Random) {
  const pick = <T>(from: readonly T[]): T => {
    const one = from[below(from.length)]
    if (one === undefined) throw new Error('There is nothing to pick.')
    return one
  }
  const onChain = ({ native, address }: Token) => (native ? wrapped : address)

  /** A swap of any two tokens, from one unit to this many bits more than a whole token. */
  function anySwap(moreBits: number): Swap {
    const [tokenIn, tokenOut] = [pick(tokens), pick(tokens)]
    if (onChain(tokenIn) === onChain(tokenOut)) return anySwap(moreBits)
    const exact = pick(['in', 'out'] as const)
    const { decimals } = exact === 'in' ? tokenIn : tokenOut
    return { tokenIn, tokenOut, exact, amountRaw: 1n + bits(Math.min(255, Math.ceil(decimals * Math.log2(10)) + moreBits)) }
  }
  return { pick, anySwap }
}

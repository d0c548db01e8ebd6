import type { Pair } from '../../../../kits/amm/protocol.ts'

/** Every two tokens that may follow one another on a route of up to three hops through `between`; each two once. */
export function pairsOf(tokenIn: string, tokenOut: string, between: readonly string[]): readonly Pair[] {
  const via = between.filter((token) => token !== tokenIn && token !== tokenOut)
  return [
    [tokenIn, tokenOut],
    ...via.flatMap((token): readonly Pair[] => [
      [tokenIn, token],
      [token, tokenOut],
    ]),
    ...via.flatMap((first, index) => via.slice(index + 1).map((second): Pair => [first, second])),
  ]
}

/** Every path of up to three hops that passes through intermediates only, and no token twice. */
export function pathsBetween(tokenIn: string, tokenOut: string, intermediates: readonly string[]): readonly (readonly string[])[] {
  const between = intermediates.filter((token) => token !== tokenIn && token !== tokenOut)
  return [
    [tokenIn, tokenOut],
    ...between.map((token) => [tokenIn, token, tokenOut]),
    ...between.flatMap((first) => between.filter((second) => second !== first).map((second) => [tokenIn, first, second, tokenOut])),
  ]
}

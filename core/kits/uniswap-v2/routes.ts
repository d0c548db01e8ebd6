/** Token addresses from what goes in to what comes out. */
export type Path = readonly [string, string, ...string[]]

/**
 * Every path of up to three hops that passes through intermediates only, shorter ones first: direct, in–I–out, in–I–J–out.
 */
export function candidatePaths(tokenIn: string, tokenOut: string, intermediates: readonly string[]): readonly Path[] {
  const ends = new Set([tokenIn.toLowerCase(), tokenOut.toLowerCase()])
  const between = intermediates.filter((token) => !ends.has(token.toLowerCase()))
  return [
    [tokenIn, tokenOut],
    ...between.map((token): Path => [tokenIn, token, tokenOut]),
    ...between.flatMap((first) => between.filter((second) => second !== first).map((second): Path => [tokenIn, first, second, tokenOut])),
  ]
}

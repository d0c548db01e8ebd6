/** The n-th quote of a run: amounts differ, so that no two neighbours ask the same. Without a version all are looked at. */
export function quotePath(index: number, version?: string): string {
  const { amount, side } = quoteFields(index)
  return pathOf(amount, side, version)
}

/** The same, as fields. */
export const quoteFields = (index: number) => ({
  ...pool,
  amount: (1 + (index % 997) / 1000).toString(),
  side: index % 2 === 0 ? ('SELL' as const) : ('BUY' as const),
})

const pool = { chain: 'ethereum', network: 'local', connector: 'uniswap', base: 'WETH', quote: 'USDC' }

/** One question, asked again and again. */
export const sameQuote = (version?: string) => pathOf('1.5', 'SELL', version)

/** As the load generator takes it: with an amount that nobody has asked for before. */
export const newQuotes = (version?: string) => pathOf('AMOUNT', 'SELL', version).replace('AMOUNT', '{amount}')

function pathOf(amount: string, side: string, version: string | undefined): string {
  const query = new URLSearchParams({
    ...pool,
    amount,
    side,
    ...(version !== undefined && { version }),
  })
  return `/amm/price?${query.toString()}`
}

/** The n-th quote of a run: amounts differ, so that no two neighbours ask the same. Without a version all are looked at. */
export function quotePath(index: number, version?: string): string {
  const amount = (1 + (index % 997) / 1000).toString()
  return pathOf(amount, index % 2 === 0 ? 'SELL' : 'BUY', version)
}

/** One question, asked again and again. */
export const sameQuote = (version?: string) => pathOf('1.5', 'SELL', version)

/** As the load generator takes it: with an amount that nobody has asked for before. */
export const newQuotes = (version?: string) => pathOf('AMOUNT', 'SELL', version).replace('AMOUNT', '{amount}')

function pathOf(amount: string, side: string, version: string | undefined): string {
  const query = new URLSearchParams({
    chain: 'ethereum',
    network: 'local',
    connector: 'uniswap',
    base: 'WETH',
    quote: 'USDC',
    amount,
    side,
    ...(version !== undefined && { version }),
  })
  return `/amm/price?${query.toString()}`
}

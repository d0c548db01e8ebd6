/** The n-th quote of a run: amounts differ, so that no two neighbours ask the same. */
export function quotePath(index: number): string {
  const amount = (1 + (index % 997) / 1000).toString()
  const side = index % 2 === 0 ? 'SELL' : 'BUY'
  const query = new URLSearchParams({
    chain: 'ethereum',
    network: 'local',
    connector: 'uniswap',
    base: 'WETH',
    quote: 'USDC',
    amount,
    side,
  })
  return `/amm/price?${query.toString()}`
}

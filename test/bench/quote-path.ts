/** The n-th quote of a run: amounts differ, so that no two neighbours ask the same. Without a version all are looked at. */
export function quotePath(index: number, version?: string): string {
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
    ...(version !== undefined && { version }),
  })
  return `/amm/price?${query.toString()}`
}

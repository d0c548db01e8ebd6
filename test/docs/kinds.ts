/** What `sluice plugin new` writes: the kinds, with the family where it is not that of Ethereum, and the names that the guides and templates/ give their plugins. */
export const kinds: readonly { readonly kind: string; readonly family?: string; readonly name: string }[] = [
  { kind: 'amm', name: 'ferryswap' },
  { kind: 'amm-range', name: 'lakeswap' },
  { kind: 'pool', name: 'brookswap' },
  { kind: 'pool', family: 'solana', name: 'creekswap' },
  { kind: 'clob', name: 'tidebook' },
  { kind: 'perp', name: 'reefperp' },
  { kind: 'chain', name: 'sonic' },
  { kind: 'fork', name: 'rillswap' },
  { kind: 'interface', name: 'pair-prices' },
]

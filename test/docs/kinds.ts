/** By the kinds of `sluice plugin new`, the names that the guides and templates/ give their plugins. */
export const kinds = {
  amm: 'ferryswap',
  'amm-range': 'lakeswap',
  pool: 'brookswap',
  clob: 'tidebook',
  perp: 'reefperp',
  chain: 'sonic',
  fork: 'rillswap',
  interface: 'pair-prices',
}

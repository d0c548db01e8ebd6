export interface Token {
  name: string
  index: number
  szDecimals: number
  weiDecimals: number
  tokenId: string
  fullName: string | null
}

/** Some of mainnet's tokens by their indexes there; the ids are made up but for the first two. */
export const tokens: readonly Token[] = [
  { name: 'USDC', index: 0, szDecimals: 8, weiDecimals: 8, tokenId: '0x6d1e7cde53ba9467b783cb7c530ce054', fullName: null },
  { name: 'PURR', index: 1, szDecimals: 0, weiDecimals: 5, tokenId: '0xc1fb593aeffbeb02f85e0308e9956a90', fullName: null },
  { name: 'HYPE', index: 150, szDecimals: 2, weiDecimals: 8, tokenId: '0x00000000000000000000000000000096', fullName: 'Hyperliquid' },
  { name: 'UBTC', index: 197, szDecimals: 5, weiDecimals: 10, tokenId: '0x000000000000000000000000000000c5', fullName: 'Unit Bitcoin' },
]

/** By the pair's index: the tokens that it is of. Only the first is called by their names. */
export const spotPairs = [
  { index: 0, name: 'PURR/USDC', base: 'PURR', price: '0.2' },
  { index: 107, name: '@107', base: 'HYPE', price: '40' },
  { index: 142, name: '@142', base: 'UBTC', price: '100000' },
] as const

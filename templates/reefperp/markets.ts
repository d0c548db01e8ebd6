/** The base tokens of the markets, by `<chain>/<network>`. */
export const markets: Readonly<Record<string, readonly string[]>> = {
  'ethereum/local': [
    '0x5AeD6E3E7E36f1E9B06f57dc713b7E02E63E8b54', // ETH
    '0xD3eD27c15943f9fc785F78f3E6f1DEd7d19c4A09', // BTC
  ],
}

/** In what one exchange of this kind differs from another. */
export interface OasisOptions {
  /**
   * Its markets by `<chain>/<network>`: base and quote by their addresses, which must be in the network's token list. The contract lists
   * none, takes any two tokens, and knows neither base nor quote.
   */
  readonly markets: Readonly<Record<string, readonly (readonly [base: string, quote: string])[]>>
}

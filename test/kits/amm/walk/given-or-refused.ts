import { SluiceError, type Quote, type Swap } from '../../../../core/contracts/index.ts'

/** Undefined where it is refused for a missing pool or too little liquidity. */
export function givenOrRefused(quoting: Promise<Quote>): Promise<Quote | undefined> {
  return quoting.catch((error: unknown) => {
    if (error instanceof SluiceError && ['PRICE_FAILED', 'PAIR_NOT_FOUND'].includes(error.name)) return undefined
    throw error
  })
}

/** Compares each quote with the exchange's own. */
export function heldAgainst(expectOwn: (quote: Quote, what: string) => Promise<unknown>) {
  const counted = { given: 0 }
  return {
    counted,
    async hold(give: () => Promise<Quote>, _swap: Swap, _choice: unknown, what: string): Promise<void> {
      const quote = await givenOrRefused(give())
      if (!quote) return
      await expectOwn(quote, what)
      counted.given += 1
    },
  }
}

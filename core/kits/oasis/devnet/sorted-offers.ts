import type { Contract } from 'ethers'

export interface SortedOffer {
  readonly id: bigint
  readonly payRaw: bigint
  readonly buyRaw: bigint
  readonly owner: string
}

/** One side of a book by the market's own view functions, in its own order. */
export async function sortedOffers(
  market: Contract,
  pays: string,
  wants: string,
  blockTag: number | 'latest',
): Promise<readonly SortedOffer[]> {
  const ask = async (method: string, ...args: readonly unknown[]) => market.getFunction(method).staticCall(...args, { blockTag })
  const offers: SortedOffer[] = []
  let id = BigInt(await ask('getBestOffer', pays, wants))
  while (id !== 0n) {
    const { pay_amt: payRaw, buy_amt: buyRaw, owner } = await ask('offers', id)
    if (payRaw > 0n) offers.push({ id, payRaw, buyRaw, owner })
    id = BigInt(await ask('getWorseOffer', id))
  }
  return offers
}

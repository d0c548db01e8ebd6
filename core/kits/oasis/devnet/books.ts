import { Contract, MaxUint256, parseUnits, type BaseContract } from 'ethers'
import type { DevnetSite, DevnetTokens, DevnetTokenSymbol } from '../../../contracts/devnet.ts'

/** A market with offers on both sides of a price. */
export interface DevnetBook {
  readonly base: DevnetTokenSymbol
  readonly quote: DevnetTokenSymbol
  readonly price: number
  /** Of base, of every offer. */
  readonly amount: string
}

/** How far offers are from the price, in hundredths of a percent: the best of both sides are more than a percent apart. */
const offersBps = [60, -60, 100, -100, 200, -200]
/** Prices with more decimals would not be kept to the digit. */
const priceDecimals = 2

export const offer = 'offer(uint256,address,uint256,address,uint256,bool)'

/** The books of somebody who is none of the trading wallets: whoever deployed the market. */
export async function fillBooks(
  site: DevnetSite & { readonly tokens: DevnetTokens },
  market: BaseContract,
  books: readonly DevnetBook[],
): Promise<void> {
  const { tokens, signer } = site
  const spender = await market.getAddress()
  for (const symbol of new Set(books.flatMap(({ base, quote }) => [base, quote])))
    await site.send(new Contract(tokens[symbol].address, ['function approve(address, uint256)']), 'approve', spender, MaxUint256)
  for (const { base, quote, price, amount } of books) {
    const baseRaw = parseUnits(amount, tokens[base].decimals)
    const offers = offersBps.map((bps) => {
      const quoteRaw = quoteOf(
        baseRaw,
        ((price * (10_000 + bps)) / 10_000).toFixed(priceDecimals),
        tokens[base].decimals,
        tokens[quote].decimals,
      )
      return bps > 0 ? ([base, baseRaw, quote, quoteRaw] as const) : ([quote, quoteRaw, base, baseRaw] as const)
    })
    for (const symbol of [base, quote])
      await tokens[symbol].mint(
        signer.address,
        offers.reduce((sum, [pays, payRaw]) => (pays === symbol ? sum + payRaw : sum), 0n),
      )
    for (const [pays, payRaw, wants, wantRaw] of offers)
      await site.send(market, offer, payRaw, tokens[pays].address, wantRaw, tokens[wants].address, 0n, true)
  }
}

export const quoteOf = (baseRaw: bigint, price: string, baseDecimals: number, quoteDecimals: number): bigint =>
  (baseRaw * parseUnits(price, 18) * 10n ** BigInt(quoteDecimals)) / 10n ** BigInt(18 + baseDecimals)

import { expect } from 'chai'
import { devnetNetwork } from '../../core/config/settings.ts'
import type { AddCard, TestVenue } from './venue.ts'
import type { AmmCard, AmmFixture } from './amm-fixture.ts'
import { boundCard, feeTokenCard, impactCard, nothingQuoted, quoteCards } from './amm-quotes.ts'
import { deadlineCard, lateCard, planCards, tradeCards } from './amm-trades.ts'
import { blockhashCard, transferFeeCard } from './amm-solana.ts'
import { readWalletChanges } from './wallet-changes.ts'

/** What every exchange of the trading type AMM must do. */
export function ammCards(venue: TestVenue, it: AddCard): void {
  const firstPair = (): readonly [string, string] => venue.pairs[0] ?? expect.fail(nothingQuoted(venue))
  const isDevnet = venue.chain === devnetNetwork.chain && venue.network === devnetNetwork.network
  const fixture: AmmFixture = {
    venue,
    isDevnet,
    changesOf: venue.chainControl?.walletChanges ?? (isDevnet ? (wallet, txHash) => readWalletChanges(venue, wallet, txHash) : undefined),
    gasSamples: [],
    firstPair,
    async eachPair(check) {
      firstPair()
      for (const [base, quote] of venue.pairs) await check(base, quote)
    },
  }
  const { chainControl } = venue
  const cards = [
    ...quoteCards,
    ...tradeCards,
    chainControl ? blockhashCard : venue.noDeadline ? lateCard : deadlineCard,
    ...(isDevnet || chainControl ? [...planCards, impactCard] : []),
    ...(isDevnet ? [feeTokenCard] : chainControl ? [transferFeeCard] : []),
    ...(venue.boundOf ? [boundCard] : []),
  ]
  addInOrder(cards, fixture, it)
}

/** A card that is red keeps those from running that could only fail by the same cause. */
function addInOrder(cards: readonly AmmCard[], fixture: AmmFixture, it: AddCard): void {
  const red = new Set<string>()
  for (const [id, title, needed, run] of cards)
    it(`${id} ${title}`, async () => {
      if (needed.some((each) => red.has(each))) {
        red.add(id)
        return 'not run'
      }
      try {
        return await run(fixture)
      } catch (error) {
        red.add(id)
        throw error
      }
    })
}

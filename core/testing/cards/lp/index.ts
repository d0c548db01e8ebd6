import type { AddCard, Bench } from '../../../../testkit/cards/venue.ts'
import { changeCards } from '../../../../testkit/cards/lp.ts'
import { openDesk, type Desk } from '../../../../testkit/cards/lp-fixture.ts'
import { onChainCards } from './on-chain.ts'
import { priceCards } from './prices.ts'
import { refusalCards } from './refusals.ts'

export type Card = readonly [title: string, run: (desk: Desk) => Promise<void>]

/** What every exchange of the trading type AMM_RANGE must do, whatever is behind it. */
export function lpCards(bench: Bench, add: AddCard): void {
  let desk: Promise<Desk> | undefined
  for (const [title, run] of [...changeCards, ...priceCards, ...refusalCards, ...onChainCards])
    add(title, async () => run(await (desk ??= openDesk(bench))))
}

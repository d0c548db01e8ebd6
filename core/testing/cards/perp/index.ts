import type { AddCard, Bench } from '../../../../testkit/cards/venue.ts'
import { accountCards } from './account.ts'
import { openDesk, type Desk } from '../../../../testkit/cards/perp-fixture.ts'
import { figureCards } from '../../../../testkit/cards/perp-on-chain.ts'
import { marketCards } from './markets.ts'
import { onChainCards } from './on-chain.ts'
import { positionCards } from '../../../../testkit/cards/perp.ts'
import { refusalCards } from './refusals.ts'

export type Card = readonly [title: string, run: (desk: Desk) => Promise<void>]

/** What every exchange of the trading type PERP_AMM must do, whatever is behind it. */
export function perpCards(bench: Bench, add: AddCard): void {
  let desk: Promise<Desk> | undefined
  // What closes a market for good is the last.
  for (const [title, run] of [...positionCards, ...accountCards, ...refusalCards, ...figureCards, ...onChainCards, ...marketCards])
    add(title, async () => {
      const opened = await (desk ??= openDesk(bench))
      await opened.clear()
      await run(opened)
    })
}

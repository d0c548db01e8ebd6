import type { AddCard, Bench } from '../bench.ts'
import { accountCards } from './account.ts'
import { openDesk, type Desk } from './desk.ts'
import { figureCards } from './figures.ts'
import { marketCards } from './markets.ts'
import { onChainCards } from './on-chain.ts'
import { positionCards } from './positions.ts'
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

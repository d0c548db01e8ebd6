import type { Swap, Token } from '../../../contracts/index.ts'
import type { Loan } from '../../../../kits/amm/protocol.ts'
import type { Lane, Lanes } from '../../../../kits/amm/routing/graph.ts'

/** A token of a route, and a pool's offer to lend some of it; undefined where none has any to lend. */
export interface Suspect {
  readonly token: Token
  loan(): Loan | undefined
}

/**
 * The ends of a route that are not known to move exactly. The route's own pool lends them, or else another one that was
 * read; a token of which no pool lends anything cannot be tried, and is left to the contracts.
 */
export function suspectsOf(
  { tokenIn, tokenOut }: Swap,
  route: readonly Lane[],
  lanes: Lanes,
  trusted: ReadonlySet<string>,
): readonly Suspect[] {
  const ends = [
    { token: tokenIn, lane: route.at(0), address: route.at(0)?.passage.tokenIn },
    { token: tokenOut, lane: route.at(-1), address: route.at(-1)?.passage.tokenOut },
  ]
  return ends.flatMap(({ token, lane, address }) => {
    if (!lane || address === undefined || trusted.has(address)) return []
    const lenders = [lane, ...lanes.from(address)].filter(({ protocol }) => protocol.loan !== undefined)
    if (lenders.length === 0) return []
    return [{ token, loan: () => firstLoan(lenders, address) }]
  })
}

function firstLoan(lenders: readonly Lane[], token: string): Loan | undefined {
  for (const { protocol, pool } of lenders) {
    const loan = protocol.loan?.(pool, token)
    if (loan) return loan
  }
  return undefined
}

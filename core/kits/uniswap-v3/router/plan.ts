import type { Need, Plan, Quote, SwapTerms } from '../../../contracts/index.ts'
import type { Evm } from '../../../../kits/evm/types.ts'
import { boundsOf, partsOf, swapPlan, type RoutePart } from '../../../../kits/amm/index.ts'
import { coinTakenOnce } from '../coin-taken-once.ts'
import { legCall } from './leg-call.ts'
import { legsOf, type Kind } from './legs.ts'
import { memoOf } from './memo.ts'
import { routerKinds, type RouterKind } from './router-kinds.ts'

/** The router that a plan calls. */
export interface PlannedBy {
  readonly router: string
  readonly routerKind: RouterKind
  readonly kindOf: (hop: { readonly version: string }) => Kind
  readonly listed: ReadonlySet<string>
}

// CONTRACT_BALANCE of SwapRouter02's library Constants: what the leg before has left with the router.
const allThatCame = 0n

/** One call to the router, with the bound and the deadline enforced by it. */
export function planSwap(quote: Quote, terms: SwapTerms, by: PlannedBy): Plan<Evm> {
  const parts = inCallOrder(partsOf(quote), by)
  return swapPlan(quote, terms, {
    router: by.router,
    data: routerCall(quote, parts, terms, by),
    memo: memoOf(quote, parts, terms.recipient, by),
    needs: quote.swap.tokenIn.native ? takenOnce(quote, by) : [],
  })
}

/** One that begins with a constant-product pool comes last: only there the fill can be told from what a token's own code trades. */
const inCallOrder = (parts: readonly RoutePart[], { kindOf }: PlannedBy): readonly RoutePart[] => {
  const beginsWith = (kind: Kind) => parts.filter(({ route: [first] }) => first && kindOf(first) === kind)
  return [...beginsWith('range'), ...beginsWith('constant-product')]
}

/**
 * The router pays a first pool of concentrated liquidity when that calls back. By then what it sells has moved, and where the
 * amount out is exact, all that comes after it.
 */
function takenOnce({ swap, route }: Quote, { router, kindOf, listed }: PlannedBy): readonly Need[] {
  const [first] = route
  if (!first || kindOf(first) !== 'range') return []
  const moved = swap.exact === 'in' ? [first] : route
  return coinTakenOnce({ wrapped: first.tokenIn, tokens: moved.map(({ tokenOut }) => tokenOut), spender: router, listed })
}

function routerCall(
  { swap }: Quote,
  parts: readonly RoutePart[],
  { boundRaw, recipient, deadline }: SwapTerms,
  { routerKind, kindOf }: PlannedBy,
): string {
  const { tokenIn, tokenOut, exact, amountRaw } = swap
  const dialect = routerKinds[routerKind]
  const { functions, itself, deadlineInside } = dialect

  const bounds = boundsOf(parts, boundRaw)
  const legs = parts.map(({ route }) => legsOf(route, kindOf))
  const calls = parts.flatMap(({ exactRaw }, part) => {
    const own = legs[part] ?? []
    return own.map((leg, index) => {
      const isLast = index === own.length - 1
      return legCall(
        leg,
        {
          exact,
          deadline,
          amountRaw: index === 0 ? exactRaw : allThatCame,
          boundRaw: isLast ? (bounds[part] ?? 0n) : 0n,
          recipient: isLast && !tokenOut.native ? recipient : itself,
        },
        dialect,
      )
    })
  })
  if (tokenOut.native) calls.push(functions.encodeFunctionData('unwrapWETH9', [exact === 'in' ? boundRaw : amountRaw, recipient]))
  // What is left of the value: of the most in, or of an exact amount that was more than the pool's liquidity could take.
  if (tokenIn.native && (exact === 'out' || legs[0]?.[0]?.kind === 'range')) calls.push(functions.encodeFunctionData('refundETH'))

  if (!deadlineInside) return functions.encodeFunctionData('multicall', [deadline, calls])
  const [only, ...others] = calls
  return only !== undefined && others.length === 0 ? only : functions.encodeFunctionData('multicall', [calls])
}

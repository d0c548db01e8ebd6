import type { Need, Plan, Quote, SwapTerms } from '../../../contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import { swapPlan } from '../../pools/index.ts'
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
export const planSwap = (quote: Quote, terms: SwapTerms, by: PlannedBy): Plan<Evm> =>
  swapPlan(quote, terms, {
    router: by.router,
    data: routerCall(quote, terms, by),
    memo: memoOf(quote, terms.recipient, by),
    needs: quote.swap.tokenIn.native ? takenOnce(quote, by) : [],
  })

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

function routerCall({ swap, route }: Quote, { boundRaw, recipient, deadline }: SwapTerms, { routerKind, kindOf }: PlannedBy): string {
  const { tokenIn, tokenOut, exact, amountRaw } = swap
  const dialect = routerKinds[routerKind]
  const { functions, itself, deadlineInside } = dialect

  const legs = legsOf(route, kindOf)
  const calls = legs.map((leg, index) => {
    const isLast = index === legs.length - 1
    return legCall(
      leg,
      {
        exact,
        deadline,
        amountRaw: index === 0 ? amountRaw : allThatCame,
        boundRaw: isLast ? boundRaw : 0n,
        recipient: isLast && !tokenOut.native ? recipient : itself,
      },
      dialect,
    )
  })
  if (tokenOut.native) calls.push(functions.encodeFunctionData('unwrapWETH9', [exact === 'in' ? boundRaw : amountRaw, recipient]))
  // What is left of the value: of the most in, or of an exact amount that was more than the pool's liquidity could take.
  if (tokenIn.native && (exact === 'out' || legs[0]?.kind === 'range')) calls.push(functions.encodeFunctionData('refundETH'))

  if (!deadlineInside) return functions.encodeFunctionData('multicall', [deadline, calls])
  const [only, ...others] = calls
  return only !== undefined && others.length === 0 ? only : functions.encodeFunctionData('multicall', [calls])
}

import type { Plan, Quote, SwapTerms } from '../../../contracts/index.ts'
import { nativeAddress } from '../../evm/address.ts'
import type { Evm } from '../../../../kits/evm/types.ts'
import { swapPlan } from '../../../../kits/amm/index.ts'
import { memoOf } from './memo.ts'
import { swapKind, vaultAbi } from '../../../../kits/amm/weighted/router.ts'

/** One call to the Vault, with the bound and the deadline enforced by it. What is left of the value comes back in the same call. */
export const planSwap = (quote: Quote, terms: SwapTerms, idOf: (pool: string) => string): Plan<Evm> =>
  swapPlan(quote, terms, { router: quote.spender, data: batchSwap(quote, terms, idOf), memo: memoOf(quote, idOf) })

function batchSwap({ swap, route }: Quote, { boundRaw, recipient, deadline }: SwapTerms, idOf: (pool: string) => string): string {
  const { tokenIn, tokenOut, exact, amountRaw } = swap
  const hops = route.map(({ pool }, index) => ({
    poolId: idOf(pool),
    assetInIndex: index,
    assetOutIndex: index + 1,
    // Of the first that is swapped; of the others it is what the one before has given, or wants.
    amount: index === (exact === 'in' ? 0 : route.length - 1) ? amountRaw : 0n,
    userData: '0x',
  }))
  const between = route.slice(1).map((hop) => hop.tokenIn)
  const assets = [assetOf(tokenIn, route[0]?.tokenIn), ...between, assetOf(tokenOut, route.at(-1)?.tokenOut)]
  const [mostInRaw, leastOutRaw] = exact === 'in' ? [amountRaw, boundRaw] : [boundRaw, amountRaw]
  // From the trader's side: what may be taken is positive, what must be given negative.
  const limits = [mostInRaw, ...between.map(() => 0n), -leastOutRaw]
  // The Vault takes from who calls it, which is whom the kernel names as the recipient.
  const funds = { sender: recipient, fromInternalBalance: false, recipient, toInternalBalance: false }
  const swaps = exact === 'in' ? hops : hops.toReversed()
  return vaultAbi.encodeFunctionData('batchSwap', [swapKind[exact], swaps, assets, funds, limits, deadline])
}

/** The Vault wraps and unwraps the coin itself where it stands as the zero address. */
const assetOf = (token: { readonly native?: boolean; readonly address: string }, address = token.address) =>
  token.native ? nativeAddress : address

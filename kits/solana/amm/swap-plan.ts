// The plan of a swap through one pool: the wallet's accounts around the instruction of the program; and what its receipt says of it.
import type { At, Fill, Json, Plan, Quote, Swap, SwapTerms, Token } from '../../../core/contracts/index.ts'
import { isObject } from '../../../core/base/json.ts'
import type { Pool } from '../../pools/protocol.ts'
import { fillOf } from '../movements.ts'
import { accountsBy, readSwapFacts, swapPlan, toSwapFacts, type SwapFacts } from '../swap-accounts.ts'
import type { Solana, SolanaReader, SolanaReceipt } from '../types.ts'
import type { AccountPools } from './protocol.ts'
import { maxU64 } from './swap-quote.ts'

/** So long what was read of a wallet's accounts is used again, and of so many swaps of a wallet at most. */
const [keptMs, mostKept] = [60_000, 10_000]

/**
 * What a swap's accounts depend on: read once, and of the next swaps of the same two tokens not again, so that they are a round trip sooner. Where the
 * account that is paid into was closed meanwhile, the check of a swap refuses it, until it is read again: a creation for that case would count as rent in
 * each swap for the wallet's limits. Of SOL it is read each time: which account is closed behind the swap depends on it.
 */
export function createSwapFacts(reader: SolanaReader): (swap: Swap, wallet: string, at: At) => Promise<SwapFacts> {
  const kept = new Map<string, { readonly facts: SwapFacts; readonly until: number }>()
  return async ({ tokenIn, tokenOut }, wallet, at) => {
    const key = `${wallet} ${tokenIn.address} ${tokenOut.address}`
    const found = kept.get(key)
    if (found && performance.now() < found.until) return found.facts
    const facts = await readSwapFacts(reader, { wallet, tokenIn, tokenOut }, at)
    if (kept.size >= mostKept) kept.clear()
    if (facts.isThere && !tokenIn.native && !tokenOut.native) kept.set(key, { facts, until: performance.now() + keptMs })
    return facts
  }
}

/**
 * One transaction, which makes accounts of tokens and wraps SOL where it has to. Of a deadline programs know nothing: the plan has none.
 * @param wrapped the mint of wrapped SOL
 */
export function planSwap(protocol: AccountPools, pool: Pool, quote: Quote, terms: SwapTerms, wrapped: string): Plan<Solana> {
  const { tokenIn, tokenOut, exact, amountRaw } = quote.swap
  const { recipient, read } = terms
  // More than fits is no tighter bound than the most that fits.
  const boundRaw = terms.boundRaw < maxU64 ? terms.boundRaw : maxU64
  const wish = { wallet: recipient, tokenIn, tokenOut, maxInRaw: exact === 'in' ? amountRaw : boundRaw }
  const accounts = accountsBy(wish, toSwapFacts(read))
  const mintOf = ({ native, address }: Token) => (native ? wrapped : address)
  const instruction = protocol.instruction(pool, {
    tokenIn: mintOf(tokenIn),
    tokenOut: mintOf(tokenOut),
    exact,
    amountRaw,
    boundRaw,
    owner: recipient,
    from: accounts.source,
    to: accounts.destination,
  })
  const memo = { wallet: recipient, in: sideOf(tokenIn), out: sideOf(tokenOut) }
  return swapPlan(wish, accounts, { instructions: [instruction], memo })
}

const sideOf = ({ address, native }: Token) => ({ address, native: native === true })

/** By the balances of the wallet's accounts before and after: so it is the same for every program. */
export function readFill(receipt: SolanaReceipt, memo: Json): Fill | undefined {
  if (!isObject(memo) || typeof memo.wallet !== 'string') return undefined
  const [tokenIn, tokenOut] = [memo.in, memo.out].map(readSide)
  if (!tokenIn || !tokenOut) return undefined
  const fill = fillOf(receipt, memo.wallet, { tokenIn, tokenOut })
  return fill && fill.amountInRaw > 0n && fill.amountOutRaw > 0n ? fill : undefined
}

function readSide(side: unknown): Pick<Token, 'address' | 'native'> | undefined {
  if (!isObject(side) || typeof side.address !== 'string' || typeof side.native !== 'boolean') return undefined
  return { address: side.address, ...(side.native && { native: true }) }
}

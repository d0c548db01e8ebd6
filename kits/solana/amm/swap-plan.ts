// The plan of a swap through one pool: the wallet's accounts around the instruction of the program; and what its receipt says of it.
import type { At, Fill, Json, Plan, Quote, Swap, SwapTerms, Token } from '../../../core/contracts/index.ts'
import { isObject } from '../../../core/base/json.ts'
import type { Pool } from '../../pools/protocol.ts'
import { fillOf } from '../movements.ts'
import { accountsBy, readSwapFacts, swapPlan, toSwapFacts, wrappedMint, type SwapFacts } from '../swap-accounts.ts'
import type { Solana, SolanaReader, SolanaReceipt } from '../types.ts'
import type { AccountPools } from './protocol.ts'
import { maxU64 } from './swap-quote.ts'

/** So long what was read of a wallet's accounts is used again, and of so many swaps of a wallet at most. */
const [keptMs, mostKept] = [3_600_000, 10_000]
/** Where wrapped SOL is paid into, whose account is made again if it was closed: meanwhile its rent is not counted. */
const keptWrappedMs = 60_000

/**
 * What a swap's accounts depend on: read once, and of the next swaps of the same two tokens, both ways, not again, so that they are a round trip sooner.
 * Where the account that is paid into was closed or given away meanwhile, the check of a swap refuses it, and after that it is read again: a creation for
 * that case would count as rent in each swap for the wallet's limits. Where SOL is paid, the check also refuses it if an account of wrapped SOL came or
 * went: which account is closed behind the swap depends on that. Where nobody tells of refusals, as in a contained plugin, it is read each time.
 */
export function createSwapFacts(reader: SolanaReader): (swap: Swap, wallet: string, at: At) => Promise<SwapFacts> {
  const kept = new Map<string, { readonly facts: SwapFacts; readonly until: number; readonly refusals: number }>()
  return async ({ tokenIn, tokenOut }, wallet, at) => {
    const found = kept.get(keyOf(wallet, tokenIn, tokenOut))
    const refusals = reader.refusals?.(wallet)
    if (found && performance.now() < found.until && found.refusals === refusals) return found.facts
    const { facts, back } = await readSwapFacts(reader, { wallet, tokenIn, tokenOut }, at)
    if (kept.size >= mostKept) kept.clear()
    keep(facts, tokenIn, tokenOut)
    keep(back, tokenOut, tokenIn)
    return facts

    function keep(read: SwapFacts, paid: Token, got: Token): void {
      if (refusals === undefined || (!read.isThere && !got.native)) return
      const forMs = got.address === wrappedMint ? keptWrappedMs : keptMs
      kept.set(keyOf(wallet, paid, got), { facts: read, until: performance.now() + forMs, refusals })
    }
  }
}

const keyOf = (wallet: string, paid: Token, got: Token) => `${wallet} ${paid.address} ${got.address}`

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

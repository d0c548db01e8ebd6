// What a confirmed transaction moved into and out of the wallet that paid for it, by the balances that its receipt has of before and after it.
import type { Fill, Json, Token } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { wrappedMint } from './swap-accounts.ts'
import { nativeAddress, type SolanaReceipt } from './types.ts'

/** As nodes give it: `readTransaction` keeps what it has beside. */
type WithBalances = SolanaReceipt & Readonly<Record<string, Json>>

/**
 * By mint, smallest units; of SOL without the fee and the tip, but with the rent of accounts that it opened. Undefined where no node has its receipt.
 * Fields: https://solana.com/docs/rpc/json-structures#transaction-status-metadata
 */
export function movedIn(receipt: WithBalances, wallet: string): Map<string, bigint> | undefined {
  const { fee, tip = '0', preBalances, postBalances, preTokenBalances, postTokenBalances } = receipt
  if (fee === null) return undefined
  const moved = new Map<string, bigint>()
  const add = (token: string, raw: bigint) => void moved.set(token, (moved.get(token) ?? 0n) + raw)
  for (const [list, sign] of [
    [preTokenBalances, -1n],
    [postTokenBalances, 1n],
  ] as const) {
    // Old nodes have none of them.
    if (!Array.isArray(list)) return undefined
    for (const each of list) {
      const balance = readBalance(each)
      if (!balance) return undefined
      if (balance.owner === wallet) add(balance.mint, sign * balance.raw)
    }
  }
  // The account that pays is the first.
  const [before, after] = [preBalances, postBalances].map((list) => (Array.isArray(list) ? amountOf(list[0] ?? null) : undefined))
  if (before === undefined || after === undefined) return undefined
  add(nativeAddress, after - before + BigInt(fee) + BigInt(tip))
  return moved
}

/**
 * What a swap took and gave by the balances of its receipt, for every program: what the wallet's accounts of a mint lost and won, with fees of
 * Token-2022. SOL is what the wallet and its token accounts have of lamports together, so neither wrapping nor rent counts, nor does the fee.
 * Undefined where it did not succeed, or no node has its receipt. Rent of an account that is not the wallet's counts as paid.
 */
export function fillOf(
  receipt: SolanaReceipt,
  wallet: string,
  { tokenIn, tokenOut }: Record<'tokenIn' | 'tokenOut', Pick<Token, 'address' | 'native'>>,
): Fill | undefined {
  if (receipt.status !== 1) return undefined
  const moved = movedIn(receipt, wallet)
  const lamportsRaw = lamportsOf(receipt, wallet, [tokenIn.address, tokenOut.address])
  if (!moved || lamportsRaw === undefined) return undefined
  const wonRaw = ({ native, address }: Pick<Token, 'address' | 'native'>) => (native ? lamportsRaw : (moved.get(address) ?? 0n))
  const [amountInRaw, amountOutRaw] = [-wonRaw(tokenIn), wonRaw(tokenOut)]
  return amountInRaw < 0n || amountOutRaw < 0n ? undefined : { amountInRaw, amountOutRaw }
}

/**
 * The same as a map, for who takes no plugin's word: SOL is what the wallet and its token accounts have of lamports together, wrapped SOL and rent with them.
 * @param tokens where the wrapped token is among them, it is told apart
 */
export function movedTogether(receipt: SolanaReceipt, wallet: string, { tokens }: { readonly tokens: readonly string[] }) {
  const moved = receipt.status === 1 ? movedIn(receipt, wallet) : undefined
  const lamportsRaw = moved && lamportsOf(receipt, wallet, tokens)
  if (!moved || lamportsRaw === undefined) return undefined
  const isApart = tokens.includes(wrappedMint)
  const wrappedRaw = moved.get(wrappedMint) ?? 0n
  if (!isApart) moved.delete(wrappedMint)
  return moved.set(nativeAddress, isApart ? lamportsRaw - wrappedRaw : lamportsRaw)
}

/**
 * What the wallet and its token accounts won of lamports, the fee and the tip given back. An account that was made or closed counts before and after: anybody
 * can have sent lamports to its address. So does that of wrapped SOL where it came and went within the transaction. The rent of a new account leaves the wallet where its token is another than these and wrapped SOL: whoever
 * freezes it keeps it shut. Undefined where it is not known whose an account is: old nodes tell no owners.
 */
function lamportsOf(receipt: WithBalances, wallet: string, tokens: readonly string[]): bigint | undefined {
  const { fee, tip = '0', preBalances, postBalances, preTokenBalances, postTokenBalances, wrappedAt } = receipt
  if (fee === null || !Array.isArray(preTokenBalances) || !Array.isArray(postTokenBalances)) return undefined
  const [held, holds] = [preTokenBalances, postTokenBalances].map((list) => list.map((each) => readBalance(each)))
  if (!held || !holds || [...held, ...holds].some((each) => each?.owner === undefined || each.accountIndex === undefined)) return undefined
  const isNamed = ({ mint }: TokenBalance) => mint === wrappedMint || tokens.includes(mint)
  const kept = [...held, ...holds.filter((each) => each && isNamed(each))]
  // The account that pays is the first.
  const own = new Set([
    0,
    ...(wrappedAt === undefined ? [] : [wrappedAt]),
    ...kept.flatMap((each) => (each?.owner === wallet ? (each.accountIndex ?? []) : [])),
  ])
  const [before, after] = [preBalances, postBalances].map((list) =>
    Array.isArray(list) ? sumOf([...own].map((index) => amountOf(list[index] ?? null))) : undefined,
  )
  return before === undefined || after === undefined ? undefined : after - before + BigInt(fee) + BigInt(tip)
}

const sumOf = (amounts: readonly (bigint | undefined)[]): bigint | undefined =>
  amounts.reduce((sum, each) => (sum === undefined || each === undefined ? undefined : sum + each), 0n)

interface TokenBalance {
  readonly accountIndex: number | undefined
  readonly owner: string | undefined
  readonly mint: string
  readonly raw: bigint
}

function readBalance(each: Json): TokenBalance | undefined {
  if (!isObject(each) || !isObject(each['uiTokenAmount'])) return undefined
  const { accountIndex, owner, mint, uiTokenAmount } = each
  const raw = amountOf(uiTokenAmount['amount'] as Json)
  if (typeof mint !== 'string' || raw === undefined) return undefined
  return {
    accountIndex: typeof accountIndex === 'number' ? accountIndex : undefined,
    owner: typeof owner === 'string' ? owner : undefined,
    mint,
    raw,
  }
}

const amountOf = (value: Json): bigint | undefined =>
  typeof value === 'string' && /^\d{1,20}$/.test(value)
    ? BigInt(value)
    : typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
      ? BigInt(value)
      : undefined

// What the rails of all chain families share: the errors of a wallet that has too little, and a cache.
import { fromRaw } from '../../core/base/decimal.ts'
import { SluiceError, type Token } from '../../core/contracts/index.ts'
import { dropOldest } from '../../core/base/oldest.ts'

export function insufficientBalance(token: Token, currentRaw: bigint, neededRaw: bigint, rentRaw = 0n): SluiceError {
  const details = { ...shortage(token, currentRaw, neededRaw), ...rentIn(token, rentRaw) }
  return new SluiceError(
    'INSUFFICIENT_BALANCE',
    `The wallet holds ${details.current} ${token.symbol} and needs ${details.needed}${saidRent(token, rentRaw)}: fund it, or trade less.`,
    { details },
  )
}

/** @param neededRaw the value sent plus the highest possible gas cost */
export function insufficientGasFunds(native: Token, currentRaw: bigint, neededRaw: bigint, rentRaw = 0n): SluiceError {
  const details = { ...shortage(native, currentRaw, neededRaw), ...rentIn(native, rentRaw) }
  return new SluiceError(
    'OUT_OF_GAS',
    `The wallet holds ${details.current} ${native.symbol}, and with the highest possible gas cost it needs ${details.needed}${saidRent(native, rentRaw)}: fund it, or offer lower fees.`,
    { details },
  )
}

/** @param committedRaw what pending transactions of the wallet can take; nodes count it, and refuse a transaction beyond it */
export function fundsInPendingTransactions(
  native: Token,
  currentRaw: bigint,
  committedRaw: bigint,
  neededRaw: bigint,
  rentRaw = 0n,
): SluiceError {
  const leftRaw = currentRaw > committedRaw ? currentRaw - committedRaw : 0n
  const details = { ...shortage(native, leftRaw, neededRaw), committed: fromRaw(committedRaw, native.decimals), ...rentIn(native, rentRaw) }
  return new SluiceError(
    'INSUFFICIENT_BALANCE',
    `The wallet's pending transactions can take ${details.committed} of its ${fromRaw(currentRaw, native.decimals)} ${native.symbol}, and this one needs ${details.needed} in addition${saidRent(native, rentRaw)}: wait until they are mined, fund the wallet, or offer lower fees.`,
    { details },
  )
}

/** What is lacking may be what new accounts and the wallet's own keep, which is in no price. */
const saidRent = ({ symbol, decimals }: Token, rentRaw: bigint) =>
  rentRaw === 0n ? '' : ` (${fromRaw(rentRaw, decimals)} ${symbol} of that is rent, which accounts keep until they are closed)`

const rentIn = ({ decimals }: Token, rentRaw: bigint) => (rentRaw === 0n ? {} : { rent: fromRaw(rentRaw, decimals) })

export function shortage(token: Token, currentRaw: bigint, neededRaw: bigint) {
  return {
    token: token.symbol,
    tokenAddress: token.address,
    current: fromRaw(currentRaw, token.decimals),
    needed: fromRaw(neededRaw, token.decimals),
  }
}

const maxEntries = 1000

/** A cache of values that never change. The oldest entries are dropped. */
interface BoundedCache<T> {
  get(key: string): T | undefined
  set(key: string, value: T): void
}

export function createBoundedCache<T>(): BoundedCache<T> {
  const values = new Map<string, T>()
  return {
    get: (key) => values.get(key),
    set(key, value) {
      values.set(key, value)
      dropOldest(values, maxEntries)
    },
  }
}

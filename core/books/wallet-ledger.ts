// What is known to have moved into and out of a wallet, and of whom it was: of the journal, or of others.
import { addressKey } from '../base/addresses.ts'
import type { CoinMove, PastTransfer } from '../contracts/index.ts'
import { KnownChanges, nonceKey } from './wallet-changes.ts'

/** A mined transaction of the journal, as the book has it. */
export interface OwnTransaction {
  readonly txHash: string
  readonly blockNumber: number
  /** Absent in the journal of an earlier version. */
  readonly blockHash?: string
  /** Absent where its receipt does not tell. */
  readonly feeRaw?: bigint
  /** By token (`addressKey`), the native coin among them, without the fee. Absent: the book says nothing, and the chain is asked. */
  readonly movements?: ReadonlyMap<string, bigint>
  /** The book does not say what it did to the native coin. */
  readonly isCoinUnknown?: true
}

/**
 * `inside-a-call`: the native coin came or went without being the value of a transaction. `without-event`: a token's balance changed and no event
 * of it says so. `not-in-book`: the events of one of the journal's own transactions say something else than its movements. `taken-back`: it is in no
 * block of the chain any more.
 */
export type DiscrepancyKind = (typeof discrepancyKinds)[number]
export const discrepancyKinds = ['inside-a-call', 'without-event', 'not-in-book', 'taken-back'] as const

export interface Discrepancy {
  readonly token: string
  readonly kind: DiscrepancyKind
  /** Above 0 the wallet has more than is explained. */
  readonly amountRaw: bigint
  /** The first and the last block in which it may have been. */
  readonly firstBlock: number
  readonly lastBlock: number
  /** Of the one transaction that the wallet had in the block. */
  readonly txHash?: string
  /** Where the block was not found: so many transactions more than are known the wallet sent in these blocks. */
  readonly unknownTransactions?: number
}

export type Ledger = ReturnType<typeof createLedger>

/** What is known to have moved, and of whom it was. */
export function createLedger(coin: string, tokens: ReadonlySet<string>) {
  const changes = new KnownChanges()
  const totals = new Map<string, { ownRaw: bigint; feesRaw: bigint; foreignRaw: bigint }>()
  const foreign = new Set<string>()
  const notInBook: Discrepancy[] = []

  function count(token: string, of: 'ownRaw' | 'feesRaw' | 'foreignRaw', amountRaw: bigint): void {
    const total = totals.get(token) ?? { ownRaw: 0n, feesRaw: 0n, foreignRaw: 0n }
    total[of] += amountRaw
    totals.set(token, total)
  }

  return {
    changes,
    addTransfers(transfers: readonly PastTransfer[], own: ReadonlyMap<string, OwnTransaction>): void {
      const byOwn = new Map<string, Map<string, bigint>>()
      for (const { token, amountRaw, txHash, blockNumber } of transfers) {
        const key = addressKey(token)
        // Of the coin the book tells all, or nothing.
        if (!tokens.has(key) || (key === coin && isCoinBooked(own.get(txHash)))) continue
        changes.add(key, blockNumber, amountRaw)
        if (!own.has(txHash)) {
          count(key, 'foreignRaw', amountRaw)
          foreign.add(txHash)
          continue
        }
        const moved = byOwn.get(txHash) ?? new Map<string, bigint>()
        byOwn.set(txHash, moved.set(key, (moved.get(key) ?? 0n) + amountRaw))
      }
      for (const each of own.values()) {
        const { txHash, blockNumber, movements } = each
        const moved = byOwn.get(txHash) ?? new Map<string, bigint>()
        const booked = movements ?? moved
        for (const [token, amountRaw] of booked) if (token !== coin) count(token, 'ownRaw', amountRaw)
        if (!isCoinBooked(each)) count(coin, 'ownRaw', moved.get(coin) ?? 0n)
        for (const token of new Set([...moved.keys(), ...booked.keys()])) {
          const amountRaw = (moved.get(token) ?? 0n) - (booked.get(token) ?? 0n)
          if (amountRaw !== 0n && token !== coin)
            notInBook.push({ token, kind: 'not-in-book', amountRaw, firstBlock: blockNumber, lastBlock: blockNumber, txHash })
        }
      }
    },
    addOwnCoin(blockNumber: number, amountRaw: bigint, feeRaw: bigint): void {
      changes.add(nonceKey, blockNumber, 1n)
      changes.add(coin, blockNumber, amountRaw - feeRaw)
      count(coin, 'ownRaw', amountRaw)
      count(coin, 'feesRaw', -feeRaw)
    },
    addForeign({ blockNumber, txHash, nonce, amountRaw, feeRaw = 0n }: CoinMove): void {
      if (nonce !== undefined) changes.add(nonceKey, blockNumber, 1n)
      changes.add(coin, blockNumber, amountRaw - feeRaw)
      count(coin, 'foreignRaw', amountRaw - feeRaw)
      if (txHash !== undefined) foreign.add(txHash)
    },
    totalsOf: (token: string) => totals.get(token) ?? { ownRaw: 0n, feesRaw: 0n, foreignRaw: 0n },
    foreignTransactions: () => foreign.size,
    notInBook: (): readonly Discrepancy[] => notInBook,
  }
}

export const isCoinBooked = (own: OwnTransaction | undefined) => own?.movements !== undefined && !own.isCoinUnknown

/** Undefined: the book does not say it. */
export const bookedCoin = (own: OwnTransaction, coin: string) => (isCoinBooked(own) ? (own.movements?.get(coin) ?? 0n) : undefined)

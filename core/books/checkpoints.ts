// What wallets held at blocks, kept while servers run: for nodes that have lost the state of old blocks, and as starts of the daily checks.
import { addressKey } from '../base/addresses.ts'
import type { Store } from '../store/store.ts'
import { nonceKey } from './wallet-changes.ts'

export interface WalletPlace {
  readonly chain: string
  readonly network: string
  readonly wallet: string
}

/** By token (`addressKey`), smallest units; the number of transactions as `nonceKey`. */
export type KeptBalances = ReadonlyMap<string, bigint>

export interface Checkpoints {
  /** Those of blocks from one to another, both included. @throws StoreUnavailable */
  between(of: WalletPlace, first: number, last: number): Promise<ReadonlyMap<number, KeptBalances>>
  /** Undefined: none was kept. */
  newest(of: WalletPlace): Promise<{ readonly block: number; readonly timestampMs: number } | undefined>
  /** Of each day by the blocks' time the first one stays, and the newest of all. */
  keep(of: WalletPlace, at: { block: number; timestampMs: number; balances: KeptBalances }): Promise<void>
}

const dayMs = 86_400_000
const dayOf = (ms: number) => Math.floor(ms / dayMs)

/** Years of one wallet, with some tokens. */
const maxRows = 50_000

export function createCheckpoints(store: Pick<Store, 'read' | 'write'>): Checkpoints {
  return {
    async between({ chain, network, wallet }, first, last) {
      const rows = await store.read((db) =>
        db
          .selectFrom('checkpoints')
          .select(['block', 'token', 'balance', 'nonce'])
          .where((eb) => eb.and({ chain, network, wallet: addressKey(wallet) }))
          .where('block', '>=', first)
          .where('block', '<=', last)
          .orderBy('block')
          .limit(maxRows)
          .execute(),
      )
      const found = new Map<number, Map<string, bigint>>()
      for (const { block, token, balance, nonce } of rows) {
        const balances = found.get(block) ?? new Map<string, bigint>(nonce === null ? [] : [[nonceKey, BigInt(nonce)]])
        found.set(block, balances.set(token, BigInt(balance)))
      }
      return found
    },
    async newest({ chain, network, wallet }) {
      const row = await store.read((db) =>
        db
          .selectFrom('checkpoints')
          .select(['block', 'block_time'])
          .where((eb) => eb.and({ chain, network, wallet: addressKey(wallet) }))
          .orderBy('block', 'desc')
          .limit(1)
          .executeTakeFirst(),
      )
      return row && { block: row.block, timestampMs: row.block_time }
    },
    async keep({ chain, network, wallet }, { block, timestampMs, balances }) {
      const of = { chain, network, wallet: addressKey(wallet) }
      await store.write(async (db) => {
        const kept = await db
          .selectFrom('checkpoints')
          .select(['block', 'block_time'])
          .distinct()
          .where((eb) => eb.and(of))
          .where('block_time', '>=', timestampMs - 2 * dayMs)
          .orderBy('block')
          .execute()
        const firstOfDay = new Map(kept.toReversed().map((each) => [dayOf(each.block_time), each.block] as const))
        const surplus = kept.flatMap((each) => (firstOfDay.get(dayOf(each.block_time)) === each.block ? [] : each.block))
        for (const old of [...surplus, block])
          await db
            .deleteFrom('checkpoints')
            .where((eb) => eb.and(of))
            .where('block', '=', old)
            .execute()
        const sent = balances.get(nonceKey)
        const ofBlock = { ...of, block, block_time: timestampMs, nonce: sent === undefined ? null : Number(sent) }
        const rows = [...balances].flatMap(([token, raw]) => (token === nonceKey ? [] : [{ ...ofBlock, token, balance: raw.toString() }]))
        for (let first = 0; first < rows.length; first += rowsAtOnce)
          await db
            .insertInto('checkpoints')
            .values(rows.slice(first, first + rowsAtOnce))
            .execute()
      })
    },
  }
}

const rowsAtOnce = 100

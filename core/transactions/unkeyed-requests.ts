// Requests without an Idempotency-Key that this process answers (`deliveries.ts`): what their connections tell is asked once more in the moment before
// anything is signed. Its turn may come long after its price, and a busy process reads the end of a connection late.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { withTimeout } from '../base/async.ts'
import { SluiceError } from '../base/errors.ts'
import type { DeliveryRow } from '../store/tables.ts'
import { holderOf, type UnkeyedRequest } from './delivery-table.ts'
import type { Entry } from './entry.ts'
import type { LossCheck, LossQuery } from './journal/journal.ts'

/** One of them, from its row on until it is done. */
export interface FollowedRequest {
  isGone(): boolean
  /** The row that it has from now on. Once its connection is gone the row is known by `gone` at once: an equal request takes its place. */
  hold(row: DeliveryRow): void
  /** These lost answers were found and left, by `holderOf`: others than those are news. */
  saw(lost: readonly string[]): void
  /** Something is done under the key of its row, and may be signed. */
  during<T>(act: () => Promise<T>): Promise<T>
  /** Whether it was refused as `giveWay` says, since this was asked last. */
  gaveWay(): boolean
  /** It is certain that nothing was signed for it. */
  signedNothing(): void
  /** It gives way no more. */
  end(): void
}

export interface UnkeyedRequests {
  /** Connections of this process that are gone, by `holderOf`: the store may not know it yet. */
  readonly gone: Set<string>
  /** Whether something is being done for the row with this id, and may be signed. */
  isActing(id: string): boolean
  follow(
    request: Pick<UnkeyedRequest, 'interface' | 'client' | 'requestId' | 'delivered' | 'isOneForEver'>,
    fingerprint: string,
    /** SQL: whether another server knows of a lost answer beside those. Absent where there is no other. */
    lossBeside?: (row: DeliveryRow, known: readonly string[]) => LossQuery,
  ): FollowedRequest
  /**
   * To be asked before a nonce is claimed.
   * @throws SluiceError TIMEOUT for a client that is gone, and where an equal request's answer was lost since this one looked for such: it has that
   */
  giveWay(entry: RequestEntry): void
  /**
   * The same before new entries are written: after that something may be signed, and it gives way no more.
   * @returns what the write itself asks of the store, where another server may know of a loss. undefined: nothing
   */
  beforeWrite(entry: RequestEntry): LossCheck | undefined
  /** A loss is being stored. */
  storing(write: Promise<unknown>): void
  /** Once the ends of connections that this machine knows of are read, and the losses are stored. It does not wait for a store that takes longer than `settleMs`. */
  settled(): Promise<void>
}

type RequestEntry = Pick<Entry, 'requestId' | 'idempotencyKey'>

/** A server that cannot store its losses goes on saying that it lives: else it would lose its wallets. */
const settleMs = 500

interface Followed {
  /** The same of equal requests; absent of one that is one for ever: these have one row. */
  readonly equal: string | undefined
  readonly requestId: string
  row: DeliveryRow | undefined
  lossBeside(known: readonly string[]): LossQuery | undefined
  known: readonly string[]
  isGone: boolean
  actings: number
  /** Something is being done under its key, or was: it may be signed. */
  hasActed: boolean
  /** Under the key of its row. */
  isWritten: boolean
  /** An equal one that has acted has lost its answer since this one has its row. */
  isLossKnown: boolean
  isRefused: boolean
}

export function createUnkeyedRequests(): UnkeyedRequests {
  const gone = new Set<string>()
  const open = new Set<Followed>()
  const losses = new Set<Promise<unknown>>()

  function tellLoss(of: Followed): void {
    if (!of.isGone || !of.row) return
    gone.add(holderOf(of.row))
    if (!of.hasActed || of.equal === undefined) return
    for (const each of open) if (each.equal === of.equal && each.row?.id !== of.row.id && !each.isGone) each.isLossKnown = true
  }

  function ownOf({ requestId, idempotencyKey: key }: RequestEntry): Followed | undefined {
    if (key === undefined || open.size === 0) return undefined
    const named = [...open].filter((each) => each.requestId === requestId && each.row?.id === key && each.actings > 0)
    // A client may name all its requests alike: then it is for the one that is still there.
    return named.find(({ isGone }) => !isGone) ?? named[0]
  }

  function giveWay(own: Followed | undefined): void {
    if (!own || own.isWritten) return
    if (own.isGone) throw refused('The client is gone: nothing was signed. An equal request signs it.')
    if (own.isLossKnown) throw refuse(own)
  }

  return {
    gone,
    isActing: (id) => [...open].some(({ row, actings }) => actings > 0 && row?.id === id),
    follow({ interface: name, client, requestId, delivered, isOneForEver }, fingerprint, lossBeside) {
      const own: Followed = {
        equal: isOneForEver === true ? undefined : JSON.stringify([name, client, fingerprint]),
        requestId,
        row: undefined,
        lossBeside: (known) => (isOneForEver === true || !own.row ? undefined : lossBeside?.(own.row, known)),
        known: [],
        isGone: false,
        actings: 0,
        hasActed: false,
        isWritten: false,
        isLossKnown: false,
        isRefused: false,
      }
      open.add(own)
      void delivered.then((isDelivered) => {
        own.isGone = !isDelivered
        tellLoss(own)
      })
      return {
        isGone: () => own.isGone,
        hold(row) {
          own.row = row
          // What was lost before is looked for once it has a row.
          Object.assign(own, { isWritten: false, isLossKnown: false })
          tellLoss(own)
        },
        saw: (lost) => void (own.known = lost),
        async during(act) {
          own.hasActed = true
          own.actings += 1
          try {
            return await act()
          } finally {
            own.actings -= 1
          }
        },
        gaveWay() {
          const was = own.isRefused
          if (was) Object.assign(own, { isRefused: false, isLossKnown: false })
          return was
        },
        signedNothing: () => void Object.assign(own, { hasActed: false, row: undefined }),
        end() {
          open.delete(own)
          // Of one for which nothing was done nobody has to know that it is gone.
          if (!own.hasActed) own.row = undefined
        },
      }
    },
    giveWay: (entry) => giveWay(ownOf(entry)),
    beforeWrite(entry) {
      const own = ownOf(entry)
      giveWay(own)
      if (!own || own.isWritten) return undefined
      own.isWritten = true
      const query = own.lossBeside(own.known)
      return query && { query, refuse: () => refuse(own) }
    },
    storing(write) {
      losses.add(write)
      void write.finally(() => losses.delete(write))
    },
    async settled() {
      for (let turn = 0; turn < 2; turn += 1) await nextTurn()
      if (losses.size > 0) await withTimeout(Promise.all(losses), settleMs, () => {})
    },
  }
}

/** Nothing was written for it. */
function refuse(own: Followed): SluiceError {
  Object.assign(own, { isRefused: true, isWritten: false })
  return refused('The answer to an equal request was lost meanwhile: nothing was signed for this one.')
}

/** What waits for one that is IN_FLIGHT would ask again under the same key. */
const refused = (why: string) => new SluiceError('TIMEOUT', why, { retryAfterSeconds: 1 })

// Requests on their way to the journal's write. One that would be over a limit is refused before a nonce is claimed for it, so that it leaves no gap. All of
// it is in memory, and the write decides: what is let through here may still be refused there.
import type { Store } from '../store/store.ts'
import type { Admission } from '../transactions/budgets.ts'
import { reserve, sum, type Amounts } from './account.ts'
import type { StoredAccount } from './reservations.ts'

/** What a request holds of an account. @throws SluiceError LIMIT_EXCEEDED */
type Check = (stored: StoredAccount) => Amounts

export interface Admissions {
  /** The account as a write of this server leaves it. If that is undone, it is wrong until the next write, or the next request that it refuses. */
  note(owner: string, stored: StoredAccount): void
  /** As it was noted, or read, last. */
  known(owner: string): StoredAccount | undefined
  /** @param read asked only before a request is refused, and for the first one @throws SluiceError LIMIT_EXCEEDED */
  admit(owner: string, check: Check, read: () => Promise<StoredAccount>): Admission | Promise<Admission>
}

/** Of one client. */
interface Ledger {
  known?: StoredAccount
  /** What was let through, and is neither written nor refused; by the promise of that. */
  readonly underWay: Map<Promise<void>, Amounts>
  /** The last of those that are looked at one after another. */
  last?: Promise<unknown> | undefined
}

/**
 * In the embedded store requests are let through at once, beside those that are under way. In PostgreSQL other servers write the same accounts, so one request of
 * a client at a time is under way to the write, which locks its row in any case: what another server has spent meanwhile costs one nonce, and not one of
 * each request of a burst.
 */
export function createAdmissions(kind: Store['kind']): Admissions {
  const ledgers = new Map<string, Ledger>()

  function ledgerOf(owner: string): Ledger {
    const ledger = ledgers.get(owner) ?? { underWay: new Map<Promise<void>, Amounts>() }
    ledgers.set(owner, ledger)
    return ledger
  }

  function enter({ underWay }: Ledger, amounts: Amounts): Admission {
    let end = () => {}
    const ended = new Promise<void>((resolve) => (end = resolve))
    underWay.set(ended, amounts)
    return () => {
      underWay.delete(ended)
      end()
    }
  }

  /** Undefined where it would be refused, or nothing is known. */
  function enterByMemory(ledger: Ledger, check: Check): Admission | undefined {
    const { known, underWay } = ledger
    if (!known) return undefined
    try {
      // The same object where nothing is under way: who is let through by it is not held against it again.
      return enter(
        ledger,
        check(underWay.size === 0 ? known : { ...known, account: reserve(known.account, [...underWay.values()].reduce(sum, {})) }),
      )
    } catch {
      return undefined
    }
  }

  /** Nothing else is let through meanwhile. Whoever would be refused waits for those under way, of which some may fail, and the store is asked. */
  async function enterInTurn(ledger: Ledger, check: Check, read: () => Promise<StoredAccount>): Promise<Admission> {
    const beside = kind === 'embedded' ? enterByMemory(ledger, check) : undefined
    if (beside) return beside
    await Promise.all(ledger.underWay.keys())
    const alone = enterByMemory(ledger, check)
    if (alone) return alone
    const stored = await read()
    ledger.known = stored
    return enter(ledger, check(stored))
  }

  return {
    note: (owner, stored) => void (ledgerOf(owner).known = stored),
    known: (owner) => ledgers.get(owner)?.known,
    admit(owner, check, read) {
      const ledger = ledgerOf(owner)
      const beside = kind === 'embedded' && !ledger.last ? enterByMemory(ledger, check) : undefined
      if (beside) return beside
      const admitted = (ledger.last ?? Promise.resolve()).then(async () => {
        try {
          return await enterInTurn(ledger, check, read)
        } finally {
          if (ledger.last === turn) ledger.last = undefined
        }
      })
      const turn = admitted.catch(() => {})
      ledger.last = turn
      return admitted
    },
  }
}

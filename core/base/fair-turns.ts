// Who a piece of work is done for, and how the work of several shares what there is of the event loop and of a network's nodes.
import { SluiceError } from './errors.ts'

/** A client certificate, or what else causes work. Only its identity counts. */
export type Payer = object

/** Of a signal: who it works for, and the turns of whose server. One that is not here is the server's own: its work waits behind nobody. */
const charges = new WeakMap<AbortSignal, { readonly payer: Payer; readonly turns: FairTurns }>()

/** Undefined for what nobody but the server itself asked for. */
export const payerOf = (signal: AbortSignal): Payer | undefined => charges.get(signal)?.payer

/** All that is done by this signal is done for whom it is done by the other one. */
export function chargeAlike(signal: AbortSignal, other: AbortSignal): void {
  const charge = charges.get(other)
  if (charge) charges.set(signal, charge)
}

interface QueuedTurn {
  begin(): void
  reject(reason: unknown): void
}

/** What one payer has under way and waiting. */
interface Account {
  underWay: number
  readonly waiting: Set<QueuedTurn>
}

interface FairSlotsOptions {
  /** Of all payers together. */
  slots: number
  /** Of one payer. */
  slotsEach: number
  /** Of one payer. More are refused. */
  maxWaiting: number
  /** How the refusal names what is shared. */
  what: string
}

export interface FairSlots {
  /**
   * Does the work at once, or when the payer has its turn. Work that nobody pays for waits for nothing.
   * @throws SluiceError RATE_LIMIT; the signal's reason
   */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>
}

/** Places for work that takes time. Where several payers wait, they take turns; one alone never takes all places. */
export function createFairSlots({ slots, slotsEach, maxWaiting, what }: FairSlotsOptions): FairSlots {
  const accounts = new Map<Payer, Account>()
  let underWay = 0

  const mayBegin = (account: Account) => underWay < slots && account.underWay < slotsEach

  async function begin<T>(payer: Payer, account: Account, work: () => Promise<T>): Promise<T> {
    underWay += 1
    account.underWay += 1
    try {
      return await work()
    } finally {
      underWay -= 1
      account.underWay -= 1
      forgetIdle(payer, account)
      next()
    }
  }

  function forgetIdle(payer: Payer, account: Account): void {
    if (account.underWay === 0 && account.waiting.size === 0) accounts.delete(payer)
  }

  function next(): void {
    for (const [payer, account] of accounts) {
      if (underWay >= slots) return
      const [first] = account.waiting
      if (!first || !mayBegin(account)) continue
      account.waiting.delete(first)
      // Behind the others: a map goes by the order of insertion.
      accounts.delete(payer)
      accounts.set(payer, account)
      return first.begin()
    }
  }

  return {
    run(signal, work) {
      const payer = payerOf(signal)
      if (!payer) return work()
      const account = accounts.get(payer) ?? { underWay: 0, waiting: new Set() }
      accounts.set(payer, account)
      if (account.waiting.size === 0 && mayBegin(account)) return begin(payer, account, work)
      if (account.waiting.size >= maxWaiting) throw tooMuchWaiting(what, maxWaiting)
      return new Promise((resolve, reject) => {
        const leave = () => {
          account.waiting.delete(waiting)
          forgetIdle(payer, account)
          waiting.reject(signal.reason)
        }
        const waiting: QueuedTurn = {
          begin() {
            signal.removeEventListener('abort', leave)
            begin(payer, account, work).then(resolve, reject)
          },
          reject,
        }
        account.waiting.add(waiting)
        signal.addEventListener('abort', leave, { once: true })
        if (signal.aborted) leave()
      })
    },
  }
}

const tooMuchWaiting = (what: string, max: number) =>
  new SluiceError(
    'RATE_LIMIT',
    `${max} readings of this client certificate wait for ${what}: nothing more is asked for it. Send fewer at once.`,
    {
      retryAfterSeconds: 1,
    },
  )

/** So many of a list, in its order: where it is longer, those who want its items take turns. What nobody pays for is one of them. */
export function shareOut<T extends object>(items: readonly T[], payerOfItem: (item: T) => Payer | undefined, most: number): readonly T[] {
  if (items.length <= most) return items
  const byPayer = new Map<Payer, T[]>()
  for (const item of items) {
    const payer = payerOfItem(item) ?? ourselves
    const own = byPayer.get(payer) ?? []
    own.push(item)
    byPayer.set(payer, own)
  }
  const chosen: T[] = []
  for (let round = 0; chosen.length < most; round += 1)
    for (const own of byPayer.values()) {
      const item = own[round]
      if (item !== undefined && chosen.length < most) chosen.push(item)
    }
  return chosen
}

/** Of the event loop: so long may a part of a long piece of work take before others have their turn. */
const sliceMs = 1

/** The turns that the long pieces of work of one server take on the event loop. */
export interface FairTurns {
  /** All that is done by this signal, and by those that are linked to it, is done for the payer. */
  chargeTo(signal: AbortSignal, payer: Payer | undefined): void
  /** Whether a long piece of work should let others have their turn. All that begin in one turn take no more of it together than one. */
  isOver(): boolean
  /** Settles when the payer's work may go on. Of one payer one piece at a time goes on, and payers take turns. */
  next(payer: Payer | undefined): Promise<void>
}

/** What nobody pays for is a payer like others. */
const ourselves: Payer = {}

export function createFairTurns(): FairTurns {
  /** One line for each payer, of those who wait to go on with a long piece of work. */
  const lines = new Map<Payer, (() => void)[]>()
  let isServing = false
  /** When the first long piece of work went on in this turn of the event loop. */
  let sliceFrom: number | undefined

  /** One of those who wait goes on in each turn of the event loop, and payers take turns. So many long pieces hold others up as long as one. */
  function serveLines(): void {
    const [entry] = lines
    if (!entry) {
      isServing = false
      return
    }
    const [payer, line] = entry
    lines.delete(payer)
    const goOn = line.shift()
    if (line.length > 0) lines.set(payer, line)
    sliceFrom = undefined
    goOn?.()
    setImmediate(serveLines)
  }

  const turns: FairTurns = {
    chargeTo(signal, payer) {
      if (payer) charges.set(signal, { payer, turns })
    },
    isOver() {
      const now = performance.now()
      if (sliceFrom === undefined) {
        sliceFrom = now
        setImmediate(() => (sliceFrom = undefined))
      }
      return now - sliceFrom >= sliceMs
    },
    next: (payer = ourselves) =>
      new Promise((resolve) => {
        const line = lines.get(payer) ?? []
        line.push(resolve)
        lines.set(payer, line)
        if (isServing) return
        isServing = true
        setImmediate(serveLines)
      }),
  }
  return turns
}

/** Calls it with each, one after the other, and lets others have their turn in between: a long list holds nobody up. */
export async function inTurns<T>(
  items: Iterable<T>,
  each: (item: T) => void,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  // What no request asks for takes turns with nobody, and holds nobody up.
  const { payer, turns } = (signal && charges.get(signal)) ?? { payer: undefined, turns: createFairTurns() }
  turns.isOver()
  for (const item of items) {
    each(item)
    if (turns.isOver()) await turns.next(payer)
  }
}

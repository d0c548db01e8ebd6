// Which answer was lost, and which equal request has it from then on (`deliveries.ts`).
import { pause } from '../base/async.ts'
import type { DeliveryRow } from '../store/tables.ts'
import type { DeliveryChange } from './delivery-changes.ts'
import { holderOf, type DeliveryTable, type UnansweredRow, type UnkeyedRequest } from './delivery-table.ts'
import { isFinal } from './entry.ts'
import { fingerprintOf } from './idempotency.ts'
import type { Journal } from './journal/journal.ts'
import type { FollowedRequest, UnkeyedRequests } from './unkeyed-requests.ts'

/** Between two looks at what another server says of the connection of an equal request. */
const otherServerMs = 250
/** A server that has ended without a word is known to be dead by then. */
const deadServerMs = 9_000
/** What a server says of itself the second time it has begun to say after it was asked: by then its losses are stored (`UnkeyedRequests.settled`). */
const renewals = 2
/** A client may ask again over another connection before this process has read that the first one is gone. */
const closeMs = 50
/** That an answer was delivered is stored by then, also by a busy server. */
const storedMs = 2_000

/** Transactions of one request. */
const mostOfKey = 20
/** Of the failures of one request so many are asked for at once: the next one, the second, the fourth, up to the 128th. */
const stepsOfFailures = 8

interface LostAnswersParts {
  readonly table: DeliveryTable
  readonly journal: Pick<Journal, 'list'>
  readonly serverId: string
  readonly requests: Pick<UnkeyedRequests, 'gone' | 'isActing'>
  /** By `nowMs`: before, no client reached this process. */
  readonly startedAt: number
  readonly change: (row: DeliveryRow, to: Partial<DeliveryRow> | 'nothing') => Promise<void>
  readonly fail: (row: DeliveryRow) => Promise<void>
  readonly forget: (row: DeliveryRow) => Promise<void>
  readonly signal: AbortSignal
  readonly nowMs: () => number
  /** A clock that is never set. */
  readonly steadyMs: () => number
  readonly say: (row: DeliveryRow, change: DeliveryChange) => void
}

/** When answers whose transactions were seen to be final are kept no longer, by a clock that is never set: nowhere later than by this machine's. */
function createEndings(steadyMs: () => number) {
  const endings = new Map<string, number>()
  return {
    /** @param knownInMs until its client may know that it has to ask again */
    isOver(row: UnansweredRow, knownInMs: number): boolean {
      const now = steadyMs()
      const ending = endings.get(holderOf(row)) ?? now + Math.min(Math.max(0, knownInMs), row.stale_ms) + row.collect_ms
      endings.set(holderOf(row), ending)
      return ending < now
    },
    keepOnly(rows: readonly UnansweredRow[]): void {
      const holders = new Set(rows.map(holderOf))
      for (const holder of endings.keys()) if (!holders.has(holder)) endings.delete(holder)
    },
  }
}

/** Finds the lost answer that a request is for. */
export function createLostAnswers({
  table,
  journal,
  serverId,
  requests,
  startedAt,
  change,
  fail,
  forget,
  signal,
  nowMs,
  steadyMs,
  say,
}: LostAnswersParts) {
  const { gone, isActing } = requests
  const endings = createEndings(steadyMs)

  function isLost(row: UnansweredRow): boolean {
    if (row.state === 'lost' || row.state === 'uncollected' || gone.has(holderOf(row))) return true
    // Of one that is one for ever also answers that have arrived are found.
    if (row.state !== 'open') return false
    if (row.server !== serverId && !row.alive) return true
    return row.asked_at + row.stale_ms < nowMs()
  }

  /** Since when its client may know that it has to ask again, and may reach a server. */
  function lostSince(row: UnansweredRow): number {
    if (row.lost_at > 0) return row.lost_at
    if (gone.has(holderOf(row))) return nowMs()
    if (row.server !== serverId && !row.alive) return Math.max(startedAt, Number(row.alive_until ?? 0))
    return row.asked_at + row.stale_ms
  }

  /** Whether nobody may collect it any more: its entry was final for so long, or nothing can come of it. */
  async function giveUpOver(row: UnansweredRow): Promise<boolean> {
    const { id, client, asked_at, stale_ms, collect_ms } = row
    const { entries } = await journal.list({ archived: true, idempotencyKey: id, client, limit: 1 })
    const [entry] = entries
    if (!entry) {
      if (asked_at + stale_ms + collect_ms >= nowMs() || (await table.isUnderWay(row))) return false
      await table.change(row, 'nothing')
      return true
    }
    if (!isFinal(entry)) return false
    const [knownAt, now] = [lostSince(row), nowMs()]
    const isOver = endings.isOver(row, knownAt - now)
    if (Math.max(entry.updatedAt, knownAt) + collect_ms >= now && !isOver) return false
    if (await table.giveUp(row)) say(row, 'uncollected')
    return true
  }

  /** @param rows all that are not answered now */
  async function giveUpAll(rows: readonly UnansweredRow[]): Promise<void> {
    endings.keepOnly(rows)
    for (const row of rows) {
      if (signal.aborted) return
      if (isLost(row)) await giveUpOver(row)
    }
  }

  /** The row of a request: that of a lost answer, or a new one. */
  async function rowOf(request: UnkeyedRequest, first: string): Promise<DeliveryRow> {
    for (let fingerprint = first; ;) {
      const row = (await findLost(request, fingerprint)) ?? (await openOf(request, fingerprint, { table, change }))
      // The key of one that has failed has its outcome for ever: the next one has another.
      if (row === 'failed') fingerprint = after(await lastFailed(table, request, fingerprint))
      else if (row && (await isOver(row, request, { journal, fail, forget }))) fingerprint = after(fingerprint)
      else if (row) return row
    }
  }

  /** The row of a lost answer, which this request has from now on. `failed`: it is over, for all equal requests: they are others from now on. */
  async function findLost(request: UnkeyedRequest, fingerprint: string): Promise<DeliveryRow | undefined | 'failed'> {
    for (;;) {
      const found = await joinOneOf(
        await settledRows(request, fingerprint, { table, serverId, isLost, signal }),
        request,
        request.isOneForEver === true,
      )
      if (found !== 'changed') return found
    }
  }

  /**
   * The same without waiting, for a request that has a row and has signed nothing. One that has the place of a lost answer leaves it only where nothing was
   * signed for that, and for what was signed.
   */
  async function findLostBeside(
    row: DeliveryRow,
    request: UnkeyedRequest,
    fingerprint: string,
    { saw }: Pick<FollowedRequest, 'saw'>,
  ): Promise<DeliveryRow | undefined> {
    for (;;) {
      const others = (await table.equal(request, fingerprint)).filter((each) => each.id !== row.id)
      saw(others.filter(isLost).map(holderOf))
      const lost = row.joins === 0 ? others : await tradedBeside(row, others.filter(isLost), { isActing, journal, table })
      const found = await joinOneOf(lost, request, false)
      // Only one that is one for ever fails.
      if (found !== 'changed' && found !== 'failed') return found
    }
  }

  /** `changed`: one of them is not as it was read. */
  async function joinOneOf(
    rows: readonly UnansweredRow[],
    request: UnkeyedRequest,
    isOneForEver: boolean,
  ): Promise<DeliveryRow | undefined | 'changed' | 'failed'> {
    const left = [...rows]
    let isPast = rows.some(({ state }) => state === 'failed')
    while (left.length > 0) {
      const lost = left.filter(isLost)
      const row = (lost.length > 1 ? await firstTraded(lost, { isActing, journal, table }) : undefined) ?? left[0]
      if (!row) break
      left.splice(left.indexOf(row), 1)
      if (row.state === 'failed') continue
      const wasLost = isLost(row)
      if (row.state === 'delivered' && !wasLost && request.isNewAfterAnswer === true) {
        if (!(await table.changeRead(row, { state: 'failed' }))) return 'changed'
        isPast = true
        continue
      }
      if (!isOneForEver && (!wasLost || (await giveUpOver(row)))) continue
      const joined = await joinOf(row, request, wasLost)
      if (!joined) return 'changed'
      if (wasLost) say(joined, 'joined')
      return joined
    }
    return isPast ? 'failed' : undefined
  }

  async function joinOf(row: DeliveryRow, request: UnkeyedRequest, wasLost: boolean): Promise<DeliveryRow | undefined> {
    const next = table.joinedRow(row, request, wasLost)
    try {
      if (!(await table.join(row, next))) return undefined
      gone.delete(holderOf(next))
      return next
    } catch (error) {
      // Where it was done all the same, nobody has the row: the next request may, on any server.
      gone.add(holderOf(next))
      void change(next, { state: 'lost', lost_at: nowMs(), answer_id: '' })
      throw error
    }
  }

  return { isSigned: (row: DeliveryRow) => isSigned(journal, row), giveUpAll, rowOf, findLostBeside }
}

async function openOf(
  request: UnkeyedRequest,
  fingerprint: string,
  { table, change }: Pick<LostAnswersParts, 'table' | 'change'>,
): Promise<DeliveryRow | undefined> {
  const row = table.newRow(request, fingerprint)
  try {
    return (await table.open(row)) ? row : undefined
  } catch (error) {
    // It may be there, and nothing is done for it. One that is one for ever may be another request's.
    if (request.isOneForEver !== true) void change(row, 'nothing')
    throw error
  }
}

/** Whether its transaction has failed for good, where the request is made anew then. */
async function isOver(
  row: DeliveryRow,
  { isNewAfterFailure }: UnkeyedRequest,
  { journal, fail, forget }: Pick<LostAnswersParts, 'journal' | 'fail' | 'forget'>,
): Promise<boolean> {
  if (isNewAfterFailure !== true) return false
  const isFailed = await hasFailed(journal, row).catch((error: unknown) => {
    void forget(row)
    throw error
  })
  if (isFailed) await fail(row)
  return isFailed
}

/** Once it is known of each whether its connection stands: its server may have ended, or be about to say that it is gone. */
async function settledRows(
  request: UnkeyedRequest,
  fingerprint: string,
  { table, serverId, isLost, signal }: Pick<LostAnswersParts, 'table' | 'serverId' | 'signal'> & { isLost(row: UnansweredRow): boolean },
): Promise<readonly UnansweredRow[]> {
  const first = await table.equal(request, fingerprint)
  if (request.isOneForEver === true) {
    // That its answer has just been delivered may not be stored yet.
    const isOpen = (row: UnansweredRow) => row.state === 'open' && !isLost(row)
    let rows = first
    for (const endMs = performance.now() + storedMs; request.isNewAfterAnswer === true && rows.some(isOpen);) {
      if (performance.now() > endMs || signal.aborted) break
      await pause(closeMs, signal)
      rows = await table.equal(request, fingerprint)
    }
    return rows
  }
  if (first.every(isLost)) return first
  /** Of other servers: how far each was alive when it was looked at last, and how often that has grown since. */
  const said = new Map(first.map(({ server, alive_until }) => [server, { aliveUntil: Number(alive_until), times: 0 }]))
  for (const endMs = performance.now() + deadServerMs; ;) {
    await pause(closeMs, signal)
    const rows = await table.equal(request, fingerprint)
    for (const { server, alive_until } of rows) {
      const last = said.get(server)
      if (last && Number(alive_until) > last.aliveUntil) said.set(server, { aliveUntil: Number(alive_until), times: last.times + 1 })
    }
    // Of a server that was not asked anything before, the request came later than this one.
    const isDoubtful = (row: UnansweredRow) =>
      row.server !== serverId && !isLost(row) && (said.get(row.server)?.times ?? renewals) < renewals
    if (!rows.some(isDoubtful) || performance.now() > endMs || signal.aborted) return rows
    await pause(otherServerMs, signal)
  }
}

/**
 * Of several lost answers the first of what was signed, or may be at this moment. The others tell of nothing: what is signed in the place of one of these is
 * another transaction, and the client has lost the answer to that which is there. Read one by one, as there may be many.
 */
async function firstTraded(rows: readonly UnansweredRow[], parts: Parameters<typeof mayHaveTraded>[1]): Promise<UnansweredRow | undefined> {
  for (const row of rows) if (await mayHaveTraded(row, parts)) return row
  return undefined
}

/** Those of what was signed, for a row for which nothing was. */
async function tradedBeside(row: DeliveryRow, lost: readonly UnansweredRow[], parts: Parameters<typeof mayHaveTraded>[1]) {
  if (lost.length === 0 || (await mayHaveTraded(row, parts))) return []
  const traded: UnansweredRow[] = []
  for (const each of lost) if (await mayHaveTraded(each, parts)) traded.push(each)
  return traded
}

/** Whether something was signed for it that did not fail, or may be at this moment. */
export async function mayHaveTraded(
  row: DeliveryRow,
  { isActing, journal, table }: Pick<LostAnswersParts, 'journal' | 'table'> & Pick<UnkeyedRequests, 'isActing'>,
) {
  if (isActing(row.id)) return true
  const entries = await entriesOf(journal, row)
  if (entries.length === 0) return table.isUnderWay(row)
  return entries.some((entry) => !isFinal(entry) || entry.state === 'CONFIRMED')
}

/** Of those that follow one that has failed, each after the failure of the one before: few questions to the store, however many there were. */
async function lastFailed(table: Pick<DeliveryTable, 'failedOf'>, request: UnkeyedRequest, failed: string): Promise<string> {
  for (let last = failed; ;) {
    const steps: string[] = []
    let reached = last
    for (let count = 1; steps.length < stepsOfFailures; count += 1) {
      reached = after(reached)
      if (count === 2 ** steps.length) steps.push(reached)
    }
    const known = await table.failedOf(request, steps)
    const farthest = steps.findLast((each) => known.has(each))
    if (farthest === undefined) return last
    last = farthest
  }
}

/** That of the request which is made anew once the one before has failed. */
const after = (fingerprint: string): string => fingerprintOf({ after: fingerprint })

type Entries = Pick<Journal, 'list'>

/** The transactions under its key, archived ones too. */
const entriesOf = async (journal: Entries, { id, client }: DeliveryRow) =>
  (await journal.list({ archived: true, idempotencyKey: id, client, limit: mostOfKey })).entries

/** Whether something was signed under its key that can never succeed: the journal knows it, also where nobody was told, or its row was deleted. */
async function hasFailed(journal: Entries, row: DeliveryRow): Promise<boolean> {
  const entries = await entriesOf(journal, row)
  return entries.every(isFinal) && entries.some(({ state }) => state !== 'CONFIRMED')
}

/** Whether something was signed under its key, which has that for its outcome as long as the journal has it. */
async function isSigned(journal: Entries, row: DeliveryRow): Promise<boolean> {
  const entries = await entriesOf(journal, row)
  return entries.some(({ attempts }) => attempts.length > 0)
}

// Positions whose clients were refused what they asked of them. Some take any refusal for proof that a position is gone, count it as closed and never ask
// again, with the funds in the pool. A client that is answered later follows its position, and its row goes; that of a refused close only once it is closed,
// as its client wanted no more of it.
import { withTimeout } from '../base/async.ts'
import { reasonOf, SluiceError } from '../base/errors.ts'
import type { FollowedPosition, PositionQuestion } from '../contracts/interface.ts'
import type { Store, StoreLog } from '../store/store.ts'
import type { RefusedPositionRow } from '../store/tables.ts'

export interface AskedPosition extends FollowedPosition {
  /** The id of who asked. */
  readonly client: string
}

export interface RefusedPositions {
  /**
   * Keeps that a client was refused, unless it knows what to mend or that the position is gone. Waits until it is stored, for a moment at most.
   * @param thrown undefined: its answer did not reach it. Never rejects.
   */
  refuse(position: AskedPosition, asked: PositionQuestion, thrown?: unknown): Promise<void>
  /** Costs nothing where it was not refused. */
  answer(position: AskedPosition, asked: PositionQuestion): void
  /** Newest first. @throws StoreUnavailable */
  list(): Promise<readonly RefusedPositionRow[]>
}

/** Of one client: of more the oldest are forgotten. */
const mostOfClient = 500
/** A client that looks each second is not stored each second. */
const againMs = 30_000
/** What another server on the store has stored is known so long after it. */
const reloadMs = 30_000
const retryMs = 1_000
const longestWaitMs = 1_000
/** Longer texts name no position. */
const longestText = 200

/** @param clocks other ones, for tests */
export function createRefusedPositions(
  store: Pick<Store, 'kind' | 'read' | 'writeOnce'>,
  log: Pick<StoreLog, 'warn'>,
  { nowMs = Date.now, steadyMs = () => performance.now() }: { nowMs?: () => number; steadyMs?: () => number } = {},
): RefusedPositions {
  /** Those that are stored, oldest first. */
  const known = new Map<string, RefusedPositionRow>()
  let loading: Promise<void> | undefined
  let reloadAtMs = -Infinity

  const list = () => store.read((db) => db.selectFrom('refused_positions').selectAll().orderBy('refused_at', 'desc').execute())

  function load(): Promise<void> {
    return (loading ??= loadNow().finally(() => (loading = undefined)))
  }

  async function loadNow(): Promise<void> {
    const since = nowMs()
    try {
      const rows = await list()
      // Those that were refused meanwhile may not be stored yet.
      for (const [key, row] of known) if (row.refused_at < since) known.delete(key)
      for (const row of rows.toReversed()) if (!known.has(keyOf(row))) known.set(keyOf(row), row)
      reloadAtMs = store.kind === 'embedded' ? Infinity : steadyMs() + reloadMs
    } catch (error) {
      reloadAtMs = steadyMs() + retryMs
      log.warn({ reason: reasonOf(error) }, 'positions whose clients were refused are not read; tried again')
    }
  }

  async function put(row: RefusedPositionRow): Promise<void> {
    const { asked, refused_at, error, ...position } = row
    await store.writeOnce((db) =>
      db
        .insertInto('refused_positions')
        .values(row)
        .onConflict((conflict) => conflict.columns(keyColumns).doUpdateSet({ asked, refused_at, error }))
        .execute(),
    )
    const ofClient = [...known.values()].filter(({ client }) => client === position.client)
    for (const oldest of ofClient.slice(0, Math.max(0, ofClient.length - mostOfClient))) await forget(oldest)
  }

  async function forget(row: RefusedPositionRow): Promise<void> {
    const key = keyOf(row)
    known.delete(key)
    const { chain, network, connector, version, token_id, client, refused_at } = row
    try {
      await store.writeOnce((db) =>
        db
          .deleteFrom('refused_positions')
          .where((eb) => eb.and({ chain, network, connector, version, token_id, client }))
          .where('refused_at', '<=', refused_at)
          .execute(),
      )
    } catch (error) {
      if (!known.has(key)) known.set(key, row)
      log.warn({ reason: reasonOf(error) }, 'a position whose client was answered is not stored as such yet')
    }
  }

  async function keep(row: RefusedPositionRow): Promise<void> {
    const key = keyOf(row)
    if (steadyMs() >= reloadAtMs) await load()
    const before = known.get(key)
    if (before && row.asked === 'position' && (before.asked === 'close' || Math.abs(row.refused_at - before.refused_at) < againMs)) return
    known.delete(key)
    known.set(key, row)
    try {
      await put(row)
    } catch (error) {
      if (known.get(key) === row) known.delete(key)
      log.warn({ reason: reasonOf(error) }, 'that a client was refused its position is not stored')
    }
  }

  function answer(position: AskedPosition, asked: PositionQuestion): void {
    const end = () => {
      const row = known.get(keyOf(columnsOf(position)))
      if (row && (asked === 'close' || row.asked === 'position')) void forget(row)
    }
    if (steadyMs() < reloadAtMs) return end()
    void load().then(end)
  }

  return {
    async refuse(position, asked, thrown) {
      const error = thrown === undefined ? null : nameOf(thrown)
      if (error === 'INCOMPLETE_PARAMS') return
      // It is gone.
      if (error === 'UNKNOWN_POSITION') return answer(position, 'close')
      const row = rowOf(position, { asked, refused_at: nowMs(), error })
      if (row) await withTimeout(keep(row), longestWaitMs, () => {})
    },
    answer,
    list,
  }
}

const keyColumns = ['client', 'chain', 'network', 'connector', 'version', 'token_id'] as const

type Key = Pick<RefusedPositionRow, (typeof keyColumns)[number]>

const columnsOf = ({ client, chain, network, connector, version, tokenId }: AskedPosition): Key => ({
  client,
  chain,
  network,
  connector,
  version,
  token_id: tokenId,
})

const keyOf = (of: Key): string => JSON.stringify(keyColumns.map((column) => of[column]))

function rowOf(position: AskedPosition, refusal: Omit<RefusedPositionRow, keyof Key>): RefusedPositionRow | undefined {
  const key = columnsOf(position)
  // PostgreSQL has no text with a zero in it.
  const isNamed = keyColumns.every((column) => column === 'client' || (key[column].length <= longestText && !key[column].includes('\0')))
  return isNamed ? { ...key, ...refusal } : undefined
}

const nameOf = (thrown: unknown): string => (thrown instanceof SluiceError ? thrown.name : 'UNKNOWN_ERROR')

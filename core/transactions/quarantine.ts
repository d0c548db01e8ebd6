// Plugins whose mined transactions took more from a wallet, or brought it less, than their plans were allowed: nothing is signed for them before the
// operator lifts it. It stands in the store, so all servers on it go by it, also after a restart.
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { fits } from '../base/schema-check.ts'
import { oneAtATime } from '../base/async.ts'
import { reasonOf, SluiceError } from '../base/errors.ts'
import { parseJson } from '../base/json.ts'
import { command } from '../base/layout.ts'
import type { BreachRow } from '../store/tables.ts'
import type { Store, StoreLog } from '../store/store.ts'

/** Of one token, smallest units: what the wallet was to gain at least (below 0: to lose at most), and what it gained. */
const LossSchema = Type.Object({
  token: Type.String(),
  minGainRaw: Type.String({ pattern: '^-?[0-9]+$' }),
  gainRaw: Type.String({ pattern: '^-?[0-9]+$' }),
})
export type Loss = Static<typeof LossSchema>

const BreachBody = Type.Object({
  chain: Type.String(),
  network: Type.String(),
  address: Type.String(),
  txHash: Type.String(),
  /** Of the plugin: `Entry.plugin`. */
  version: Type.Optional(Type.String()),
  lost: Type.Array(LossSchema),
})

/** A transaction that did more to its wallet than its plan was allowed. */
export interface Breach extends Static<typeof BreachBody> {
  /** Of its entry in the journal. */
  readonly key: string
  readonly plugin: string
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

export interface Quarantine {
  /** Records it. Of one that is recorded already, also one that was lifted, nobody is told again. @throws StoreUnavailable */
  report(breach: Breach): Promise<void>
  /** Asks the store. @throws SluiceError FORBIDDEN while the plugin is quarantined; StoreUnavailable */
  refuse(plugin: string): Promise<void>
  /** @returns what was in force of it, oldest first; none where it is not quarantined @throws StoreUnavailable */
  lift(plugin: string): Promise<readonly Breach[]>
  /** Reads what other servers reported and lifted. Runs by itself every few seconds. @throws StoreUnavailable */
  refresh(): Promise<void>
  stop(): void
}

interface QuarantineOptions {
  store: Pick<Store, 'read' | 'writeOnce'>
  log: StoreLog
  /** Once for each, on the server that found it. */
  onBreach(breach: Breach): void
  /** With all that are in force, oldest first: at first, and whenever that is another set. */
  onChange(inForce: readonly Breach[]): void
  nowMs?: () => number
}

/** What other servers report is shown so late at most. Before something is signed the store is asked in any case. */
const refreshMs = 5_000

export function createQuarantine({ store, log, onBreach, onChange, nowMs = Date.now }: QuarantineOptions): Quarantine {
  let shown: string | undefined
  let isFailing = false
  const timer = setInterval(() => void refreshByItself(), refreshMs).unref()

  const inForce = (plugin?: string): Promise<readonly Breach[]> =>
    store.read(async (db) => {
      const all = db.selectFrom('breaches').selectAll().where('lifted_at', 'is', null).orderBy('entry_key')
      return (await (plugin === undefined ? all : all.where('plugin', '=', plugin)).execute()).map(readBreach)
    })

  // Else what was read before a change could hold after it.
  const refresh = oneAtATime(readNow)

  async function readNow(): Promise<void> {
    const breaches = await inForce()
    const now = breaches.map(({ key }) => key).join(' ')
    if (now === shown) return
    shown = now
    onChange(breaches)
  }

  async function refreshByItself(): Promise<void> {
    try {
      await refresh()
      isFailing = false
    } catch (error) {
      // Logged once as long as it lasts.
      if (!isFailing) log.warn({ reason: reasonOf(error) }, 'quarantined plugins not read; tried again')
      isFailing = true
    }
  }

  return {
    async report(breach) {
      const { key: entry_key, plugin, at, chain, network, address, txHash, version, lost } = breach
      const body = JSON.stringify({ chain, network, address, txHash, version, lost })
      const [added] = await store.writeOnce((db) =>
        db
          .insertInto('breaches')
          .values({ entry_key, plugin, at, body, lifted_at: null })
          .onConflict((conflict) => conflict.column('entry_key').doNothing())
          .returning('entry_key')
          .execute(),
      )
      if (added) onBreach(breach)
      await refresh()
    },
    async refuse(plugin) {
      const [first] = await inForce(plugin)
      if (!first) return
      await refresh()
      throw quarantinedError(plugin)
    },
    async lift(plugin) {
      const breaches = await inForce(plugin)
      // PostgreSQL takes no empty list.
      if (breaches.length === 0) return []
      await store.writeOnce((db) =>
        db
          .updateTable('breaches')
          .set({ lifted_at: nowMs() })
          .where('lifted_at', 'is', null)
          .where(
            'entry_key',
            'in',
            breaches.map(({ key }) => key),
          )
          .execute(),
      )
      await refresh()
      return breaches
    },
    refresh,
    stop: () => clearInterval(timer),
  }
}

/** A damaged row counts all the same. */
function readBreach({ entry_key: key, plugin, at, body }: BreachRow): Breach {
  const stored = parseJson(body)
  const read = fits(BreachBody, stored) ? stored : { chain: '', network: '', address: '', txHash: '', lost: [] }
  return { key, plugin, at, ...read }
}

/** For whoever wants something signed for it. Which wallet it was is told to those who may use that wallet, by /plugins. */
export const quarantinedError = (plugin: string): SluiceError =>
  new SluiceError(
    'FORBIDDEN',
    `The plugin ${plugin} is quarantined: a transaction that it planned took more from a wallet, or brought it less, than the plan was allowed, so nothing is signed for it. GET /plugins shows what was lost. An operator looks at it, and lifts it by \`${command} plugin lift ${plugin}\`.`,
    { details: { reason: 'quarantined', plugin } },
  )

// Lets each rule look when its time has come, and has people told of what is new and what is over.
import { pause, withTimeout } from '../base/async.ts'
import { alertRuleNames, type AlertSettings } from '../config/alerts-file.ts'
import type { AlertTable, KnownAlert } from './alert-table.ts'
import type { Outbox } from './outbox.ts'
import { createRuleWatch, type RuleWatchContext } from './rule-watch.ts'
import type { RuleHealth } from './rule-health.ts'
import { rules } from './rules.ts'
import type { AlertSources, Trigger } from './sources.ts'
import { collectMs } from './tell.ts'

export interface AlertWatch {
  /** Rules that are about this look at once. */
  trigger(of: Trigger): void
  /** Lets all look that are due, and tells. Runs by itself. Never rejects. */
  tick(): Promise<void>
  stop(): Promise<void>
}

interface WatchOptions {
  readonly settings: AlertSettings
  readonly sources: AlertSources
  readonly table: AlertTable
  readonly outbox: Pick<Outbox, 'run' | 'stop'>
  readonly health: RuleHealth
  /** Other servers have the same store: what they raise and resolve is read. */
  readonly isShared: boolean
  /** For people. */
  readonly server: string
  readonly log: { warn(fields: object, message: string): void }
  readonly nowMs?: () => number
  readonly steadyMs?: () => number
}

const tickMs = 500
/** What other servers have raised and resolved is read so often. */
const refreshMs = 10_000
/** Until then another server has read that something is over, and has said where it is not. */
const overMs = refreshMs + 5_000
/** Others' messages, and those that are to be tried again. */
const outboxMs = 2_000
/** A store that hangs keeps no server from ending. */
const stopMs = 2_000

export function createAlertWatch(options: WatchOptions): AlertWatch {
  const { settings, table, outbox, log, isShared, server } = options
  const { nowMs = Date.now, steadyMs = () => performance.now() } = options
  const channels = Object.entries(settings.channels).map(([name, of]) => ({ name, ...of }))
  const closing = new AbortController()
  let [refreshedAt, tellAt, deliveredAt] = [-Infinity, -Infinity, -Infinity]
  let ticking: Promise<void> | undefined
  let isFailing = false
  const blocks = newBlocks((settings.portfolioSeconds * 1000) / 2)
  const onNews: RuleWatchContext['onNews'] = (news) => {
    // What comes within a moment is told together.
    tellAt = Math.min(tellAt, steadyMs() + (news === 'raised' ? collectMs : 0))
  }
  const context: RuleWatchContext = { ...options, nowMs, steadyMs, closing: closing.signal, onNews }
  const watched = alertRuleNames.flatMap((name) => createRuleWatch(name, context) ?? [])
  const timer = setInterval(() => void tick(), tickMs).unref()

  async function refresh(): Promise<void> {
    if (refreshedAt > -Infinity && (!isShared || steadyMs() - refreshedAt < refreshMs)) return
    const all = await table.list()
    if (refreshedAt === -Infinity) await endUnwatched(all)
    refreshedAt = steadyMs()
    for (const rule of watched) {
      const own = all.filter((each) => each.rule === rule.name)
      const over = own.filter(({ isResolved }) => isResolved).map(({ subject }) => subject)
      await rule.learn({ open: own.filter(({ isResolved }) => !isResolved), over })
    }
  }

  /** Nobody looks any more at what rules found that are switched off now: for those who were told it is over. */
  async function endUnwatched(all: readonly KnownAlert[]): Promise<void> {
    const ended = all.filter((each) => !watched.some(({ name }) => name === each.rule))
    for (const rule of new Set(ended.map((each) => each.rule)))
      await table.resolve(
        rule,
        ended.filter((each) => each.rule === rule).map(({ subject }) => subject),
      )
  }

  async function tell(): Promise<void> {
    if (steadyMs() >= tellAt) {
      // Something may wait until others of its rule may be told.
      tellAt = steadyMs() + outboxMs
      const messages = await table.tell({ rules, channels, groupMs: settings.groupSeconds * 1000, overMs: isShared ? overMs : 0, server })
      if (messages > 0) deliveredAt = -Infinity
    }
    if (steadyMs() - deliveredAt < outboxMs) return
    deliveredAt = steadyMs()
    // A channel that hangs is not waited for.
    void outbox.run()
  }

  function trigger(of: Trigger): void {
    for (const rule of watched) rule.trigger(of)
  }

  async function tickNow(): Promise<void> {
    try {
      await refresh()
      if (blocks.came(options.sources.heads(), steadyMs())) trigger('blocks')
      const looking = Promise.all(watched.filter((rule) => rule.isDue()).map((rule) => rule.look()))
      // One that waits for a node keeps nobody from telling what others found.
      await Promise.race([looking, pause(tickMs, closing.signal, { ref: false })])
      await tell()
      isFailing = false
    } catch (error) {
      // Said once as long as it lasts.
      if (!isFailing && !closing.signal.aborted)
        log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'alerts not noted; tried again')
      isFailing = true
    }
  }

  /** A store that hangs is not asked by one after another. */
  async function tick(): Promise<void> {
    if (closing.signal.aborted) return
    await (ticking ??= tickNow().finally(() => (ticking = undefined)))
  }

  return {
    tick,
    trigger,
    async stop() {
      clearInterval(timer)
      closing.abort()
      await withTimeout(Promise.all([ticking, outbox.stop()]), stopMs, () => {})
    },
  }
}

/** Tells of new blocks where one is worth waiting for. @param leastMs networks that have them more often are read at any time */
function newBlocks(leastMs: number) {
  const newest = new Map<string, { readonly number: number; readonly at: number }>()
  return {
    came(heads: ReadonlyMap<string, number>, now: number): boolean {
      const fresh = [...heads].filter(([network, number]) => newest.get(network)?.number !== number)
      const rare = fresh.filter(([network, number]) => {
        const before = newest.get(network)
        return before !== undefined && number > before.number && now - before.at >= (number - before.number) * leastMs
      })
      for (const [network, number] of fresh) newest.set(network, { number, at: now })
      return rare.length > 0
    },
  }
}

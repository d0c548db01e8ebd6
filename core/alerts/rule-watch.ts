// One rule while it is watched: when it looks, what it knows, what is new and what is over.
import { withDeadline } from '../base/async.ts'
import { oneLine } from '../base/printable.ts'
import type { AlertSettings, RuleName, RuleSettings } from '../config/alerts-file.ts'
import { maskUrls } from '../config/mask.ts'
import type { AlertTable, KnownAlert } from './alert-table.ts'
import { safeFinding, type Finding } from './message.ts'
import { rules } from './rules.ts'
import type { RuleHealth } from './rule-health.ts'
import type { AlertSources, Reader, Rule, Trigger } from './sources.ts'
import { maxAlerts } from './tell.ts'

export interface RuleWatch {
  readonly name: RuleName
  /** Whether its time has come. */
  isDue(): boolean
  /** Lets it look soon, if that is what it is about. */
  trigger(of: Trigger): void
  /** Looks, and notes what is new and what is over. Never rejects. */
  look(): Promise<void>
  /**
   * What there is of it in the store, by whichever server. What another says is over goes on where this one still sees it.
   * @throws StoreUnavailable
   */
  learn(of: { readonly open: readonly Pick<KnownAlert, 'subject' | 'foundAt'>[]; readonly over: readonly string[] }): Promise<void>
}

export interface RuleWatchContext {
  readonly settings: AlertSettings
  readonly sources: AlertSources
  readonly table: Pick<AlertTable, 'raise' | 'findAgain' | 'resolve'>
  readonly health: RuleHealth
  readonly log: { warn(fields: object, message: string): void }
  /** Aborts when nobody looks any more. */
  readonly closing: AbortSignal
  nowMs(): number
  steadyMs(): number
  /** Something is to be told. */
  onNews(news: 'raised' | 'over'): void
}

/** Operators are shown it: a plugin's error may hold a URL with a key. */
const wordsOf = (reason: string): string => maskUrls(oneLine(reason)).slice(0, maxReason)
const maxReason = 300
/** After a trigger: what one request writes is read together. */
const gatherMs = 200
/** Shares of the usual time, before and after its end. A block within them is the moment to look: what it brought is then told soon. */
const [earlyShare, lateShare] = [0.25, 0.15]
/** What lasts is noted as found again so often. */
const findAgainMs = 60_000
/** A reading that takes longer is given up: its rule looks again. */
const readMs = 30_000

/** Undefined where the rule is switched off. */
export function createRuleWatch<Name extends RuleName>(name: Name, context: RuleWatchContext): RuleWatch | undefined {
  const { settings, sources, health, log, closing, nowMs, steadyMs } = context
  const threshold: RuleSettings[Name] = settings.rules[name]
  if (!threshold.enabled) return undefined
  const { every, triggers = [], create }: Rule<Name> = rules[name]
  const read: Reader = create(threshold, sources)
  const everyMs = every === 'portfolio' ? settings.portfolioSeconds * 1000 : every
  // Nodes are asked for it, however often something triggers it.
  const restMs = every === 'portfolio' ? everyMs / 4 : gatherMs
  /** Since when each is over, of what there is; undefined: it is not. */
  const known = new Map<string, number | undefined>()
  /** When each was found last, by whichever server, of what there is; and what the store has of that. */
  const [foundAt, storedAt] = [new Map<string, number>(), new Map<string, number>()]
  let [dueAt, restedAt, plannedAt, blockAt] = [-Infinity, -Infinity, -Infinity, -Infinity]
  const isInWindow = (at: number) => at >= plannedAt - everyMs * earlyShare
  let isReading = false
  /** What it has seen, and has not seen to be over. */
  let seen: ReadonlyMap<string, Finding> = new Map()

  function forget(subject: string): void {
    for (const each of [known, foundAt, storedAt]) each.delete(subject)
  }

  async function note(found: readonly Finding[], isUnknown: (subject: string) => boolean): Promise<void> {
    const bySubject = new Map(found.map((each) => [each.subject, each]))
    const fresh = [...bySubject.values()].filter(({ subject }) => !known.has(subject))
    if (fresh.length > 0) {
      await context.table.raise(name, threshold.severity, fresh)
      context.onNews('raised')
    }
    const now = nowMs()
    const isStored = (subject: string) => Math.abs(now - (storedAt.get(subject) ?? -Infinity)) < findAgainMs
    const again = [...bySubject.keys()].filter((subject) => known.has(subject) && !isStored(subject))
    if (again.length > 0) await context.table.findAgain(name, again)
    for (const subject of [...again, ...fresh.map((each) => each.subject)]) storedAt.set(subject, now)
    for (const subject of bySubject.keys()) foundAt.set(subject, now)
    seen = new Map([...[...seen].filter(([subject]) => isUnknown(subject)), ...bySubject])
    for (const subject of bySubject.keys()) known.set(subject, undefined)
    const over: string[] = []
    for (const [subject, since = steadyMs()] of known) {
      if (bySubject.has(subject) || isUnknown(subject)) continue
      known.set(subject, since)
      if (steadyMs() - since >= settings.resolveSeconds * 1000) over.push(subject)
    }
    if (over.length === 0) return
    await context.table.resolve(name, over)
    for (const subject of over) forget(subject)
    context.onNews('over')
  }

  /** Said once as long as it lasts. */
  function noteHealth(reason: string | undefined): void {
    if (!closing.aborted && health.note(name, reason) && reason !== undefined)
      log.warn({ rule: name, reason }, 'an alert rule could not look; tried again')
  }

  return {
    name,
    isDue: () => !isReading && dueAt <= steadyMs(),
    trigger(of) {
      if (!triggers.includes(of)) return
      if (of === 'blocks') blockAt = steadyMs()
      if (of === 'blocks' && !isInWindow(blockAt)) return
      dueAt = Math.min(dueAt, Math.max(steadyMs() + gatherMs, restedAt))
    },
    async look() {
      isReading = true
      const now = steadyMs()
      // After a look for a block that was early the next one is planned as if it had been in time: nothing is read more often for blocks.
      plannedAt = (isInWindow(now) ? Math.max(plannedAt, now) : now) + everyMs
      // While blocks come the next one is waited for.
      dueAt = plannedAt + (now - blockAt < 2 * everyMs ? everyMs * lateShare : 0)
      try {
        const reading = withDeadline(closing, readMs, async (signal) =>
          read({ nowMs: nowMs(), steadyMs: steadyMs(), signal, foundAt: (subject) => foundAt.get(subject) }),
        )
        const { found, isUnknown = () => false, unread } = await reading
        await note(found.slice(0, maxAlerts).map(safeFinding), isUnknown)
        noteHealth(unread === undefined ? undefined : wordsOf(unread))
      } catch (error) {
        // Nothing is over because nobody can see it.
        noteHealth(wordsOf(error instanceof Error ? error.message : 'unknown'))
      } finally {
        isReading = false
        restedAt = steadyMs() + restMs
      }
    },
    async learn({ open, over }) {
      const stillSeen = over.flatMap((subject) => seen.get(subject) ?? [])
      if (stillSeen.length > 0) await context.table.raise(name, threshold.severity, stillSeen)
      const subjects = new Set([...open, ...stillSeen].map(({ subject }) => subject))
      // What is being read now is noted by what was known before.
      if (isReading) return
      for (const subject of known.keys()) if (!subjects.has(subject)) forget(subject)
      for (const each of open) {
        storedAt.set(each.subject, each.foundAt)
        foundAt.set(each.subject, Math.max(each.foundAt, foundAt.get(each.subject) ?? -Infinity))
      }
      for (const subject of subjects) if (!known.has(subject)) known.set(subject, undefined)
    },
  }
}

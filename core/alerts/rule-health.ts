// Rules that cannot look now, or not at all that they are about: nothing is raised by what nobody sees.
import type { RuleName } from '../config/alerts-file.ts'

export interface FailingRule {
  readonly rule: RuleName
  /** Milliseconds since the Unix epoch. */
  readonly since: number
  readonly reason: string
}

export interface RuleHealth {
  /** @param reason undefined: it saw everything @returns whether it begins or ends to fail by that */
  note(rule: RuleName, reason: string | undefined): boolean
  failing(): readonly FailingRule[]
}

export function createRuleHealth(
  onChange: (rule: RuleName, isFailing: boolean) => void = () => {},
  nowMs: () => number = Date.now,
): RuleHealth {
  const failing = new Map<RuleName, FailingRule>()
  return {
    note(rule, reason) {
      const before = failing.get(rule)
      if (reason === undefined) failing.delete(rule)
      else failing.set(rule, { rule, since: before?.since ?? nowMs(), reason })
      onChange(rule, reason !== undefined)
      return (before === undefined) !== (reason === undefined)
    },
    failing: () => [...failing.values()],
  }
}

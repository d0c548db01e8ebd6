// The door of the room: what the rest of the server uses of telling people.
import type { AlertTable } from './alert-table.ts'
import type { Outbox } from './outbox.ts'
import type { RuleHealth } from './rule-health.ts'

export { createAlertTable, type AlertTable } from './alert-table.ts'
export { createChannels } from './channels.ts'
export { createHeartbeat } from './heartbeat.ts'
export type { AlertMessage } from './message.ts'
export { createOutbox, type Outbox } from './outbox.ts'
export { createRuleHealth, type RuleHealth } from './rule-health.ts'
export { createPortfolioReading, type WalletNetwork } from './portfolio-reading.ts'
export { rules } from './rules.ts'
export type { AlertSources } from './sources.ts'
export type { Silence } from './tell.ts'
export { createAlertWatch, type AlertWatch } from './watch.ts'

/** What endpoints show and change of it. */
export interface AlertDesk {
  readonly rules: Readonly<Record<string, { readonly title: string; readonly remedy: string }>>
  /** This one, for people. */
  readonly server: string
  readonly table: AlertTable
  readonly outbox: Outbox
  readonly health: RuleHealth
}

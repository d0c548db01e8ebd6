// What people are told of, silencing it, and trying whether they can be reached.
import type { AlertDesk, AlertMessage, Silence } from '../alerts/index.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import { oneLine } from '../base/printable.ts'
import { alertRuleNames, severities } from '../config/alerts-file.ts'
import { didYouMean } from '../config/problems.ts'
import type { Handlers, Services } from './context.ts'

const maxShown = 1_000
const nobodyIsTold = 'This server tells nobody of anything: it has no conf/alerts.yml. An operator writes it, and restarts the server.'

export const alertHandlers = {
  Alerts: async (_request, { services: { alerts: desk } }) => {
    if (!desk) return { enabled: false, alerts: [], total: 0, silences: [], channels: [] }
    const { table, outbox, health, rules } = desk
    const [all, silences, channels] = await Promise.all([table.list(), table.silences(), outbox.states()])
    const failing = health.failing()
    const open = all.filter(({ isResolved }) => !isResolved)
    return {
      enabled: true,
      alerts: mostUrgent(open, maxShown).map(({ rule, severity, subject, words, raisedAt, toldAt }) => ({
        rule,
        title: rules[rule]?.title ?? rule,
        severity,
        subject,
        words,
        remedy: rules[rule]?.remedy ?? '',
        since: raisedAt,
        ...(toldAt !== undefined && { toldAt }),
        ...(silences.some((each) => isOf(each, { rule, subject })) && { silenced: true as const }),
      })),
      total: open.length,
      ...(failing.length > 0 && { failing: failing.map((each) => ({ ...each, title: rules[each.rule]?.title ?? each.rule })) }),
      silences: [...silences],
      channels: channels.map((each) => ({ ...each })),
    }
  },

  AlertsSilencesPost: async ({ rule, subject, minutes, reason }, { services, caller }) => {
    const { table } = requireDesk(services)
    requireScope(rule, subject)
    const silence: Silence = {
      ...(rule !== undefined && { rule }),
      ...(subject !== undefined && { subject }),
      until: Date.now() + minutes * 60_000,
      setBy: caller.id,
      ...(reason !== undefined && { reason: oneLine(reason) }),
    }
    await table.silence(silence)
    return silence
  },

  // A rule that an earlier version had may be lifted, too.
  AlertsSilencesDelete: async (of, { services }) => ({ lifted: [...(await requireDesk(services).table.unsilence(of))] }),

  AlertsTest: async ({ channel }, { services, caller }) => {
    const { outbox, server } = requireDesk(services)
    if (channel !== undefined && !outbox.channels.includes(channel)) {
      const problem = `"${channel}" is no channel of conf/alerts.yml${didYouMean(channel, outbox.channels)}`
      throw badFields([{ field: 'channel', problem }])
    }
    const message: AlertMessage = {
      status: 'test',
      rule: 'test',
      severity: 'info',
      title: `A test by ${oneLine(caller.id)}`,
      remedy: '',
      count: 0,
      items: [],
      at: Date.now(),
      server,
    }
    const channels = channel === undefined ? [...outbox.channels] : [channel]
    await outbox.add(channels, message)
    return { channels }
  },
} satisfies Partial<Handlers>

/** In the order that they have: a storm of what is not urgent hides nothing that is. */
function mostUrgent<T extends { readonly severity: string }>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all
  const rank = ({ severity }: T): number => severities.findIndex((each) => each === severity)
  const kept = new Set(all.toSorted((one, other) => rank(other) - rank(one)).slice(0, most))
  return all.filter((each) => kept.has(each))
}

/** @throws SluiceError UNSUPPORTED */
function requireDesk({ alerts }: Pick<Services, 'alerts'>): AlertDesk {
  if (alerts) return alerts
  throw new SluiceError('UNSUPPORTED', nobodyIsTold)
}

/** @throws SluiceError INCOMPLETE_PARAMS */
function requireScope(rule: string | undefined, subject: string | undefined): void {
  if (rule !== undefined && !alertRuleNames.some((name) => name === rule))
    throw badFields([{ field: 'rule', problem: `"${rule}" is no rule${didYouMean(rule, alertRuleNames)}` }])
  if (rule === undefined && subject !== undefined) throw badFields([{ field: 'rule', problem: 'is missing: a subject is one of a rule' }])
}

const isOf = (silence: Silence, of: { readonly rule: string; readonly subject: string }): boolean =>
  (silence.rule === undefined || silence.rule === of.rule) && (silence.subject === undefined || silence.subject === of.subject)

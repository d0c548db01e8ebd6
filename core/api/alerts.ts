// What people are told of: what there is, what they do not want to be told of for a while, and whether they can be reached.
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { endpoint, request, response } from './endpoint.ts'

const milliseconds = (description: string) => Type.Number({ description: `${description}: milliseconds since the Unix epoch.` })
const text = (description: string, maxLength = 256) =>
  Type.String({ minLength: 1, maxLength, expects: `a text of at most ${maxLength} characters`, description })

const ShownSilence = Type.Object({
  rule: Type.Optional(Type.String({ description: 'Absent: all rules.' })),
  subject: Type.Optional(Type.String({ description: 'Absent: all that the rule finds.' })),
  until: milliseconds('Until when'),
  setBy: Type.String({ description: 'The id of the client that set it.' }),
  reason: Type.Optional(Type.String()),
})

export const AlertsRequest = request({})
export const AlertsResponse = response({
  enabled: Type.Boolean({ description: 'Whether the server looks for anything: it has conf/alerts.yml. Without it all else is empty.' }),
  alerts: Type.Array(
    Type.Object({
      rule: Type.String(),
      title: Type.String({ description: 'The rule in a few words.' }),
      severity: Type.String({ description: 'info, warning or critical.' }),
      subject: Type.String({ description: 'What it is about: a wallet, a transaction, a node.' }),
      words: Type.String(),
      remedy: Type.String({ description: 'What to do.' }),
      since: milliseconds('When it was seen first'),
      toldAt: Type.Optional(milliseconds('When people were told. Absent: they were not yet, or it is silenced')),
      silenced: Type.Optional(Type.Literal(true)),
    }),
    { description: 'Those that last, oldest first: at most 1000, of more the most urgent.' },
  ),
  total: Type.Integer({ description: 'How many there are.' }),
  failing: Type.Optional(
    Type.Array(
      Type.Object({
        rule: Type.String(),
        title: Type.String({ description: 'The rule in a few words.' }),
        since: milliseconds('Since when'),
        reason: Type.String(),
      }),
      { description: 'Rules by which this server cannot look at all that they are about: of that nothing new is told.' },
    ),
  ),
  silences: Type.Array(ShownSilence),
  channels: Type.Array(
    Type.Object({
      name: Type.String(),
      waiting: Type.Integer({ description: 'Messages that are not delivered yet.' }),
      reason: Type.Optional(Type.String({ description: 'Why the last one that was tried was not delivered, or not to everybody.' })),
      deliveredAt: Type.Optional(milliseconds('When the last one was delivered')),
    }),
  ),
})

const scope = {
  rule: Type.Optional(text('One rule, by its name in conf/alerts.yml. Without it all rules.')),
  subject: Type.Optional(text('One subject of the rule, as `GET /alerts` shows it. Without it all of them.')),
}

export const AlertsSilencesPostRequest = request({
  ...scope,
  minutes: Type.Integer({ minimum: 1, maximum: 525_600, expects: 'an integer from 1 to 525600', description: 'For how long.' }),
  reason: Type.Optional(text('Shown to whoever asks.', 200)),
})
export const AlertsSilencesPostResponse = ShownSilence
export const AlertsSilencesDeleteRequest = request(scope)
export const AlertsSilencesDeleteResponse = response({
  lifted: Type.Array(ShownSilence, { description: 'Empty where there was none.' }),
})

export const AlertsTestRequest = request({
  channel: Type.Optional(text('One channel, by its name in conf/alerts.yml. Without it all of them.')),
})
export const AlertsTestResponse = response({
  channels: Type.Array(Type.String(), { description: 'Those that a message waits for now: `GET /alerts` says what became of it.' }),
})

export type AlertsRequest = Static<typeof AlertsRequest>
export type AlertsResponse = Static<typeof AlertsResponse>
export type AlertsSilencesPostRequest = Static<typeof AlertsSilencesPostRequest>
export type AlertsSilencesPostResponse = Static<typeof AlertsSilencesPostResponse>
export type AlertsSilencesDeleteRequest = Static<typeof AlertsSilencesDeleteRequest>
export type AlertsSilencesDeleteResponse = Static<typeof AlertsSilencesDeleteResponse>
export type AlertsTestRequest = Static<typeof AlertsTestRequest>
export type AlertsTestResponse = Static<typeof AlertsTestResponse>

const service = { set: 'Service', on: 'service', permission: 'admin' } as const
/** Where there is no conf/alerts.yml. */
const errors = ['UNSUPPORTED'] as const

export const alertEndpoints = [
  endpoint({
    ...service,
    method: 'GET',
    name: 'Alerts',
    path: '/alerts',
    summary: 'What people are told of by conf/alerts.yml, what is silenced, and whether messages reach their channels.',
    request: AlertsRequest,
    response: AlertsResponse,
  }),
  endpoint({
    ...service,
    errors,
    method: 'POST',
    name: 'AlertsSilencesPost',
    path: '/alerts/silences',
    summary: 'Keeps people from being told of a rule, or of one thing, for a while. What lasts longer is told then.',
    request: AlertsSilencesPostRequest,
    response: AlertsSilencesPostResponse,
  }),
  endpoint({
    ...service,
    errors,
    method: 'DELETE',
    name: 'AlertsSilencesDelete',
    path: '/alerts/silences',
    summary: 'Ends a silence, by the rule and subject that it was set for.',
    request: AlertsSilencesDeleteRequest,
    response: AlertsSilencesDeleteResponse,
  }),
  endpoint({
    ...service,
    errors,
    method: 'POST',
    name: 'AlertsTest',
    path: '/alerts/test',
    summary: 'Sends a message to channels, to see whether it arrives.',
    request: AlertsTestRequest,
    response: AlertsTestResponse,
  }),
]

// The places that messages go to, by conf/alerts.yml.
import { createHmac } from 'node:crypto'
import type { AlertSettings, ChannelSettings } from '../config/alerts-file.ts'
import { secretsOfUrl } from '../config/mask.ts'
import type { ResolveAll } from '../base/public-address.ts'
import { email } from './email.ts'
import type { Channel } from './outbox.ts'
import { bodyOf, telegramBody } from './templates.ts'
import { createWebCalls, requireTaken, type Reach } from './web-call.ts'

interface ChannelContext {
  readonly resolve?: ResolveAll | undefined
  readonly nowMs?: () => number
}

/** Nothing is dialled before there is a message. */
export const createChannels = (settings: Pick<AlertSettings, 'channels'>, context: ChannelContext = {}): Channel[] =>
  Object.entries(settings.channels).map(([name, of]) => {
    const reach: Reach = { allowPrivate: of.allowPrivate ?? false, resolve: context.resolve }
    if (of.kind === 'telegram') return telegram(name, of, reach)
    if (of.kind === 'email') return email(name, of, reach)
    return webhook(name, of, reach, context.nowMs ?? Date.now)
  })

/**
 * The headers by which a receiver knows that a message is from this server, and when it was sent: HMAC-SHA256 over `<timestamp>.<body>`.
 */
function signatureOf(secret: string, timestampSeconds: number, body: string): Readonly<Record<string, string>> {
  const digest = createHmac('sha256', secret).update(`${timestampSeconds}.${body}`).digest('hex')
  return { 'x-sluice-timestamp': String(timestampSeconds), 'x-sluice-signature': `sha256=${digest}` }
}

function webhook(name: string, of: ChannelSettings, reach: Reach, nowMs: () => number): Channel {
  const calls = createWebCalls(reach)
  return {
    name,
    async send(message, id, signal) {
      const body = bodyOf(message, of)
      const signed = of.secret === undefined ? {} : signatureOf(of.secret, Math.floor(nowMs() / 1000), body)
      const headers = { 'content-type': 'application/json', 'x-sluice-message': id, ...signed }
      const { url = '', secret = '' } = of
      requireTaken(await calls.send({ method: 'POST', url, headers, body, signal }), [secret, ...secretsOfUrl(url)])
    },
    close: calls.close,
  }
}

/** https://core.telegram.org/bots/api#sendmessage */
function telegram(name: string, of: ChannelSettings, reach: Reach): Channel {
  const calls = createWebCalls(reach)
  const { apiUrl = 'https://api.telegram.org', token = '', chat = '' } = of
  return {
    name,
    async send(message, _id, signal) {
      const url = `${apiUrl.replace(/\/+$/, '')}/bot${encodeURIComponent(token).replaceAll('%3A', ':')}/sendMessage`
      const headers = { 'content-type': 'application/json' }
      requireTaken(await calls.send({ method: 'POST', url, headers, body: telegramBody(message, chat), signal }), [
        token,
        ...secretsOfUrl(apiUrl),
      ])
    },
    close: calls.close,
  }
}

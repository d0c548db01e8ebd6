// A message as a mail of plain text. nodemailer writes and submits it; the connection is made here, where each address is looked at.
import { connect, isIP, type Socket } from 'node:net'
import { whenAborted } from '../base/async.ts'
import { isPublic, lookupPublic } from '../base/public-address.ts'
import type { ChannelSettings } from '../config/alerts-file.ts'
import { saidWithout } from '../config/mask.ts'
import { headingOf, linesOf, type AlertMessage } from './message.ts'
import type { Channel } from './outbox.ts'
import { notPublic, type Reach } from './web-call.ts'

interface MailServer extends Reach {
  readonly host: string
  readonly port: number
  readonly security: 'tls' | 'starttls' | 'none'
}

const [connectMs, answerMs] = [10_000, 15_000]
const maxReplyBytes = 64 * 1024

export function email(name: string, of: ChannelSettings, reach: Reach): Channel {
  const { host = '', port = 465, security = 'tls', user, password, ca, from = '', to = [] } = of
  const server: MailServer = { ...reach, host, port, security }

  async function send(message: AlertMessage, id: string, signal: AbortSignal): Promise<string | undefined> {
    const { createTransport } = await import('nodemailer')
    const transport = createTransport({
      host,
      port,
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'none',
      // The name is that of the settings, whatever address it led to.
      tls: { minVersion: 'TLSv1.2', ...(isIP(host) === 0 && { servername: host }), ...(ca !== undefined && { ca }) },
      // Without a login that was asked for, nothing is sent.
      ...(user !== undefined && password !== undefined && { auth: { user, pass: password }, forceAuth: true }),
      name: 'sluice',
      connectionTimeout: connectMs,
      greetingTimeout: connectMs,
      socketTimeout: answerMs,
      socketCloseTimeout: 0,
      maxResponseSize: maxReplyBytes,
      disableFileAccess: true,
      disableUrlAccess: true,
      getSocket: (_options, done) => dial(server, signal, done),
    })
    return transport.sendMail({ ...mailOf(message, { id, from, to }), signal }).then(
      ({ rejected }) => (rejected.length === 0 ? undefined : `the mail server refused ${rejected.length} of ${to.length} recipients`),
      (error: unknown) =>
        Promise.reject(new Error(signal.aborted ? 'no answer in time' : wordsOf(error, [password ?? '', `\0${user}\0${password}`]))),
    )
  }

  return { name, send }
}

interface Envelope {
  readonly id: string
  readonly from: string
  readonly to: readonly string[]
}

/** Addresses are given as such and texts encoded, so that no word of a message is a header, an address or the end of the mail. */
function mailOf(message: AlertMessage, { id, from, to }: Envelope) {
  const domain = from.split('@').at(-1) ?? ''
  return {
    from: { name: 'Sluice', address: from },
    to: to.map((address) => ({ name: '', address })),
    subject: headingOf(message),
    date: new Date(message.at),
    messageId: `<sluice-alert-${message.at}-${id}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    xMailer: false as const,
    text: [headingOf(message), '', ...linesOf(message), '', new Date(message.at).toISOString()].join('\n'),
    textEncoding: 'base64' as const,
  }
}

type DialCallback = (error: Error | null, result?: { readonly connection: Socket }) => void

/** Gives a connection that is not encrypted yet, or why there is none. */
function dial({ host, port, security, allowPrivate, resolve }: MailServer, signal: AbortSignal, done: DialCallback): void {
  // A name is looked at when it is resolved. Unencrypted mail does not leave this machine.
  const isChecked = !allowPrivate && security !== 'none'
  if (isChecked && isIP(host) !== 0 && !isPublic(host)) return done(new Error(notPublic(host)))
  const socket = connect({ host, port, ...(isChecked && { lookup: lookupPublic(notPublic, resolve) }) })
  const ignoreAbort = whenAborted(signal, () => socket.destroy(new Error('no answer in time')))
  const onTimeout = () => socket.destroy(new Error('the mail server does not answer'))
  const onEnd = (error: Error | null) => {
    ignoreAbort()
    socket.setTimeout(0).off('timeout', onTimeout).off('error', onEnd)
    if (error) return done(error)
    const { remoteAddress = '' } = socket
    if (security !== 'none' || /^(?:127\.|::1$|::ffff:127\.)/.test(remoteAddress)) return done(null, { connection: socket })
    socket.destroy()
    done(new Error(`${remoteAddress} is not this machine: security: none sends mail to this machine alone`))
  }
  socket
    .setTimeout(connectMs, onTimeout)
    .once('connect', () => onEnd(null))
    .once('error', onEnd)
}

/** @param secrets that the server may repeat: they were sent to it */
function wordsOf(error: unknown, secrets: readonly string[]): string {
  if (!(error instanceof Error)) return 'the mail was not taken'
  const { code, command, response, responseCode } = error as Error & Readonly<Record<string, unknown>>
  if (command === 'STARTTLS' && response !== undefined) return 'the mail server does not offer STARTTLS'
  const said = typeof response === 'string' ? saidWithout(secrets, response.replace(/^\d{3}[ -]/, '')) : ''
  const behind = said === '' ? '' : `: ${said}`
  if (typeof responseCode === 'number') return `the mail server answers ${responseCode}${behind}`
  if (response !== undefined) return 'the mail server answers what is no reply'
  if (code === 'ETIMEDOUT') return 'the mail server does not answer'
  return code === 'EPROTOCOL' ? 'the mail server says too much' : error.message
}

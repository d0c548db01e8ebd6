import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { rootCertificates } from 'node:tls'
import { expect } from 'chai'
import { createChannels, type AlertMessage } from '../../core/alerts/index.ts'
import type { ChannelSettings } from '../../core/config/alerts-file.ts'
import { ensureCertificates } from '../../core/tls/ensure-certificates.ts'
import { startMailServer, type TestMailServer } from './mail-server.ts'

const hostile = 'Evil\r\nBcc: thief@example.org\r\n.\r\nQUIT \u202egnp'
const message: AlertMessage = {
  status: 'raised',
  rule: 'lowGas',
  severity: 'critical',
  title: 'Low on gas 🜁 with a heading\r\nBcc: thief@example.org that is a good deal longer than one encoded word may be',
  remedy: 'Send some.',
  count: 1,
  items: [{ subject: 'wallet', words: hostile }],
  at: 1_800_000_000_000,
  server: 'host',
}

describe('alerts by mail', function () {
  this.timeout(300_000)
  let certsDir: string
  let server: TestMailServer | undefined
  before(async () => {
    certsDir = await mkdtemp(path.join(tmpdir(), 'sluice-mail-'))
    await ensureCertificates({ certsDir })
  })
  after(() => rm(certsDir, { recursive: true, force: true }))
  afterEach(() => server?.close())

  async function start(security: 'tls' | 'starttls' | 'none'): Promise<TestMailServer> {
    server = await startMailServer({ security, certsDir })
    return server
  }
  async function send(of: Partial<ChannelSettings>, within = AbortSignal.timeout(60_000)): Promise<string> {
    const settings: ChannelSettings = {
      kind: 'email',
      host: 'localhost',
      port: server?.port ?? 0,
      allowPrivate: true,
      ca: await readFile(path.join(certsDir, 'ca_cert.pem'), 'utf8'),
      from: 'sluice@example.org',
      to: ['ops@example.org', 'boss@example.org'],
      ...of,
    }
    const [channel] = createChannels({ channels: { mail: settings } })
    return (channel?.send(message, '7', within) ?? Promise.reject(new Error('no channel'))).then(
      (missed) => missed ?? 'taken',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
  }

  for (const security of ['tls', 'starttls'] as const)
    it(`are taken over ${security} with a password, as text in which no word is a command, a header or the end`, async () => {
      const { mails, lines } = await start(security)
      expect(await send({ security, user: 'me', password: 'secret' })).to.equal('taken')
      expect(mails).to.have.length(1)
      const [{ from, to, user, text } = { from: '', to: [], text: '' }] = mails
      expect([from, ...to]).to.deep.equal(['MAIL FROM:<sluice@example.org>', 'RCPT TO:<ops@example.org>', 'RCPT TO:<boss@example.org>'])
      expect(user).to.equal('\0me\0secret')
      expect(lines.filter((line) => line.includes('thief'))).to.deep.equal([])
      const [headers = '', body = ''] = text.split('\n\n')
      expect(headers.split('\n').every((line) => line.length <= 78)).to.equal(true)
      expect(headers)
        .to.match(/^From: Sluice <sluice@example\.org>$/m)
        .and.match(/^To: ops@example\.org,\s+boss@example\.org$/m)
      expect(headers)
        .to.match(/^Subject: =\?UTF-8\?B\?/m)
        .and.match(/^Message-ID: <sluice-alert-1800000000000-7@example\.org>$/m)
      expect(headers)
        .to.match(/^Auto-Submitted: auto-generated$/m)
        .and.match(/^Content-Transfer-Encoding: base64$/m)
      expect(headers).to.not.match(/^X-Mailer/im)
      expect(Buffer.from(body, 'base64').toString()).to.contain('[CRITICAL] Low on gas 🜁').and.contain('Bcc: thief@example.org')
    })

  it('are sent without a password to a server of this machine, by security: none', async () => {
    const { mails } = await start('none')
    expect(await send({ security: 'none' })).to.equal('taken')
    expect(mails).to.have.length(1)
  })

  it('are not sent where the server has no STARTTLS', async () => {
    const { lines } = await start('none')
    expect(await send({ security: 'starttls', user: 'me', password: 'secret' })).to.equal('the mail server does not offer STARTTLS')
    expect(lines).to.deep.equal(['EHLO sluice', 'STARTTLS'])
  })

  it('go by nothing that anybody could say before the connection is encrypted', async () => {
    const { lines, answers } = await start('starttls')
    answers.set('STARTTLS', '220 go on\r\n250-here\r\n250 AUTH CRAM-MD5')
    expect(await send({ security: 'starttls', user: 'me', password: 'secret' })).to.equal('taken')
    expect(lines.slice(0, 4).map((line) => line.slice(0, 11))).to.deep.equal(['EHLO sluice', 'STARTTLS', 'EHLO sluice', 'AUTH PLAIN '])
  })

  for (const security of ['tls', 'starttls'] as const)
    it(`are not sent over ${security} to a server of another name, or with a certificate that nobody vouches for`, async () => {
      const { lines } = await start(security)
      const login = { security, user: 'me', password: 'secret' } as const
      expect(await send({ ...login, host: '::ffff:127.0.0.1' })).to.match(/does not match certificate's altnames/)
      expect(await send({ ...login, ca: rootCertificates[0] })).to.match(/certificate/)
      expect(await send({ ...login, ca: undefined })).to.match(/certificate/)
      expect(lines.filter((line) => !/^(EHLO sluice|STARTTLS)$/.test(line))).to.deep.equal([])
    })

  it('are not sent without the login that was asked for', async () => {
    const { lines, answers, mails } = await start('tls')
    answers.set('EHLO', '250 here')
    const plain = Buffer.from('\0me\0secret').toString('base64')
    answers.set('AUTH', `535 5.7.8 no, secret is wrong: c2VjcmV0 ${plain}`)
    expect(await send({ user: 'me', password: 'secret' })).to.equal('the mail server answers 535: "5.7.8 no, *** is wrong: *** ***"')
    expect([mails, lines.filter((line) => line.startsWith('MAIL'))]).to.deep.equal([[], []])
  })

  it('are not sent to a private address, unless it is allowed', async () => {
    const { lines } = await start('tls')
    for (const host of ['localhost', '127.0.0.1']) expect(await send({ host, allowPrivate: false })).to.match(/is not a public address/)
    expect(lines).to.deep.equal([])
  })

  it('fail where every recipient is refused, the server hangs or says too much; what it says is told without the password', async () => {
    const { answers } = await start('tls')
    answers.set('RCPT', '550 nobody here, you said secret')
    expect(await send({ user: 'me', password: 'secret' })).to.equal('the mail server answers 550: "nobody here, you said ***"')
    answers.set('RCPT', undefined)
    expect(await send({}, AbortSignal.timeout(500))).to.equal('no answer in time')
    for (const line of [`250-${'x'.repeat(70_000)}`, 'x'.repeat(70_000)]) {
      answers.set('RCPT', line)
      expect(await send({})).to.match(/^the mail server (says too much|answers what is no reply)$/)
    }
  })

  it('reach the others where one recipient is refused, which is said and not tried again', async () => {
    const { answers, mails } = await start('tls')
    answers.set('RCPT TO:<boss@example.org>', '550 nobody here')
    expect(await send({})).to.equal('the mail server refused 1 of 2 recipients')
    expect(mails.map(({ to }) => to)).to.deep.equal([['RCPT TO:<ops@example.org>']])
  })
})

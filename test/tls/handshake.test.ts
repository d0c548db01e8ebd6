import { expect } from 'chai'
import { once } from 'node:events'
import net from 'node:net'
import { createAuthority, openAuthority, issueCertificate, type CertificatePair } from '../../core/tls/authority.ts'
import { newClient, revoke } from '../../core/tls/certificates.ts'
import { madeCertificates, pairOf, removeFolders } from './certificates.ts'
import { call, startServer, stopServers, until, type RunningServer } from './tls-server.ts'

const hourMs = 3_600_000

describe('handshake', () => {
  let server: RunningServer
  let certsDir: string

  before(async () => {
    certsDir = await madeCertificates()
    await newClient(certsDir, 'revoked-bot')
    await revoke(certsDir, 'revoked-bot')
    server = await startServer(certsDir)
  })

  after(async () => {
    await stopServers()
    await removeFolders()
  })

  const strangers: {
    who: string
    pair: () => Promise<CertificatePair | undefined>
    code: string
    verification: string | null
    line: string
  }[] = [
    {
      who: 'no certificate',
      pair: () => Promise.resolve(undefined),
      code: 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE',
      verification: null,
      line: 'no client certificate',
    },
    {
      who: 'a certificate of another CA',
      pair: async () => issueCertificate(await createAuthority('Other CA'), { commonName: 'client', usage: 'client' }),
      code: 'ECONNRESET',
      verification: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      line: 'client certificate signed by another CA (CN=client)',
    },
    {
      who: 'a certificate of another CA of the same name',
      pair: async () => issueCertificate(await createAuthority(), { commonName: 'client', usage: 'client' }),
      code: 'ECONNRESET',
      verification: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      line: 'client certificate signed by another CA (CN=client)',
    },
    {
      who: 'an expired certificate',
      pair: async () =>
        issueCertificate(await openAuthority(certsDir), {
          commonName: 'bot-1',
          usage: 'client',
          notBefore: new Date(Date.now() - 2 * hourMs),
          notAfter: new Date(Date.now() - hourMs),
        }),
      code: 'ECONNRESET',
      verification: 'CERT_HAS_EXPIRED',
      line: 'client certificate expired (CN=bot-1)',
    },
    {
      who: 'a certificate that is not yet valid',
      pair: async () =>
        issueCertificate(await openAuthority(certsDir), {
          commonName: 'bot-1',
          usage: 'client',
          notBefore: new Date(Date.now() + hourMs),
        }),
      code: 'ECONNRESET',
      verification: 'CERT_NOT_YET_VALID',
      line: 'client certificate not yet valid (CN=bot-1)',
    },
    {
      who: 'a revoked certificate',
      pair: () => pairOf(certsDir, 'revoked-bot'),
      code: 'ECONNRESET',
      verification: 'CERT_REVOKED',
      line: 'client certificate revoked (CN=revoked-bot)',
    },
    {
      who: "the server's own certificate",
      pair: () => pairOf(certsDir, 'server'),
      code: 'ECONNRESET',
      verification: 'INVALID_PURPOSE',
      line: 'certificate is not for clients (CN=server)',
    },
    {
      who: 'a name with a line break, which the log shows as one line',
      pair: async () => issueCertificate(await createAuthority('Other CA'), { commonName: 'bot\n{"level":60}', usage: 'client' }),
      code: 'ECONNRESET',
      verification: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      line: 'client certificate signed by another CA (CN=bot?{"level":60})',
    },
  ]

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`accepts a client of the CA and knows its name (${version})`, async () => {
      const outcome = await call(server, { pair: await pairOf(certsDir, 'client'), version })

      expect(outcome).to.include({ answer: 'hello client' }).and.not.have.property('error')
    })

    for (const { who, pair, code, verification, line } of strangers) {
      it(`refuses ${who} (${version})`, async () => {
        server.lines.length = server.refusals.length = 0
        const presented = await pair()

        const outcome = await call(server, { ...(presented ? { pair: presented } : {}), version })

        expect(outcome.answer).to.equal('')
        expect(outcome).not.to.have.property('session')
        await until(() => server.lines.length > 0, 'a line in the log')
        expect(server.refusals).to.deep.equal([{ code, verification }])
        expect(server.lines).to.deep.equal([`handshake refused: ${line}`])
      })
    }
  }

  it('tells a client without a certificate that one is required', async () => {
    const outcome = await call(server, { version: 'TLSv1.3' })

    expect(outcome.error).to.equal('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED')
  })

  it('refuses TLS 1.1, even with a valid certificate', async () => {
    server.lines.length = server.refusals.length = 0

    const outcome = await call(server, { pair: await pairOf(certsDir, 'client'), version: 'TLSv1.1' })

    expect(outcome).to.include({ answer: '', error: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' })
    expect(server.refusals).to.deep.equal([{ code: 'ERR_SSL_UNSUPPORTED_PROTOCOL', verification: null }])
    expect(server.lines).to.deep.equal(['handshake refused: TLS version older than 1.2'])
  })

  it('closes a plain HTTP request without an answer, and keeps serving', async () => {
    server.lines.length = 0
    const socket = net.connect(server.port, '127.0.0.1')
    let received = ''
    socket.on('data', (data: Buffer) => (received += data.toString('latin1')))
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')

    await once(socket, 'close')

    expect(received).not.to.include('HTTP/1.1')
    await until(() => server.lines.length > 0, 'a line in the log')
    expect(server.lines).to.deep.equal(['handshake refused: plain HTTP on the HTTPS port'])
    expect((await call(server, { pair: await pairOf(certsDir, 'client') })).answer).to.equal('hello client')
  })

  it('keeps serving after garbage and after a client that disconnects during the handshake', async () => {
    for (const bytes of [Buffer.alloc(2_000, 0xff), Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])]) {
      const socket = net.connect(server.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.end(bytes)
      socket.resume()
      await once(socket, 'close')
    }

    expect((await call(server, { pair: await pairOf(certsDir, 'client') })).answer).to.equal('hello client')
  })
})

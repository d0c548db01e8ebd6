import { expect } from 'chai'
import { once } from 'node:events'
import net from 'node:net'
import { getCiphers } from 'node:tls'
import {
  createAuthority,
  openAuthority,
  issueCertificate,
  keyToPem,
  type Authority,
  type CertificatePair,
} from '../../core/tls/authority.ts'
import { newClient, revoke } from '../../core/tls/certificates.ts'
import { madeCertificates, pairOf, removeFolders } from './certificates.ts'
import { call, startServer, stopServers, until, type RunningServer } from './tls-server.ts'

const hourMs = 3_600_000

/** A CA's own certificate. */
const ownPair = ({ certificate, keys }: Authority): CertificatePair => ({
  certPem: `${certificate.toString('pem')}\n`,
  keyPem: keyToPem(keys.privateKey),
})

/** With the CA's certificate, as clients of other CAs send it. */
async function chainOf(authority: Authority): Promise<CertificatePair> {
  const { certPem, keyPem } = await issueCertificate(authority, { commonName: 'client', usage: 'client' })
  return { certPem: certPem + ownPair(authority).certPem, keyPem }
}

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
      who: 'a certificate that signed itself',
      pair: async () => ownPair(await createAuthority('bot-1')),
      code: 'ECONNRESET',
      verification: 'UNABLE_TO_GET_CRL',
      line: 'client certificate signed by itself (CN=bot-1)',
    },
    {
      who: 'a certificate of another CA that comes with it',
      pair: async () => chainOf(await createAuthority('Other CA')),
      code: 'ECONNRESET',
      verification: 'UNABLE_TO_GET_CRL',
      line: 'client certificate signed by another CA (CN=client)',
    },
    {
      who: 'a certificate of another CA of the same name that comes with it',
      pair: async () => chainOf(await createAuthority()),
      code: 'ECONNRESET',
      verification: 'UNABLE_TO_GET_CRL',
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

  let addresses = 1
  const newAddress = () => `127.0.0.${(addresses += 1)}`

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`accepts a client of the CA and knows its name (${version})`, async () => {
      const outcome = await call(server, { pair: await pairOf(certsDir, 'client'), version })

      expect(outcome).to.include({ answer: 'hello client' }).and.not.have.property('error')
    })

    for (const { who, pair, code, verification, line } of strangers) {
      it(`refuses ${who} (${version})`, async () => {
        server.lines.length = server.refusals.length = 0
        const presented = await pair()

        const outcome = await call(server, { ...(presented ? { pair: presented } : {}), version, localAddress: newAddress() })

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

  it('takes of TLS 1.2 only ciphers with forward secrecy and authenticated encryption', async () => {
    const [pair, localAddress] = [await pairOf(certsDir, 'client'), newAddress()]
    const named = getCiphers().filter((name) => !name.startsWith('tls_'))
    // OpenSSL has more than Node.js lists.
    const ccm = ['AES128-CCM', 'AES256-CCM', 'AES128-CCM8', 'AES256-CCM8'].map((name) => `ECDHE-ECDSA-${name}`)
    const taken: string[] = []
    for (const cipher of [...named.map((name) => name.toUpperCase()), ...ccm])
      if ((await call(server, { pair, version: 'TLSv1.2', cipher, localAddress })).answer !== '') taken.push(cipher)

    expect(named).to.include('ecdhe-ecdsa-aes128-sha')
    expect(taken).to.have.members(['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305'])
  })

  it('counts refusals of one address after a few lines, and still logs those of others', async () => {
    server.lines.length = server.refusals.length = 0
    const [loud, quiet] = [newAddress(), newAddress()]
    for (let count = 0; count < 60; count += 1) await call(server, { localAddress: loud })
    await until(() => server.refusals.length === 60, 'all are refused')
    await call(server, { pair: ownPair(await createAuthority('bot-1')), localAddress: quiet })
    await until(() => server.lines.some((line) => line.includes('bot-1')), 'the line of another address')

    expect(server.lines.filter((line) => line.includes('no client certificate'))).to.have.length(5)
    expect(server.lines.at(-1)).to.equal('handshake refused: client certificate signed by itself (CN=bot-1)')
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

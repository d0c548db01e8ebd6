// @peculiar/x509 declares its ASN.1 types with decorators, so the metadata polyfill must be loaded before it.
// oxlint-disable-next-line import/no-unassigned-import
import 'reflect-metadata'
import * as x509 from '@peculiar/x509'
import { expect } from 'chai'
import { webcrypto, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { getCiphers } from 'node:tls'
import {
  createAuthority,
  openAuthority,
  issueCertificate,
  keyToPem,
  makeRevocationList,
  type Authority,
  type CertificatePair,
} from '../../core/tls/authority.ts'
import { newClient, revoke } from '../../core/tls/certificates.ts'
import { verificationRefusal } from '../../core/tls/handshake-refusals.ts'
import { madeCertificates, pairOf, pem, removeFolders } from './certificates.ts'
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

  /** A CA that may have others below it, which `createAuthority` does not allow: signed by itself, or by one above it. */
  const madeCa = async (commonName: string, above?: Authority, serial = '0a'): Promise<Authority> => {
    const keys = await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
    const day = 86_400_000
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serial,
      subject: `CN=${commonName}`,
      issuer: above?.certificate.subjectName ?? `CN=${commonName}`,
      notBefore: new Date(Date.now() - day),
      notAfter: new Date(Date.now() + 99 * day),
      publicKey: keys.publicKey,
      signingKey: (above?.keys ?? keys).privateKey,
      signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        await x509.AuthorityKeyIdentifierExtension.create((above?.keys ?? keys).publicKey),
      ],
    })
    return { certificate, keys }
  }
  const lineOf = async (to: RunningServer, pair: CertificatePair, version: 'TLSv1.2' | 'TLSv1.3') => {
    to.lines.length = to.refusals.length = 0
    expect((await call(to, { pair, version, localAddress: newAddress() })).answer).to.equal('')
    await until(() => to.lines.length > 0, 'a line in the log')
    return to.lines
  }

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`does not call an issuing CA below its own, or a revoked one, another CA (${version})`, async () => {
      const own = await openAuthority(certsDir)
      const [below, revoked] = [await madeCa('Issuing CA', own), await madeCa('Issuing CA', own, '0b')]
      const folder = await madeCertificates()
      for (const file of ['ca_cert.pem', 'ca_key.pem', 'server_cert.pem', 'server_key.pem'])
        await writeFile(path.join(folder, file), await pem(certsDir, file))
      await writeFile(path.join(folder, 'revoked.pem'), await makeRevocationList(own, new Map([['0b', new Date()]])))
      const its = await startServer(folder)
      expect(await lineOf(its, await chainOf(below), version)).to.deep.equal([
        'handshake refused: client certificate signed by an issuing CA below the CA of this server, and there is no revocation list of that one (make it with "bin/sluice certs new") (CN=client)',
      ])
      expect(await lineOf(its, await chainOf(revoked), version)).to.deep.equal([
        'handshake refused: an issuing CA above the client certificate is revoked (CN=client)',
      ])
    })

    it(`says of its own CA that another signed it, where ca_cert.pem holds such a one (${version})`, async () => {
      const root = await madeCa('Root')
      const ca = await madeCa('Issuing CA', root)
      // A client that does not trust the server leaves before its own certificate is looked at.
      const ofClient = await madeCertificates()
      await writeFile(path.join(ofClient, 'ca_cert.pem'), ownPair(ca).certPem + ownPair(root).certPem)
      for (const above of ['', ownPair(root).certPem]) {
        const folder = await madeCertificates()
        const server = await issueCertificate(ca, { commonName: 'localhost', usage: 'server', hostnames: ['localhost'] })
        for (const [file, content] of Object.entries({
          'ca_cert.pem': ownPair(ca).certPem + above,
          'server_cert.pem': server.certPem,
          'server_key.pem': server.keyPem,
          'revoked.pem': await makeRevocationList(ca, new Map()),
        }))
          await writeFile(path.join(folder, file), content)
        const its = { ...(await startServer(folder)), certsDir: ofClient }
        expect(await lineOf(its, await issueCertificate(ca, { commonName: 'client', usage: 'client' }), version)).to.deep.equal([
          'handshake refused: client certificate signed by the CA of this server, which is signed by another CA (ca_cert.pem must hold a CA that signed itself) (CN=client)',
        ])
      }
    })
  }

  it('says by the dates whether the client certificate is out of date or a CA above it', async () => {
    const ca = await openAuthority(certsDir)
    const { certPem } = await issueCertificate(ca, { commonName: 'client', usage: 'client' })
    const certificates = { ca: new X509Certificate(ownPair(ca).certPem), revocations: new Map<string, Date>() }
    const say = (verification: string) => verificationRefusal(verification, [new X509Certificate(certPem)], certificates)
    expect(say('CERT_HAS_EXPIRED')).to.equal('a CA above the client certificate expired')
    expect(say('CERT_NOT_YET_VALID')).to.equal('a CA above the client certificate is not yet valid')
    expect(say('CERT_REVOKED')).to.equal('an issuing CA above the client certificate is revoked')
    for (const code of ['UNABLE_TO_GET_CRL', 'CRL_NOT_YET_VALID', 'CRL_SIGNATURE_FAILURE', 'INVALID_CA', 'PATH_LENGTH_EXCEEDED'])
      expect(say(code), code).not.to.match(/signed by another CA$|^client certificate refused/)
    expect(say('UNSPECIFIED')).to.equal('client certificate refused: UNSPECIFIED')
  })

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

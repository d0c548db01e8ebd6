import { expect } from 'chai'
import { X509Certificate } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { openAuthority, issueCertificate } from '../../core/tls/authority.ts'
import { ensureCertificates } from '../../core/tls/ensure-certificates.ts'
import { newClient, renew, revoke } from '../../core/tls/certificates.ts'
import { writeAtomically } from '../../core/tls/certificate-files.ts'
import { madeCertificates, pairOf, pem, removeFolders } from './certificates.ts'
import { call, connect, startServer, stopServers, until, type RunningServer } from './tls-server.ts'

const readAgain = 'certificates reloaded'

/** Waits until the server took the change of `change`. */
async function taken(server: RunningServer, change: () => Promise<unknown>): Promise<void> {
  server.lines.length = 0
  await change()
  await until(() => server.lines.includes(readAgain), readAgain)
}

async function servedFingerprint(server: RunningServer): Promise<string> {
  const { socket, ask } = await connect(server, { pair: await pairOf(server.certsDir, 'client') })
  expect((await ask()).answer).to.equal('hello client')
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}

describe('certificates changed while the server runs', () => {
  let server: RunningServer
  let certsDir: string

  beforeEach(async () => {
    certsDir = await madeCertificates()
    await newClient(certsDir, 'bot-1')
    server = await startServer(certsDir)
  })

  afterEach(async () => {
    await stopServers()
    await removeFolders()
  })

  it('accepts a client that was made after the start', async () => {
    await newClient(certsDir, 'bot-2')

    expect((await call(server, { pair: await pairOf(certsDir, 'bot-2') })).answer).to.equal('hello bot-2')
  })

  it("serves the server's new certificate, and keeps open connections", async () => {
    const open = await connect(server, { pair: await pairOf(certsDir, 'bot-1') })
    await open.ask()
    const before = await servedFingerprint(server)

    await taken(server, () => renew(certsDir, 'server'))

    const now = await servedFingerprint(server)
    expect(now)
      .to.equal(new X509Certificate(await pem(certsDir, 'server_cert.pem')).fingerprint256)
      .and.not.equal(before)
    expect((await open.ask()).answer).to.equal('hello bot-1')
  })

  it('accepts a renewed client with the old certificate and the new one, until the old one is revoked', async () => {
    const old = await pairOf(certsDir, 'bot-1')
    await renew(certsDir, 'bot-1')
    const renewed = await pairOf(certsDir, 'bot-1')
    for (const pair of [old, renewed]) expect((await call(server, { pair })).answer).to.equal('hello bot-1')

    await taken(server, () => revoke(certsDir, new X509Certificate(old.certPem).serialNumber))

    expect((await call(server, { pair: old })).answer).to.equal('')
    expect((await call(server, { pair: renewed })).answer).to.equal('hello bot-1')
  })

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`closes the open connection of a revoked client, refuses its new ones, and keeps the others (${version})`, async () => {
      const revoked = await connect(server, { pair: await pairOf(certsDir, 'bot-1'), version })
      const other = await connect(server, { pair: await pairOf(certsDir, 'client'), version })
      expect((await revoked.ask()).answer).to.equal('hello bot-1')
      await other.ask()

      await revoke(certsDir, 'bot-1')

      await revoked.closed
      expect(server.lines).to.include('connection closed: client certificate revoked (CN=bot-1)')
      expect((await call(server, { pair: await pairOf(certsDir, 'bot-1'), version })).answer).to.equal('')
      expect((await other.ask()).answer).to.equal('hello client')
    })

    it(`refuses a revoked client that resumes its TLS session (${version})`, async () => {
      const pair = await pairOf(certsDir, 'bot-1')
      const { session } = await call(server, { pair, version })
      expect(session).to.be.instanceOf(Buffer)
      // The session is good for resuming: what follows is refused for the revocation.
      expect(await call(server, { pair, version, session })).to.include({ answer: 'hello bot-1', resumed: true })

      await taken(server, () => revoke(certsDir, 'bot-1'))

      expect((await call(server, { pair, version, session })).answer).to.equal('')
      expect((await call(server, { version, session })).answer).to.equal('')
    })

    it(`refuses a revoked client even if its session can still be resumed (${version})`, async () => {
      // With the ticket keys kept across the change, the session stays good and no handshake looks at the certificate.
      const ticketKeys = server.server.getTicketKeys()
      const pair = await pairOf(certsDir, 'bot-1')
      const { session } = await call(server, { pair, version })

      await taken(server, () => revoke(certsDir, 'bot-1'))
      server.server.setTicketKeys(ticketKeys)

      expect((await call(server, { pair, version, session })).answer).to.equal('')
      await until(() => server.lines.includes('connection closed: client certificate revoked (CN=bot-1)'), 'the resumed session is closed')
    })
  }

  it('warns of a server certificate that is about to expire, until it is renewed', async () => {
    const notAfter = new Date(Date.now() + 10.5 * 86_400_000)
    const pair = await issueCertificate(await openAuthority(certsDir), {
      commonName: 'server',
      usage: 'server',
      hostnames: ['localhost'],
      notAfter,
    })
    await writeAtomically(certsDir, { 'server_cert.pem': pair.certPem, 'server_key.pem': pair.keyPem })

    const { lines } = await startServer(certsDir)

    expect(lines).to.deep.equal([
      'the server certificate expires in 10 days: run "bin/sluice certs renew server"; the running server loads the new one at once',
    ])
    await renew(certsDir, 'server')
    expect((await startServer(certsDir)).lines).to.deep.equal([])
  })

  it('keeps the earlier certificates when the new files do not belong together', async () => {
    const before = await servedFingerprint(server)
    const key = await pem(certsDir, 'server_key.pem')
    server.lines.length = 0

    await writeFile(path.join(certsDir, 'server_key.pem'), await pem(certsDir, 'client_key.pem'))

    await until(() => server.lines.some((line) => line.includes('server_key.pem is not the key of')), 'a refusal in the log')
    expect(await servedFingerprint(server)).to.equal(before)
    await taken(server, () => writeFile(path.join(certsDir, 'server_key.pem'), key))
  })

  it('keeps the revocations when the list is deleted, damaged or of another CA', async () => {
    await taken(server, () => revoke(certsDir, 'bot-1'))
    const revokedFile = path.join(certsDir, 'revoked.pem')
    const other = await madeCertificates()
    const damages = [
      () => rm(revokedFile),
      () => writeFile(revokedFile, 'nonsense'),
      async () => writeFile(revokedFile, await pem(other, 'revoked.pem')),
    ]

    for (const damage of damages) {
      server.lines.length = 0
      await damage()
      await until(
        () => server.lines.some((line) => line.includes('changed certificates rejected') && line.includes('revoked.pem')),
        'a refusal in the log',
      )
      expect((await call(server, { pair: await pairOf(certsDir, 'bot-1') })).answer).to.equal('')
      expect((await call(server, { pair: await pairOf(certsDir, 'client') })).answer).to.equal('hello client')
    }
  })

  it('closes every connection when the CA is replaced', async () => {
    const old = await pairOf(certsDir, 'client')
    const open = await connect(server, { pair: old })
    await open.ask()

    await rename(certsDir, `${certsDir}-old`)
    await ensureCertificates({ certsDir })

    await open.closed
    expect(server.lines).to.include('connection closed: the CA was replaced (CN=client)')
    expect((await call(server, { pair: old })).answer).to.equal('')
    expect((await call(server, { pair: await pairOf(certsDir, 'client') })).answer).to.equal('hello client')
  })
})

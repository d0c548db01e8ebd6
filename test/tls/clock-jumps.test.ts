import { X509Certificate } from 'node:crypto'
import { expect } from 'chai'
// First: it loads what the library below needs.
import { createAuthority, issueCertificate, makeRevocationList } from '../../core/tls/authority.ts'
import * as x509 from '@peculiar/x509'

const hourMs = 3_600_000

describe("what is signed while this machine's clock is 26 hours ahead", () => {
  const { now } = Date
  afterEach(() => void (Date.now = now))

  it('stays valid when the clock is right again: the CA, certificates of both kinds, and the revocation list', async () => {
    Date.now = () => now() + 26 * hourMs
    const authority = await createAuthority()
    const server = await issueCertificate(authority, { commonName: 'localhost', usage: 'server' })
    const client = await issueCertificate(authority, { commonName: 'bot', usage: 'client' })
    const list = await makeRevocationList(authority, new Map())
    Date.now = now
    const begins = [
      authority.certificate.notBefore.getTime(),
      ...[server, client].map(({ certPem }) => Date.parse(new X509Certificate(certPem).validFrom)),
      new x509.X509Crl(list.replaceAll(' X509 CRL-----', ' CRL-----')).thisUpdate.getTime(),
    ]
    for (const begin of begins) expect(begin).to.be.below(Date.now())
  })
})

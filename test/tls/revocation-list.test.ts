// Before the library, which declares its types with decorators.
// oxlint-disable-next-line import/no-unassigned-import
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import { expect } from 'chai'
import { createAuthority, makeRevocationList, readSignedList, type Authority } from '../../core/tls/authority.ts'
import { CertificateError } from '../../core/tls/certificate-files.ts'
import { normalSerial, readRevocationList } from '../../core/tls/revocation-list.ts'
import { rejection } from './rejection.ts'

const year2051 = new Date('2051-03-04T05:06:07Z')
const some = new Map([
  ['1A', new Date('2024-02-29T12:00:00Z')],
  ['FF00', new Date('2049-12-31T23:59:59Z')],
  ['4000000000000000000000000000000A', year2051],
])

describe('the reader of revocation lists', () => {
  let ca: Authority
  let caPem: string

  before(async () => {
    ca = await createAuthority()
    caPem = ca.certificate.toString('pem')
  })

  it('reads what was written: serial numbers, and times before and after 2050', async () => {
    for (const revocations of [some, new Map<string, Date>()]) {
      const pem = await makeRevocationList(ca, revocations)
      expect([...(await readRevocationList(pem, caPem, 'revoked.pem'))]).to.deep.equal([...revocations])
    }
  })

  it('reads the same as the library', async () => {
    const pem = await makeRevocationList(ca, some)
    const entries = (await readSignedList(pem, caPem, 'revoked.pem')) ?? []
    const known = entries.map(({ serialNumber, revocationDate }) => [normalSerial(serialNumber), revocationDate])
    expect([...(await readRevocationList(pem, caPem, 'revoked.pem'))]).to.deep.equal(known)
  })

  it('reads a list that was signed by another algorithm', async () => {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' }
    const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    const other = await x509.X509CertificateGenerator.createSelfSigned({ name: 'CN=other', keys, signingAlgorithm: algorithm })
    const list = await x509.X509CrlGenerator.create({
      issuer: 'CN=other',
      thisUpdate: new Date(),
      nextUpdate: year2051,
      signingAlgorithm: algorithm,
      signingKey: keys.privateKey,
      entries: [{ serialNumber: '0b', revocationDate: year2051 }],
    })
    const read = await readRevocationList(list.toString('pem'), other.toString('pem'), 'revoked.pem')
    expect([...read]).to.deep.equal([['B', year2051]])
  })

  it('refuses a list that another CA signed, and reads nothing else from one that was changed anywhere', async () => {
    const pem = await makeRevocationList(ca, some)
    const other = (await createAuthority()).certificate.toString('pem')
    expect(await rejection(readRevocationList(pem, other, 'revoked.pem'))).to.be.instanceOf(CertificateError)

    const der = Buffer.from(pem.replaceAll(/-----.*-----|\s/g, ''), 'base64')
    for (let at = 0; at < der.length; at += 1) {
      const changed = Buffer.from(der)
      changed[at] = (changed[at] ?? 0) ^ 0x01
      const changedPem = `-----BEGIN X509 CRL-----\n${changed.toString('base64')}\n-----END X509 CRL-----\n`
      const outcome = await readRevocationList(changedPem, caPem, 'revoked.pem').catch((error: unknown) => error)
      // The library overlooks some lengths around what is signed.
      if (outcome instanceof Map) expect([...outcome], `octet ${at}`).to.deep.equal([...some])
      else expect(outcome, `octet ${at}`).to.be.instanceOf(Error)
    }
  })

  it('refuses a list that was cut', async () => {
    const pem = await makeRevocationList(ca, some)
    for (const cut of [pem.replace(/.{8}\n-----END/, '\n-----END'), pem.slice(0, 120), '']) {
      const refused = await rejection(readRevocationList(cut, caPem, 'revoked.pem'))
      expect(refused)
        .to.be.instanceOf(CertificateError)
        .with.property('message')
        .that.matches(/^revoked\.pem is not a revocation list in PEM/)
    }
  })
})

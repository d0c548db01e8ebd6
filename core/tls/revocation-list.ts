import { clockSkewMs, type Authority } from './authority.ts'
import { CertificateError } from './certificate-error.ts'
import { normalSerial } from './serial-number.ts'
import { algorithm, x509 } from './x509.ts'

/** What `revoked.pem` says: serial number (normal form) to the moment of revocation. */
export type Revocations = ReadonlyMap<string, Date>

/**
 * Makes the revocation list. It stays current until the CA itself ends: OpenSSL refuses every client once a list is past
 * its `nextUpdate`, and this one is a local file that is read again on change, so its age says nothing.
 */
export async function makeRevocationList(authority: Authority, revocations: Revocations): Promise<string> {
  const entries = [...revocations].map(([serialNumber, revocationDate]) => ({ serialNumber: evenHex(serialNumber), revocationDate }))
  const list = await x509.X509CrlGenerator.create({
    issuer: authority.certificate.subjectName,
    thisUpdate: new Date(Date.now() - clockSkewMs),
    nextUpdate: authority.certificate.notAfter,
    signingAlgorithm: algorithm,
    signingKey: authority.keys.privateKey,
    // An empty list of entries must be absent, not empty (RFC 5280 §5.1.2.6).
    ...(entries.length > 0 ? { entries } : {}),
    extensions: [await x509.AuthorityKeyIdentifierExtension.create(authority.keys.publicKey)],
  })
  // RFC 7468 §6 and OpenSSL call the block `X509 CRL`; the library writes `CRL`.
  return `${list.toString('pem').replaceAll(' CRL-----', ' X509 CRL-----')}\n`
}

/** Reads a revocation list and checks that the CA signed it; `file` is for the error only. */
export async function readRevocationList(pem: string, caCertPem: string, file: string): Promise<Revocations> {
  let list: x509.X509Crl
  try {
    list = new x509.X509Crl(pem)
  } catch (cause) {
    throw new CertificateError(`${file} is not a revocation list in PEM: put it back from a backup.`, { cause })
  }
  if (!(await list.verify({ publicKey: new x509.X509Certificate(caCertPem) }))) {
    throw new CertificateError(`${file} was not signed by the CA beside it: put back the files that belong together.`)
  }
  return new Map(list.entries.map((entry) => [normalSerial(entry.serialNumber), entry.revocationDate]))
}

function evenHex(serial: string): string {
  return serial.length % 2 === 0 ? serial : `0${serial}`
}

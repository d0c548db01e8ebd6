import { isIP } from 'node:net'
import { clockSkewMs, keyToPem, newKeys, type Authority } from './authority.ts'
import { newSerial } from './serial-number.ts'
import { algorithm, nameOf, x509 } from './x509.ts'

const yearMs = 365 * 86_400_000

export interface CertificateRequest {
  commonName: string
  usage: 'server' | 'client'
  /** Names and IP addresses that a server certificate is for. */
  hostnames?: readonly string[]
  notBefore?: Date
  /** A year from now when absent; never later than the CA's own end. */
  notAfter?: Date
}

/** A certificate and its unencrypted key, both PEM. */
export interface IssuedPair {
  certPem: string
  keyPem: string
}

/** Makes a new key and a certificate for it, signed by the CA. */
export async function issueCertificate(authority: Authority, request: CertificateRequest): Promise<IssuedPair> {
  const keys = await newKeys()
  const now = Date.now()
  const usages = { server: x509.ExtendedKeyUsage.serverAuth, client: x509.ExtendedKeyUsage.clientAuth }
  const notAfter = request.notAfter ?? new Date(now + yearMs)
  const names = (request.hostnames ?? []).map((name) => ({ type: isIP(name) ? ('ip' as const) : ('dns' as const), value: name }))
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: nameOf(request.commonName),
    issuer: authority.certificate.subjectName,
    notBefore: request.notBefore ?? new Date(now - clockSkewMs),
    notAfter: notAfter < authority.certificate.notAfter ? notAfter : authority.certificate.notAfter,
    publicKey: keys.publicKey,
    signingKey: authority.keys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([usages[request.usage]], true),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(authority.keys.publicKey),
    ],
  })
  return { certPem: `${certificate.toString('pem')}\n`, keyPem: keyToPem(keys.privateKey) }
}

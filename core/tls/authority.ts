// The certificate authority: what it is and what it signs, which is certificates and the revocation list. Loaded where something is signed.
// @peculiar/x509 declares its ASN.1 types with decorators, so the metadata polyfill must be loaded before it.
// oxlint-disable-next-line import/no-unassigned-import
import 'reflect-metadata'
import { createPrivateKey, createPublicKey, KeyObject, webcrypto, X509Certificate, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import * as x509 from '@peculiar/x509'
import { command } from '../base/layout.ts'
import { CertificateError, certificateFiles, readCertificateFile } from './certificate-files.ts'

x509.cryptoProvider.set(webcrypto)

/** Every key here is EC P-256, every signature ECDSA with SHA-256. */
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const dayMs = 86_400_000
const yearMs = 365 * dayMs
const caYears = 10
/**
 * Certificates and lists begin in the past, so that a machine whose clock is behind accepts them too, and so that what was made while this
 * machine's clock was days ahead is not refused once the clock is right.
 */
const clockSkewMs = 7 * dayMs

/** The CA with its private key open. */
export interface Authority {
  certificate: x509.X509Certificate
  keys: webcrypto.CryptoKeyPair
}

/** Makes a new CA. */
export async function createAuthority(commonName = 'Sluice CA'): Promise<Authority> {
  const keys = await newKeys()
  const now = Date.now()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: nameOf(commonName),
    notBefore: new Date(now - clockSkewMs),
    notAfter: new Date(now + caYears * yearMs),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate, keys }
}

/** Opens the CA of a certs directory. The passphrase is needed only when its key is encrypted. @throws CertificateError */
export async function openAuthority(certsDir: string, passphrase?: string): Promise<Authority> {
  const files = certificateFiles(certsDir)
  const certPem = await readCertificateFile(files.caCert)
  const keyPem = await readCertificateFile(files.caKey)
  const privateKey = decrypt(keyPem, files.caKey, passphrase)
  if (!new X509Certificate(certPem).checkPrivateKey(privateKey)) {
    throw new CertificateError(`${files.caKey} is not the key of ${files.caCert}: put back the two files that belong together.`)
  }
  const publicKey = createPublicKey(privateKey)
  if (publicKey.asymmetricKeyType !== 'ec' || publicKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new CertificateError(
      `${files.caKey} is not an EC P-256 key, and Sluice signs with no other keys: use the CA that "${command} certs init" makes.`,
    )
  }
  const { subtle } = webcrypto
  const keys = {
    privateKey: await subtle.importKey('pkcs8', privateKey.export({ type: 'pkcs8', format: 'der' }), algorithm, false, ['sign']),
    publicKey: await subtle.importKey('spki', publicKey.export({ type: 'spki', format: 'der' }), algorithm, true, ['verify']),
  }
  return { certificate: new x509.X509Certificate(certPem), keys }
}

/** Whether the CA's key needs a passphrase. */
export async function caKeyIsEncrypted(certsDir: string): Promise<boolean> {
  return isEncrypted(await readCertificateFile(certificateFiles(certsDir).caKey))
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

/** A private key as PKCS#8 PEM, encrypted when a passphrase is given. */
export function keyToPem(key: webcrypto.CryptoKey, passphrase?: string): string {
  const encryption = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase }
  return KeyObject.from(key)
    .export({ type: 'pkcs8', format: 'pem', ...encryption })
    .toString()
}

const isEncrypted = (keyPem: string): boolean => keyPem.includes('ENCRYPTED')

function decrypt(keyPem: string, file: string, passphrase: string | undefined): KeyObject {
  if (isEncrypted(keyPem) && passphrase === undefined) {
    throw new CertificateError(`${file} is encrypted: give its passphrase.`)
  }
  try {
    return createPrivateKey({ key: keyPem, passphrase })
  } catch (cause) {
    const problem = isEncrypted(keyPem) ? 'the passphrase does not open it' : 'it is not a private key in PEM'
    throw new CertificateError(`${file} cannot be read: ${problem}.`, { cause })
  }
}

interface CertificateRequest {
  commonName: string
  usage: 'server' | 'client'
  /** Names and IP addresses that a server certificate is for. */
  hostnames?: readonly string[]
  notBefore?: Date
  /** A year from now when absent; never later than the CA's own end. */
  notAfter?: Date
}

/** A certificate and its unencrypted key, both PEM. */
export interface CertificatePair {
  certPem: string
  keyPem: string
}

/** Makes a new key and a certificate for it, signed by the CA. */
export async function issueCertificate(authority: Authority, request: CertificateRequest): Promise<CertificatePair> {
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

/**
 * Makes the revocation list. It stays valid until the CA itself expires: OpenSSL refuses every client once a list is past its
 * `nextUpdate`, and this list is a local file that is read again on change, so its age does not matter.
 */
export async function makeRevocationList(authority: Authority, revocations: ReadonlyMap<string, Date>): Promise<string> {
  // The library takes whole octets.
  const entries = [...revocations].map(([serial, revocationDate]) => ({
    serialNumber: serial.length % 2 === 0 ? serial : `0${serial}`,
    revocationDate,
  }))
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

/** The entries of a revocation list, of whatever program; undefined where the CA did not sign it. @throws CertificateError */
export async function readSignedList(pem: string, caCertPem: string, file: string): Promise<readonly x509.X509CrlEntry[] | undefined> {
  let list: x509.X509Crl
  try {
    list = new x509.X509Crl(pem)
  } catch (cause) {
    throw new CertificateError(`${file} is not a revocation list in PEM: put it back from a backup.`, { cause })
  }
  return (await list.verify({ publicKey: new x509.X509Certificate(caCertPem) })) ? list.entries : undefined
}

/** 126 random bits in 16 octets: positive, and always 32 digits. RFC 5280 §4.1.2.2 allows at most 20 octets. */
function newSerial(): string {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0]! & 0x7f) | 0x40
  return bytes.toString('hex')
}

/** A distinguished name that is only a common name. In a plain string the library would interpret quotes and `#`. */
function nameOf(commonName: string): x509.Name {
  return new x509.Name([{ CN: [{ utf8String: commonName }] }])
}

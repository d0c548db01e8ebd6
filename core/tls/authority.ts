import { createPrivateKey, createPublicKey, KeyObject, webcrypto, X509Certificate } from 'node:crypto'
import { CertificateError } from './certificate-error.ts'
import { certificateFiles } from './certificate-files.ts'
import { readCertificateFile } from './read-certificate-file.ts'
import { newSerial } from './serial-number.ts'
import { algorithm, nameOf, x509 } from './x509.ts'

const dayMs = 86_400_000
const caYears = 10
/** Certificates begin a little in the past, so that a machine whose clock is behind takes them too. */
export const clockSkewMs = 3_600_000

/** The CA with its private key open: what signs certificates and the revocation list. */
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
    notAfter: new Date(now + caYears * 365 * dayMs),
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

/** Opens the CA of a certs directory; the passphrase is needed only when its key is encrypted. */
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
    throw new CertificateError(`${files.caKey} is not an EC P-256 key, and Sluice signs with such keys only: use the CA that set-up makes.`)
  }
  const { subtle } = webcrypto
  const keys = {
    privateKey: await subtle.importKey('pkcs8', privateKey.export({ type: 'pkcs8', format: 'der' }), algorithm, false, ['sign']),
    publicKey: await subtle.importKey('spki', publicKey.export({ type: 'spki', format: 'der' }), algorithm, true, ['verify']),
  }
  return { certificate: new x509.X509Certificate(certPem), keys }
}

/** Whether the CA's key asks for a passphrase. */
export async function caKeyIsEncrypted(certsDir: string): Promise<boolean> {
  return isEncrypted(await readCertificateFile(certificateFiles(certsDir).caKey))
}

export function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

/** A private key as PKCS#8 PEM, encrypted when a passphrase is given. */
export function keyToPem(key: webcrypto.CryptoKey, passphrase?: string): string {
  const encryption = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase }
  return KeyObject.from(key)
    .export({ type: 'pkcs8', format: 'pem', ...encryption })
    .toString()
}

function isEncrypted(keyPem: string): boolean {
  return keyPem.includes('ENCRYPTED')
}

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

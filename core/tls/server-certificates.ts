import { createPrivateKey, X509Certificate } from 'node:crypto'
import { CertificateError } from './certificate-error.ts'
import { certificateFiles } from './certificate-files.ts'
import { readCertificateFile } from './read-certificate-file.ts'
import { readRevocationList, type Revocations } from './revocation-list.ts'

/** What a server serves with: read from a certs directory and found to fit together. */
export interface ServerCertificates {
  pems: ServerPems
  revocations: Revocations
  caFingerprint256: string
  /** The server certificate's end; never later than the CA's. */
  serverValidTo: Date
  caValidTo: Date
}

/** The files that a server serves with, as text. */
export interface ServerPems {
  ca: string
  cert: string
  key: string
  crl: string
}

/** Reads what the server needs and checks that it fits together; throws a CertificateError that says which file is wrong. */
export async function readServerCertificates(certsDir: string): Promise<ServerCertificates> {
  return checkServerCertificates(certsDir, await readServerPems(certsDir))
}

export async function readServerPems(certsDir: string): Promise<ServerPems> {
  const files = certificateFiles(certsDir)
  const [ca, cert, key, crl] = await Promise.all([
    readCertificateFile(files.caCert),
    readCertificateFile(files.serverCert),
    readCertificateFile(files.serverKey),
    readCertificateFile(files.revoked),
  ])
  return { ca, cert, key, crl }
}

export async function checkServerCertificates(certsDir: string, pems: ServerPems): Promise<ServerCertificates> {
  const files = certificateFiles(certsDir)
  const ca = parse(files.caCert, () => new X509Certificate(pems.ca))
  const server = parse(files.serverCert, () => new X509Certificate(pems.cert))
  const key = parse(files.serverKey, () => createPrivateKey(pems.key))
  if (!server.checkPrivateKey(key)) {
    throw new CertificateError(
      `${files.serverKey} is not the key of ${files.serverCert}: put back the two that belong together, or run "sluice certs renew server".`,
    )
  }
  if (!server.verify(ca.publicKey)) {
    throw new CertificateError(
      `${files.serverCert} was not signed by ${files.caCert}: put back the files that belong together, or run "sluice certs renew server".`,
    )
  }
  const revocations = await readRevocationList(pems.crl, pems.ca, files.revoked)
  return {
    pems,
    revocations,
    caFingerprint256: ca.fingerprint256,
    serverValidTo: new Date(server.validTo),
    caValidTo: new Date(ca.validTo),
  }
}

function parse<T>(file: string, parser: () => T): T {
  try {
    return parser()
  } catch (cause) {
    throw new CertificateError(`${file} is not what its name says, in PEM: put it back from a backup.`, { cause })
  }
}

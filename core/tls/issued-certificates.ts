import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { certificateFiles } from './certificate-files.ts'
import { hasCode } from './has-code.ts'
import { readCertificateFile } from './read-certificate-file.ts'
import { namesIn } from './write-together.ts'

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Every client certificate that the CA is known to have made: those in `issued.pem` and those lying in the folder. */
export async function issuedCertificates(certsDir: string): Promise<X509Certificate[]> {
  const files = certificateFiles(certsDir)
  const ca = new X509Certificate(await readCertificateFile(files.caCert))
  const found = new Map<string, X509Certificate>()
  const notClients = new Set([files.caCert, files.serverCert].map((file) => path.basename(file)))
  const names = (await namesIn(certsDir)).filter((name) => name.endsWith('_cert.pem') && !notClients.has(name))
  for (const name of ['issued.pem', ...names]) {
    for (const certificate of await certificatesIn(path.join(certsDir, name))) {
      if (certificate.verify(ca.publicKey)) found.set(certificate.fingerprint256, certificate)
    }
  }
  return [...found.values()]
}

/** The content of `issued.pem` with one more certificate. */
export async function issuedWith(certsDir: string, certPem: string): Promise<string> {
  const known = await issuedCertificates(certsDir)
  return [...known.map((certificate) => certificate.toString()), certPem].join('')
}

/** The common name of a certificate, which is the client's name. */
export function commonNameOf(certificate: X509Certificate): string {
  return /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? ''
}

async function certificatesIn(file: string): Promise<X509Certificate[]> {
  try {
    const pem = await readFile(file, 'utf8')
    return [...pem.matchAll(pemBlock)].map(([block]) => new X509Certificate(block))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

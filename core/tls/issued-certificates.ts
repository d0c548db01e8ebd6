// Reads which client certificates there are. A server does so at every start, so nothing here loads what signs them.
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { CertificateError, certificateFiles, hasErrorCode, namesInFolder, readCertificateFile } from './certificate-files.ts'
import { normalSerial, readRevocationList } from './revocation-list.ts'

/** A client certificate as `sluice certs list` shows it. A client that was renewed has several. */
export interface ClientCertificate {
  serialNumber: string
  state: 'valid' | 'expired' | 'not yet valid' | 'revoked'
  revokedAt?: Date
  /** Absent when only the serial number is left, in the revocation list. */
  certificate?: { name: string; fingerprint256: string; validFrom: Date; validTo: Date }
}

/** Every client certificate known in the folder, by name and from new to old. Certificates known only by serial number come last. */
export async function listClients(certsDir: string, now = new Date()): Promise<ClientCertificate[]> {
  const files = certificateFiles(certsDir)
  const [revokedPem, caPem] = await Promise.all([readCertificateFile(files.revoked), readCertificateFile(files.caCert)])
  const revocations = await readRevocationList(revokedPem, caPem, files.revoked)
  const known = (await issuedCertificates(certsDir)).map((certificate) =>
    describe(certificate, revocations.get(normalSerial(certificate.serialNumber)), now),
  )
  const serials = new Set(known.map((client) => client.serialNumber))
  const bySerialOnly = [...revocations]
    .filter(([serialNumber]) => !serials.has(serialNumber))
    .map(([serialNumber, revokedAt]): ClientCertificate => ({ serialNumber, state: 'revoked', revokedAt }))
  return [...known.toSorted(byNameThenNewest), ...bySerialOnly]
}

/** When a certificate ends. `fingerprint256` is absent of those of the server. */
export interface CertificateEnd {
  readonly name: string
  readonly expiresAt: number
  readonly fingerprint256?: string
}

/** Those of the server and its CA, and of clients the newest of each name that is not revoked; undefined where they cannot be read. */
async function certificateEnds(certsDir: string): Promise<readonly CertificateEnd[] | undefined> {
  const { serverCert, caCert } = certificateFiles(certsDir)
  const own = async (name: string, file: string): Promise<CertificateEnd> => {
    const { validTo } = new X509Certificate(await readCertificateFile(file))
    return { name, expiresAt: new Date(validTo).getTime() }
  }
  try {
    const ends = await Promise.all([own('server', serverCert), own('ca', caCert)])
    // From new to old.
    const newest = new Map<string, CertificateEnd>()
    for (const { state, certificate } of await listClients(certsDir)) {
      if (state === 'revoked' || !certificate || newest.has(certificate.name)) continue
      const { name, validTo, fingerprint256 } = certificate
      newest.set(name, { name, expiresAt: validTo.getTime(), fingerprint256 })
    }
    return [...ends, ...newest.values()]
  } catch (error) {
    if (error instanceof CertificateError) return undefined
    throw error
  }
}

/** Each signature in the folder is checked when it is read, and whoever has a certificate may ask. */
const keptMs = 60_000

export function createCertificateEnds(certsDir: string, nowMs = () => performance.now()): () => ReturnType<typeof certificateEnds> {
  let [reading, readAt]: [ReturnType<typeof certificateEnds> | undefined, number] = [undefined, 0]
  return () => {
    if (!reading || nowMs() - readAt > keptMs) [reading, readAt] = [certificateEnds(certsDir), nowMs()]
    return reading
  }
}

/** The names of those that are not revoked; none where they cannot be read: who reads them says so. */
export async function certificateNames(certsDir: string): Promise<readonly string[]> {
  try {
    return (await listClients(certsDir)).flatMap(({ state, certificate }) =>
      state === 'revoked' || !certificate ? [] : [certificate.name],
    )
  } catch (error) {
    if (error instanceof CertificateError) return []
    throw error
  }
}

function describe(certificate: X509Certificate, revokedAt: Date | undefined, now: Date): ClientCertificate {
  const validFrom = new Date(certificate.validFrom)
  const validTo = new Date(certificate.validTo)
  return {
    serialNumber: normalSerial(certificate.serialNumber),
    state: revokedAt !== undefined ? 'revoked' : now > validTo ? 'expired' : now < validFrom ? 'not yet valid' : 'valid',
    ...(revokedAt === undefined ? {} : { revokedAt }),
    certificate: { name: commonNameOf(certificate), fingerprint256: certificate.fingerprint256, validFrom, validTo },
  }
}

function byNameThenNewest(a: ClientCertificate, b: ClientCertificate): number {
  const byName = (a.certificate?.name ?? '').localeCompare(b.certificate?.name ?? '')
  return byName !== 0 ? byName : (b.certificate?.validTo.getTime() ?? 0) - (a.certificate?.validTo.getTime() ?? 0)
}

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Every client certificate of the CA that is known: those in `issued.pem` and those in files of their own. */
export async function issuedCertificates(certsDir: string): Promise<X509Certificate[]> {
  const files = certificateFiles(certsDir)
  const ca = new X509Certificate(await readCertificateFile(files.caCert))
  const found = new Map<string, X509Certificate>()
  const notClients = new Set([files.caCert, files.serverCert].map((file) => path.basename(file)))
  const names = (await namesInFolder(certsDir)).filter((name) => name.endsWith('_cert.pem') && !notClients.has(name))
  // Most stand in two files: to read one and to check its signature takes longer than all else.
  const read = new Set<string>()
  for (const name of ['issued.pem', ...names]) {
    for (const block of await certificatesIn(path.join(certsDir, name))) {
      if (read.has(block)) continue
      read.add(block)
      const certificate = new X509Certificate(block)
      if (certificate.verify(ca.publicKey)) found.set(certificate.fingerprint256, certificate)
    }
  }
  return [...found.values()]
}

/** The common name of a certificate, which is the client's name. */
const commonNameOf = (certificate: X509Certificate): string => /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? ''

/** In PEM. */
async function certificatesIn(file: string): Promise<string[]> {
  try {
    const pem = await readFile(file, 'utf8')
    return [...pem.matchAll(pemBlock)].map(([block]) => block)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return []
    throw error
  }
}

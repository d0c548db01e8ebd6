import type { X509Certificate } from 'node:crypto'
import { certificateFiles } from './certificate-files.ts'
import { commonNameOf, issuedCertificates } from './issued-certificates.ts'
import { readCertificateFile } from './read-certificate-file.ts'
import { readRevocationList } from './revocation-list.ts'
import { normalSerial } from './serial-number.ts'

/** A client certificate as `sluice certs list` shows it. A client that was renewed has several. */
export interface ClientCertificate {
  serialNumber: string
  state: 'valid' | 'expired' | 'not yet valid' | 'revoked'
  revokedAt?: Date
  /** Absent when only the serial number is left, in the revocation list. */
  certificate?: { name: string; fingerprint256: string; validFrom: Date; validTo: Date }
}

/** Every client certificate known in the folder, by name, the newest of a name first; those known by serial alone last. */
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

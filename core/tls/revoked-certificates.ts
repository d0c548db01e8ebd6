// Which certificates are revoked by now, for what a client asked for before and is to be done later. Connections are guarded by the TLS server.
import { SluiceError } from '../base/errors.ts'
import { certificateFiles, readCertificateFile } from './certificate-files.ts'
import { readRevocationList, type Revocations } from './revocation-list.ts'

/**
 * Reads the files at each call, so that a revocation counts from the moment it is written. While they are no valid list, the one read before counts.
 * @returns by a serial number @throws SluiceError OVERLOADED where no valid list was ever read
 */
export function createRevokedCertificates(certsDir: string): (serialNumber: string) => Promise<boolean> {
  const files = certificateFiles(certsDir)
  let known: { readonly crl: string; readonly ca: string; readonly revocations: Revocations } | undefined

  async function read(): Promise<Revocations> {
    try {
      const [crl, ca] = await Promise.all([readCertificateFile(files.revoked), readCertificateFile(files.caCert)])
      if (known?.crl !== crl || known.ca !== ca) known = { crl, ca, revocations: await readRevocationList(crl, ca, files.revoked) }
      return known.revocations
    } catch (cause) {
      if (known) return known.revocations
      throw new SluiceError(
        'OVERLOADED',
        'The list of revoked certificates cannot be read: nothing was done. The log of the server says why.',
        {
          retryAfterSeconds: 2,
          cause,
        },
      )
    }
  }

  return async (serialNumber) => (await read()).has(serialNumber)
}

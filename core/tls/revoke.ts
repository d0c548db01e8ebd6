import { certificateFiles } from './certificate-files.ts'
import { CertificateError } from './certificate-error.ts'
import { listClients, type ClientCertificate } from './list-clients.ts'
import { namesOfClients, unknownClient, withAuthority, type CaAccess } from './certificates.ts'
import { readCertificateFile } from './read-certificate-file.ts'
import { makeRevocationList, readRevocationList } from './revocation-list.ts'
import { normalSerial } from './serial-number.ts'
import { writeTogether } from './write-together.ts'

/**
 * Revokes all certificates of a client by its name, or one by serial number or SHA-256 fingerprint. A running server
 * takes notice by itself. `revoked` is empty when all of them were revoked before.
 */
export async function revoke(
  certsDir: string,
  which: string,
  access: CaAccess = {},
): Promise<{ revoked: ClientCertificate[]; before: ClientCertificate[] }> {
  if (['server', 'ca'].includes(which.toLowerCase())) {
    throw new CertificateError(
      `The ${which} certificate cannot be revoked, since clients do not read the list: for a new server key run "sluice certs renew server".`,
    )
  }
  return withAuthority(certsDir, access, async (authority) => {
    const clients = await listClients(certsDir)
    const meant = chosen(clients, which)
    if (meant.length === 0) throw unknownClient(which, await namesOfClients(certsDir))
    const before = meant.filter((client) => client.state === 'revoked')
    const revoking = meant.filter((client) => client.state !== 'revoked')
    if (revoking.length === 0) return { revoked: [], before }

    const files = certificateFiles(certsDir)
    const revocations = new Map(
      await readRevocationList(await readCertificateFile(files.revoked), await readCertificateFile(files.caCert), files.revoked),
    )
    const now = new Date()
    for (const { serialNumber } of revoking) revocations.set(serialNumber, now)
    await writeTogether(certsDir, { 'revoked.pem': await makeRevocationList(authority, revocations) })
    return { revoked: revoking.map((client) => ({ ...client, state: 'revoked', revokedAt: now })), before }
  })
}

function chosen(clients: readonly ClientCertificate[], which: string): ClientCertificate[] {
  const named = clients.filter((client) => client.certificate?.name === which)
  if (named.length > 0) return named
  const hex = normalSerial(which)
  return clients.filter(
    (client) => client.serialNumber === hex || (client.certificate && normalSerial(client.certificate.fingerprint256) === hex),
  )
}

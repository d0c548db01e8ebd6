import { chmod, mkdir } from 'node:fs/promises'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import path from 'node:path'
import { command } from '../base/layout.ts'
import {
  CertificateError,
  certificateFiles,
  withFolderLock,
  hasErrorCode,
  finishStagedWrite,
  hasStagedWrite,
  namesInFolder,
  writeAtomically,
} from './certificate-files.ts'

export interface CertificateSetup {
  certsDir: string
  /** Names and addresses of the server beside those of this machine. */
  hostnames?: readonly string[]
  /** Encrypts the CA's key when given. */
  caPassphrase?: string
}

/**
 * Makes CA, server certificate, client certificate and an empty revocation list where there are none. Never overwrites a file.
 * @throws CertificateError where the folder has some of the files, but not all that a server needs
 */
export async function ensureCertificates({ certsDir, ...setup }: CertificateSetup): Promise<{ made: boolean }> {
  // The usual start writes nothing, so that a server can also run with certificates that are mounted read-only.
  if (!(await hasStagedWrite(certsDir)) && (await isComplete(certsDir))) return { made: false }
  const hostnames = serverNames(setup.hostnames)
  await makeFolder(certsDir)
  return withFolderLock(certsDir, async () => {
    await finishStagedWrite(certsDir)
    if (await isComplete(certsDir)) return { made: false }
    await writeAtomically(certsDir, await makeSet(hostnames, setup.caPassphrase))
    return { made: true }
  })
}

/** Whether a server finds all its files; false where the folder has none. @throws CertificateError for anything between */
async function isComplete(certsDir: string): Promise<boolean> {
  const files = certificateFiles(certsDir)
  const names = new Set(await namesInFolder(certsDir))
  // The CA's key and the clients' files may be elsewhere: the server does not use them.
  const missing = [files.caCert, files.serverCert, files.serverKey, files.revoked]
    .map((file) => path.basename(file))
    .filter((file) => !names.has(file))
  if (missing.length === 0) return true
  const present = Object.values(files)
    .map((file) => path.basename(file))
    .filter((file) => names.has(file))
  if (present.length === 0) return false
  throw new CertificateError(
    `${certsDir} holds ${present.join(', ')} but not ${missing.join(', ')}: put the missing files back from a backup` +
      (missing.every((file) => file.startsWith('server_')) ? `, or run "${command} certs renew server"` : '') +
      '. To begin anew (every client then needs a new certificate), move the folder away.',
  )
}

async function makeSet(hostnames: readonly string[], caPassphrase: string | undefined): Promise<Record<string, string>> {
  // Most starts make nothing, and what signs is large.
  const { createAuthority, keyToPem, issueCertificate, makeRevocationList } = await import('./authority.ts')
  const authority = await createAuthority()
  const [server, client, revoked] = await Promise.all([
    issueCertificate(authority, { commonName: 'server', usage: 'server', hostnames }),
    issueCertificate(authority, { commonName: 'client', usage: 'client' }),
    makeRevocationList(authority, new Map()),
  ])
  return {
    'ca_cert.pem': `${authority.certificate.toString('pem')}\n`,
    'ca_key.pem': keyToPem(authority.keys.privateKey, caPassphrase),
    'server_cert.pem': server.certPem,
    'server_key.pem': server.keyPem,
    'client_cert.pem': client.certPem,
    'client_key.pem': client.keyPem,
    'revoked.pem': revoked,
    'issued.pem': client.certPem,
  }
}

async function makeFolder(certsDir: string): Promise<void> {
  await mkdir(certsDir, { recursive: true, mode: 0o700 })
  try {
    await chmod(certsDir, 0o700)
  } catch (error) {
    // A mounted volume may belong to another user. The key files are 0600 in any case.
    if (!hasErrorCode(error, 'EPERM')) throw error
  }
}

const dnsName = /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?$/

/** The names in a server certificate: the usual ones of this machine, and the requested ones. @throws CertificateError */
export function serverNames(hostnames: readonly string[] = []): string[] {
  const requested = hostnames.map((name) => name.trim().toLowerCase())
  const wrong = requested.find((name) => !isServerName(name))
  if (wrong !== undefined) {
    throw new CertificateError(
      `"${wrong}" is neither a host name nor an IP address: give names such as sluice.example.org or 10.0.0.7, without a port.`,
    )
  }
  // The machine's own name is left out where a certificate cannot hold it.
  const machine = [hostname().toLowerCase()].filter(isServerName)
  return [...new Set(['localhost', '127.0.0.1', '::1', ...machine, ...requested])]
}

function isServerName(name: string): boolean {
  return isIP(name) !== 0 || (name.length <= 253 && dnsName.test(name))
}

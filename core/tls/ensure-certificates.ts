import { chmod, mkdir } from 'node:fs/promises'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import path from 'node:path'
import { createAuthority, keyToPem, issueCertificate, makeRevocationList } from './authority.ts'
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
  /** Names and addresses of the server besides those of this machine. */
  hostnames?: readonly string[]
  /** Encrypts the CA's key when given. */
  caPassphrase?: string
}

/**
 * Makes CA, server certificate, client certificate and an empty revocation list where there are none. Never overwrites:
 * a folder that holds some of the files, but not what a server needs, is an error that says what to do.
 */
export async function ensureCertificates(setUp: CertificateSetup): Promise<{ made: boolean }> {
  const { certsDir } = setUp
  // The usual start writes nothing, so that a server also runs with its certificates mounted read-only.
  if (!(await hasStagedWrite(certsDir)) && (await state(certsDir)) === 'complete') return { made: false }
  const hostnames = serverNames(setUp.hostnames)
  await makeFolder(certsDir)
  return withFolderLock(certsDir, async () => {
    await finishStagedWrite(certsDir)
    if ((await state(certsDir)) === 'complete') return { made: false }
    await writeAtomically(certsDir, await makeSet(hostnames, setUp.caPassphrase))
    return { made: true }
  })
}

async function state(certsDir: string): Promise<'complete' | 'none'> {
  const files = certificateFiles(certsDir)
  const there = new Set(await namesInFolder(certsDir))
  // The CA's key and the clients' files may live elsewhere: the server does not use them.
  const missing = [files.caCert, files.serverCert, files.serverKey, files.revoked]
    .map((file) => path.basename(file))
    .filter((file) => !there.has(file))
  if (missing.length === 0) return 'complete'
  const present = Object.values(files)
    .map((file) => path.basename(file))
    .filter((file) => there.has(file))
  if (present.length === 0) return 'none'
  throw new CertificateError(
    `${certsDir} holds ${present.join(', ')} but not ${missing.join(', ')}: put the missing files back from a backup` +
      `${missing.every((file) => file.startsWith('server_')) ? ', or run "sluice certs renew server"' : ''}` +
      '. To begin anew (every client then needs a new certificate), move the folder away.',
  )
}

async function makeSet(hostnames: readonly string[], caPassphrase: string | undefined): Promise<Record<string, string>> {
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
    // A mounted volume may belong to another user; the key files are 0600 all the same.
    if (!hasErrorCode(error, 'EPERM')) throw error
  }
}

const dnsName = /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?$/

/** What a server certificate is valid for: this machine by all its usual names, and the names that were asked for. */
export function serverNames(wanted: readonly string[] = []): string[] {
  const asked = wanted.map((name) => name.trim().toLowerCase())
  const wrong = asked.find((name) => !isServerName(name))
  if (wrong !== undefined) {
    throw new CertificateError(
      `"${wrong}" is neither a host name nor an IP address: give names such as sluice.example.org or 10.0.0.7, without a port.`,
    )
  }
  // A machine's own name may be something that no certificate can hold; then it is left out.
  const machine = [hostname().toLowerCase()].filter(isServerName)
  return [...new Set(['localhost', '127.0.0.1', '::1', ...machine, ...asked])]
}

function isServerName(name: string): boolean {
  return isIP(name) !== 0 || (name.length <= 253 && dnsName.test(name))
}

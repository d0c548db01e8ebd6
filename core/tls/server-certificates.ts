import { createPrivateKey, X509Certificate } from 'node:crypto'
import { watch } from 'node:fs'
import { command } from '../base/layout.ts'
import { readRevocationList, type Revocations } from './revocation-list.ts'
import { CertificateError, certificateFiles, readCertificateFile } from './certificate-files.ts'

/** The certificates of a server, read from a certs directory and checked to belong together. */
export interface ServerCertificates {
  pems: ServerPems
  revocations: Revocations
  ca: X509Certificate
  /** The end of the server certificate. It is never later than the end of the CA. */
  serverValidTo: Date
  caValidTo: Date
}

/** The files that a server needs, as text. */
interface ServerPems {
  ca: string
  cert: string
  key: string
  crl: string
}

/** Reads the files of the server and checks that they belong together. @throws CertificateError that says which file is wrong */
export async function readServerCertificates(certsDir: string): Promise<ServerCertificates> {
  return checkServerCertificates(certsDir, await readServerPems(certsDir))
}

async function readServerPems(certsDir: string): Promise<ServerPems> {
  const files = certificateFiles(certsDir)
  const [ca, cert, key, crl] = await Promise.all([
    readCertificateFile(files.caCert),
    readCertificateFile(files.serverCert),
    readCertificateFile(files.serverKey),
    readCertificateFile(files.revoked),
  ])
  return { ca, cert, key, crl }
}

async function checkServerCertificates(certsDir: string, pems: ServerPems): Promise<ServerCertificates> {
  const files = certificateFiles(certsDir)
  const ca = parse(files.caCert, () => new X509Certificate(pems.ca))
  const server = parse(files.serverCert, () => new X509Certificate(pems.cert))
  const key = parse(files.serverKey, () => createPrivateKey(pems.key))
  if (!server.checkPrivateKey(key)) {
    throw new CertificateError(
      `${files.serverKey} is not the key of ${files.serverCert}: put back the two that belong together, or run "${command} certs renew server".`,
    )
  }
  if (!server.verify(ca.publicKey)) {
    throw new CertificateError(
      `${files.serverCert} was not signed by ${files.caCert}: put back the files that belong together, or run "${command} certs renew server".`,
    )
  }
  const revocations = await readRevocationList(pems.crl, pems.ca, files.revoked)
  return {
    pems,
    revocations,
    ca,
    serverValidTo: new Date(server.validTo),
    caValidTo: new Date(ca.validTo),
  }
}

function parse<T>(file: string, parser: () => T): T {
  try {
    return parser()
  } catch (cause) {
    throw new CertificateError(`${file} does not hold in PEM what its name says: put it back from a backup.`, { cause })
  }
}

// Some mounts (NFS, volumes of some containers) send no notifications, so the four small files are also polled.
const pollMs = 2_000
// A renewal replaces two files. A read in between would find a pair that does not fit together.
const settleMs = 30

interface WatchEvents {
  /** The files are a new valid set. If this throws, the set is rejected. */
  changed(certificates: ServerCertificates): void
  /** The files are not a valid set. The server keeps the certificates that it has. */
  rejected(error: unknown): void
}

/** Reports every change of the server's certificate files since `current` was read. @returns ends the watching */
export function watchCertificates(certsDir: string, current: ServerCertificates, events: WatchEvents): () => void {
  let lastContent = JSON.stringify(current.pems)
  let lastProblem: string | undefined
  let queue = Promise.resolve()
  let settling: NodeJS.Timeout | undefined
  let stopped = false

  async function check(): Promise<void> {
    if (stopped) return
    try {
      const pems = await readServerPems(certsDir)
      const content = JSON.stringify(pems)
      if (content === lastContent) return
      lastContent = content
      const certificates = await checkServerCertificates(certsDir, pems)
      if (stopped) return
      events.changed(certificates)
      lastProblem = undefined
    } catch (error) {
      // The same problem is found at every poll. It is reported once.
      if (!stopped && String(error) !== lastProblem) events.rejected(error)
      lastProblem = String(error)
    }
  }

  function checkSoon(): void {
    settling ??= setTimeout(() => {
      settling = undefined
      queue = queue.then(check)
    }, settleMs)
    settling.unref()
  }

  const stopNotifications = notifications(certsDir, checkSoon)
  const poll = setInterval(checkSoon, pollMs).unref()
  checkSoon()

  return () => {
    stopped = true
    stopNotifications()
    clearInterval(poll)
    clearTimeout(settling)
  }
}

/** File system notifications, where the system has them. The poll finds every change too, only later. */
function notifications(folder: string, changed: () => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, changed)
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch {
    // The limit of watches is reached, or the file system does not support them.
    return () => {}
  }
}

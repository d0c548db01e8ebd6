import { createPrivateKey, X509Certificate } from 'node:crypto'
import { watch } from 'node:fs'
import { readRevocationList, type Revocations } from './authority.ts'
import { CertificateError, certificateFiles, readCertificateFile } from './certificate-files.ts'

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
interface ServerPems {
  ca: string
  cert: string
  key: string
  crl: string
}

/** Reads what the server needs and checks that it fits together; throws a CertificateError that says which file is wrong. */
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

// Notifications do not come from every mount (NFS, some containers' volumes), so the four small files are also read now and then.
const pollMs = 2_000
// A renewal replaces two files: reading between them would find a pair that does not fit.
const settleMs = 30

interface WatchEvents {
  /** The files are a new usable set. A throw refuses it. */
  changed(certificates: ServerCertificates): void
  /** The files are no usable set; the server goes on with what it has. */
  refused(error: unknown): void
}

/** Reports every change of the server's certificate files since `current` was read. Returns what stops it. */
export function watchCertificates(certsDir: string, current: ServerCertificates, events: WatchEvents): () => void {
  let seen = JSON.stringify(current.pems)
  let lastRefusal: string | undefined
  let turn = Promise.resolve()
  let settling: NodeJS.Timeout | undefined
  let stopped = false

  async function look(): Promise<void> {
    if (stopped) return
    try {
      const pems = await readServerPems(certsDir)
      const content = JSON.stringify(pems)
      if (content === seen) return
      seen = content
      const certificates = await checkServerCertificates(certsDir, pems)
      if (stopped) return
      events.changed(certificates)
      lastRefusal = undefined
    } catch (error) {
      // Files that stay away are found away at every poll: said once.
      if (!stopped && String(error) !== lastRefusal) events.refused(error)
      lastRefusal = String(error)
    }
  }

  function lookSoon(): void {
    settling ??= setTimeout(() => {
      settling = undefined
      turn = turn.then(look)
    }, settleMs)
    settling.unref()
  }

  const stopNotifications = notifications(certsDir, lookSoon)
  const poll = setInterval(lookSoon, pollMs).unref()
  lookSoon()

  return () => {
    stopped = true
    stopNotifications()
    clearInterval(poll)
    clearTimeout(settling)
  }
}

/** File system notifications where there are any: the poll notices everything too, only later. */
function notifications(folder: string, changed: () => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, changed)
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch {
    // The limit of watches is reached, or the file system has none.
    return () => {}
  }
}

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { command } from '../base/layout.ts'
import { openAuthority, type Authority, issueCertificate, type CertificatePair, makeRevocationList } from './authority.ts'
import {
  CertificateError,
  certificateFiles,
  checkClientName,
  pairFiles,
  withFolderLock,
  hasErrorCode,
  finishStagedWrite,
  writeAtomically,
  readCertificateFile,
} from './certificate-files.ts'
import { issuedCertificates, listClients, type ClientCertificate } from './issued-certificates.ts'
import { normalSerial, readRevocationList } from './revocation-list.ts'
import { serverNames } from './ensure-certificates.ts'

// The commands `sluice certs new`, `renew` and `revoke`.

interface CaAccess {
  /** Needed when the CA's key is encrypted. */
  caPassphrase?: string
}

/** A certificate that was issued, and the files of it and its key. */
export interface NewCertificate {
  name: string
  certFile: string
  keyFile: string
  serialNumber: string
  fingerprint256: string
  validTo: Date
}

/** Makes key and certificate for another client. Its name becomes the certificate's common name. @throws CertificateError */
export async function newClient(certsDir: string, name: string, access: CaAccess = {}): Promise<NewCertificate> {
  return theOnly(await newClients(certsDir, [name], access))
}

/** The same for several, all of them or none: those that there are already are read once. */
export async function newClients(certsDir: string, names: readonly string[], access: CaAccess = {}): Promise<NewCertificate[]> {
  for (const name of names) checkClientName(name)
  return withAuthority(certsDir, access, async (authority) => {
    const known = await namesOfClients(certsDir)
    for (const name of names) {
      const taken = known.find((each) => each.toLowerCase() === name.toLowerCase())
      if (taken !== undefined) {
        throw new NameTakenError(
          taken,
          `There is already a client "${taken}": renew it with "${command} certs renew ${taken}", or choose another name.`,
        )
      }
      known.push(name)
    }
    return makeClients(certsDir, authority, names)
  })
}

/** A client has the name. */
export class NameTakenError extends CertificateError {
  readonly taken: string

  constructor(taken: string, message: string) {
    super(message)
    this.taken = taken
  }
}

/**
 * Replaces the key and certificate of `server` or of a client. A client's old certificate stays valid, so that the bot can trade until it
 * has the new files; revoke it if its key leaked. `hostnames` are names of the server beside those of the machine; without them it keeps
 * its names.
 * @throws CertificateError
 */
export async function renew(
  certsDir: string,
  name: string,
  options: CaAccess & { hostnames?: readonly string[] } = {},
): Promise<NewCertificate> {
  return withAuthority(certsDir, options, async (authority) => {
    if (name === 'server') {
      const hostnames = serverNames(options.hostnames ?? (await currentServerNames(certsDir)))
      const pair = await issueCertificate(authority, { commonName: 'server', usage: 'server', hostnames })
      return theOnly(await writePairs(certsDir, [[name, pair]], {}))
    }
    if (options.hostnames !== undefined)
      throw new CertificateError('Only the server certificate has host names: leave them out for a client.')
    const known = await namesOfClients(certsDir)
    if (name !== 'client' && !known.includes(name)) throw unknownClient(name, known)
    return theOnly(await makeClients(certsDir, authority, [name]))
  })
}

/** Renews the server's certificate where it lacks one of these names, with those that it has. @returns whether it did @throws CertificateError */
export async function addServerNames(certsDir: string, hostnames: readonly string[], access: CaAccess = {}): Promise<boolean> {
  const known = await currentServerNames(certsDir)
  if (hostnames.every((name) => known.includes(name.trim().toLowerCase()))) return false
  await renew(certsDir, 'server', { ...access, hostnames: [...known, ...hostnames] })
  return true
}

/** Runs `work` with the CA open, while no other process writes in the folder. */
async function withAuthority<T>(certsDir: string, access: CaAccess, work: (authority: Authority) => Promise<T>): Promise<T> {
  return withFolderLock(certsDir, async () => {
    await finishStagedWrite(certsDir)
    return work(await openAuthority(certsDir, access.caPassphrase))
  })
}

function unknownClient(name: string, known: readonly string[]): CertificateError {
  const names = known.length > 0 ? `Known are: ${known.join(', ')}.` : 'No client is known.'
  return new CertificateError(`There is no client "${name}". ${names} "${command} certs list" shows them all.`)
}

async function namesOfClients(certsDir: string): Promise<string[]> {
  return [...new Set((await listClients(certsDir)).flatMap((client) => client.certificate?.name ?? []))]
}

function theOnly([made]: readonly NewCertificate[]): NewCertificate {
  if (made === undefined) throw new Error('No certificate was made.')
  return made
}

async function makeClients(certsDir: string, authority: Authority, names: readonly string[]): Promise<NewCertificate[]> {
  const pairs = await Promise.all(
    names.map(async (name) => [name, await issueCertificate(authority, { commonName: name, usage: 'client' })] as const),
  )
  const all = await issuedWith(
    certsDir,
    pairs.map(([, { certPem }]) => certPem),
  )
  return writePairs(certsDir, pairs, { 'issued.pem': all })
}

async function writePairs(
  certsDir: string,
  pairs: readonly (readonly [name: string, pair: CertificatePair])[],
  also: Record<string, string>,
): Promise<NewCertificate[]> {
  const files = pairs.flatMap(([name, { certPem, keyPem }]): [string, string][] => {
    const { certFile, keyFile } = pairFiles(certsDir, name)
    return [
      [path.basename(certFile), certPem],
      [path.basename(keyFile), keyPem],
    ]
  })
  await writeAtomically(certsDir, { ...also, ...Object.fromEntries(files) })
  return pairs.map(([name, pair]) => issuedAs(certsDir, name, pair))
}

function issuedAs(certsDir: string, name: string, pair: CertificatePair): NewCertificate {
  const { certFile, keyFile } = pairFiles(certsDir, name)
  const certificate = new X509Certificate(pair.certPem)
  return {
    name,
    certFile,
    keyFile,
    serialNumber: normalSerial(certificate.serialNumber),
    fingerprint256: certificate.fingerprint256,
    validTo: new Date(certificate.validTo),
  }
}

async function currentServerNames(certsDir: string): Promise<string[]> {
  try {
    const { subjectAltName = '' } = new X509Certificate(await readFile(certificateFiles(certsDir).serverCert))
    return [...subjectAltName.matchAll(/(?:DNS|IP Address):([^,]+)/g)].map(([, name = '']) => name)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return []
    throw error
  }
}

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
      `The ${which} certificate cannot be revoked, since clients do not read the list: for a new server key run "${command} certs renew server".`,
    )
  }
  return withAuthority(certsDir, access, async (authority) => {
    const clients = await listClients(certsDir)
    const selected = select(clients, which)
    if (selected.length === 0) throw unknownClient(which, await namesOfClients(certsDir))
    const before = selected.filter((client) => client.state === 'revoked')
    const revoking = selected.filter((client) => client.state !== 'revoked')
    if (revoking.length === 0) return { revoked: [], before }

    const files = certificateFiles(certsDir)
    const revocations = new Map(
      await readRevocationList(await readCertificateFile(files.revoked), await readCertificateFile(files.caCert), files.revoked),
    )
    const now = new Date()
    for (const { serialNumber } of revoking) revocations.set(serialNumber, now)
    await writeAtomically(certsDir, { 'revoked.pem': await makeRevocationList(authority, revocations) })
    return { revoked: revoking.map((client) => ({ ...client, state: 'revoked', revokedAt: now })), before }
  })
}

function select(clients: readonly ClientCertificate[], which: string): ClientCertificate[] {
  const named = clients.filter((client) => client.certificate?.name === which)
  if (named.length > 0) return named
  const hex = normalSerial(which)
  return clients.filter(
    (client) => client.serialNumber === hex || (client.certificate && normalSerial(client.certificate.fingerprint256) === hex),
  )
}

/** The content of `issued.pem` with more certificates. */
async function issuedWith(certsDir: string, certPems: readonly string[]): Promise<string> {
  const known = await issuedCertificates(certsDir)
  return [...known.map((certificate) => certificate.toString()), ...certPems].join('')
}

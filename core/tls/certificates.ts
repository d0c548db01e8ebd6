import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { openAuthority, type Authority } from './authority.ts'
import { CertificateError } from './certificate-error.ts'
import { certificateFiles, checkClientName, pairFiles } from './certificate-files.ts'
import { withFolderLock } from './folder-lock.ts'
import { hasCode } from './has-code.ts'
import { issueCertificate, type IssuedPair } from './issue-certificate.ts'
import { issuedWith } from './issued-certificates.ts'
import { listClients } from './list-clients.ts'
import { normalSerial } from './serial-number.ts'
import { serverNames } from './server-names.ts'
import { finishWriting, writeTogether } from './write-together.ts'

export interface CaAccess {
  /** Needed when the CA's key is encrypted. */
  caPassphrase?: string
}

/** A certificate that was made, and where it and its key lie. */
export interface MadeCertificate {
  name: string
  certFile: string
  keyFile: string
  serialNumber: string
  fingerprint256: string
  validTo: Date
}

/** Makes key and certificate for a further client; its name becomes the certificate's common name. */
export async function newClient(certsDir: string, name: string, access: CaAccess = {}): Promise<MadeCertificate> {
  checkClientName(name)
  return withAuthority(certsDir, access, async (authority) => {
    const taken = (await namesOfClients(certsDir)).find((known) => known.toLowerCase() === name.toLowerCase())
    if (taken !== undefined) {
      throw new CertificateError(
        `There is already a client "${taken}": renew it with "sluice certs renew ${taken}", or choose another name.`,
      )
    }
    return makeClient(certsDir, authority, name)
  })
}

/**
 * Makes a new key and certificate in the place of the old: for `server`, or for a client by name. A client's old
 * certificate stays valid, so that the bot trades on until the new files are with it; revoke it when its key leaked.
 * `hostnames` are a server's further names; without them it keeps those that it has.
 */
export async function renew(
  certsDir: string,
  name: string,
  options: CaAccess & { hostnames?: readonly string[] } = {},
): Promise<MadeCertificate> {
  return withAuthority(certsDir, options, async (authority) => {
    if (name === 'server') {
      const hostnames = serverNames(options.hostnames ?? (await presentServerNames(certsDir)))
      const pair = await issueCertificate(authority, { commonName: 'server', usage: 'server', hostnames })
      return writePair(certsDir, name, pair, {})
    }
    if (options.hostnames !== undefined)
      throw new CertificateError('Only the server certificate has host names: leave them out for a client.')
    const known = await namesOfClients(certsDir)
    if (name !== 'client' && !known.includes(name)) throw unknownClient(name, known)
    return makeClient(certsDir, authority, name)
  })
}

/** Runs `work` with the CA open and nobody else writing in the folder. */
export async function withAuthority<T>(certsDir: string, access: CaAccess, work: (authority: Authority) => Promise<T>): Promise<T> {
  return withFolderLock(certsDir, async () => {
    await finishWriting(certsDir)
    return work(await openAuthority(certsDir, access.caPassphrase))
  })
}

export function unknownClient(wanted: string, known: readonly string[]): CertificateError {
  const names = known.length > 0 ? `Known are: ${known.join(', ')}.` : 'No client is known.'
  return new CertificateError(`There is no client "${wanted}". ${names} "sluice certs list" shows them all.`)
}

export async function namesOfClients(certsDir: string): Promise<string[]> {
  return [...new Set((await listClients(certsDir)).flatMap((client) => client.certificate?.name ?? []))]
}

async function makeClient(certsDir: string, authority: Authority, name: string): Promise<MadeCertificate> {
  const pair = await issueCertificate(authority, { commonName: name, usage: 'client' })
  return writePair(certsDir, name, pair, { 'issued.pem': await issuedWith(certsDir, pair.certPem) })
}

async function writePair(certsDir: string, name: string, pair: IssuedPair, also: Record<string, string>): Promise<MadeCertificate> {
  const { certFile, keyFile } = pairFiles(certsDir, name)
  await writeTogether(certsDir, { ...also, [path.basename(certFile)]: pair.certPem, [path.basename(keyFile)]: pair.keyPem })
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

async function presentServerNames(certsDir: string): Promise<string[]> {
  try {
    const { subjectAltName = '' } = new X509Certificate(await readFile(certificateFiles(certsDir).serverCert))
    return [...subjectAltName.matchAll(/(?:DNS|IP Address):([^,]+)/g)].map(([, name = '']) => name)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

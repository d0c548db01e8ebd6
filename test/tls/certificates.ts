import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureCertificates, type CertificateSetup } from '../../core/tls/ensure-certificates.ts'
import type { CertificatePair } from '../../core/tls/authority.ts'

const folders: string[] = []

/** An empty folder that `removeFolders` removes. */
export async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-certs-'))
  folders.push(folder)
  return folder
}

/** A folder with certificates made in it. */
export async function madeCertificates(setUp: Omit<CertificateSetup, 'certsDir'> = {}): Promise<string> {
  const certsDir = path.join(await emptyFolder(), 'certs')
  await ensureCertificates({ ...setUp, certsDir })
  return certsDir
}

export async function removeFolders(): Promise<void> {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
}

export function pem(certsDir: string, file: string): Promise<string> {
  return readFile(path.join(certsDir, file), 'utf8')
}

/** Certificate and key of a client, as they lie in the folder. */
export async function pairOf(certsDir: string, name: string): Promise<CertificatePair> {
  return { certPem: await pem(certsDir, `${name}_cert.pem`), keyPem: await pem(certsDir, `${name}_key.pem`) }
}

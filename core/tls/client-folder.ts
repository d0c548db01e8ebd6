// The folder in which a client of Hummingbot looks for its certificate, by the names that it knows.
import { createPrivateKey } from 'node:crypto'
import { mkdir, open, rm, rmdir, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { CertificateError, certificateFiles, hasErrorCode, readCertificateFile } from './certificate-files.ts'
import type { NewCertificate } from './certificates.ts'

/** A folder whose three files are there, still empty, so that nobody else writes them. */
interface ClientFolder {
  /** Writes the certificate into them. @param keyPassphrase encrypts the key @throws CertificateError */
  fill(certsDir: string, made: NewCertificate, keyPassphrase?: string): Promise<void>
  /** Takes the files away again, and the folders that were not there before. */
  discard(): Promise<void>
}

/** Nothing that is there is overwritten: with it the client goes back to where it came from. @throws CertificateError */
export async function openClientFolder(folder: string): Promise<ClientFolder> {
  const { caCert, clientCert, clientKey } = certificateFiles(folder)
  const files = new Map<string, FileHandle>()
  let firstMade: string | undefined
  const close = () => Promise.all([...files.values()].map((each) => each.close().catch(() => {})))
  const discard = async () => {
    await close()
    await Promise.all([...files.keys()].map((file) => rm(file, { force: true })))
    await removeMade(folder, firstMade)
  }
  try {
    firstMade = await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const file of [caCert, clientCert, clientKey]) files.set(file, await open(file, 'wx', 0o600))
  } catch (cause) {
    await discard()
    throw refusal(folder, cause)
  }
  return {
    discard,
    async fill(certsDir, made, keyPassphrase) {
      try {
        const key = await readCertificateFile(made.keyFile)
        const contents: Readonly<Record<string, string>> = {
          [caCert]: await readCertificateFile(certificateFiles(certsDir).caCert),
          [clientCert]: await readCertificateFile(made.certFile),
          [clientKey]: keyPassphrase === undefined ? key : encrypted(key, keyPassphrase),
        }
        for (const [file, handle] of files) {
          await handle.writeFile(contents[file] ?? '')
          await handle.sync()
        }
      } catch (cause) {
        await discard()
        throw new CertificateError(
          `The certificate is made, in ${made.certFile} and ${made.keyFile}, but ${folder} could not be written: copy the two as client_cert.pem and client_key.pem, with ca_cert.pem.`,
          { cause },
        )
      } finally {
        await close()
      }
    },
  }
}

/** From a folder up to the first one that was made for it, as far as they are empty. */
async function removeMade(folder: string, first: string | undefined): Promise<void> {
  if (first === undefined) return
  const top = path.resolve(first)
  for (let each = path.resolve(folder); each.startsWith(top); each = path.dirname(each)) {
    const isRemoved = await rmdir(each).then(
      () => true,
      () => false,
    )
    if (!isRemoved) return
  }
}

function refusal(folder: string, cause: unknown): CertificateError {
  const file = cause instanceof Error && 'path' in cause ? path.basename(String(cause.path)) : folder
  if (hasErrorCode(cause, 'EEXIST'))
    return new CertificateError(
      `${folder} has a file ${file} already, and it is not overwritten: move the folder aside, since with its files the client goes back to where it was. Nothing was made.`,
      { cause },
    )
  const reason = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
  return new CertificateError(`${folder} cannot be written${reason}: name a folder of your own. Nothing was made.`, { cause })
}

const encrypted = (keyPem: string, passphrase: string): string =>
  createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase }).toString()

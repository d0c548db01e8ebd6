import { readFile } from 'node:fs/promises'
import { CertificateError } from './certificate-error.ts'
import { hasCode } from './has-code.ts'

/** Reads a file of a certs directory that has to be there. */
export async function readCertificateFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT')) throw new CertificateError(`${file} cannot be read: run this as the user who owns it.`, { cause })
    const cure = file.endsWith('ca_key.pem')
      ? "it signs certificates and the list of revoked ones: run this where the CA's key is kept, or put it back"
      : 'make the certificates with "sluice certs init" or "npm start", or correct certsDir in conf/ssl.yml'
    throw new CertificateError(`${file} is not there: ${cure}.`, { cause })
  }
}

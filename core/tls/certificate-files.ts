import path from 'node:path'
import { CertificateError } from './certificate-error.ts'

/** The files of a certs directory. `issued.pem` holds every client certificate ever made, so that all of them can be listed and revoked. */
export function certificateFiles(certsDir: string) {
  return {
    caCert: path.join(certsDir, 'ca_cert.pem'),
    caKey: path.join(certsDir, 'ca_key.pem'),
    serverCert: path.join(certsDir, 'server_cert.pem'),
    serverKey: path.join(certsDir, 'server_key.pem'),
    clientCert: path.join(certsDir, 'client_cert.pem'),
    clientKey: path.join(certsDir, 'client_key.pem'),
    revoked: path.join(certsDir, 'revoked.pem'),
    issued: path.join(certsDir, 'issued.pem'),
  }
}

/** The files of one certificate: `server`, `client` (the one made in set-up) or a further client's name. */
export function pairFiles(certsDir: string, name: string): { certFile: string; keyFile: string } {
  return { certFile: path.join(certsDir, `${name}_cert.pem`), keyFile: path.join(certsDir, `${name}_key.pem`) }
}

const clientName = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$/
// Compared without letter case: on some file systems `Server_key.pem` is `server_key.pem`.
const reservedNames = new Set(['ca', 'server', 'client'])

/** Throws unless `name` can be a further client's name: it becomes a file name and a common name. */
export function checkClientName(name: string): void {
  if (!clientName.test(name)) {
    throw new CertificateError(
      `"${name}" cannot be a client's name: use 1 to 63 letters, digits, dots, dashes or underscores, beginning with a letter or digit.`,
    )
  }
  if (reservedNames.has(name.toLowerCase())) {
    throw new CertificateError(`"${name}" is the name of a certificate made in set-up: choose another name for the new client.`)
  }
}

/** Something is wrong with the certificates that the operator can put right; the message says how. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError'
}

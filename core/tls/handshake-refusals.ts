// Why a connection was refused in its handshake, in words for a log.
import type { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { command } from '../base/layout.ts'
import { normalSerial } from './revocation-list.ts'
import type { ServerCertificates } from './server-certificates.ts'

/** Longer chains are not followed. OpenSSL gives up at a hundred. */
const maxChain = 8

/** The certificates that a client sent, its own first. Read at the end of the handshake: a socket that was refused has none. */
export function sentChain(socket: TLSSocket): readonly X509Certificate[] {
  const chain: X509Certificate[] = []
  let next = socket.getPeerX509Certificate()
  while (next && chain.length < maxChain) {
    chain.push(next)
    const { issuerCertificate }: X509Certificate = next
    next = issuerCertificate?.fingerprint256 === next.fingerprint256 ? undefined : issuerCertificate
  }
  return chain
}

const signedByItself = 'client certificate signed by itself'
const signedByAnother = 'client certificate signed by another CA'
const listUnread = `revocation list unreadable (run "${command} certs revoke" or put the right revoked.pem in place)`

// By OpenSSL's verify result, as Node names it in `authorizationError`: X509ErrorCode in src/crypto/crypto_common.cc of Node.
const byVerification: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'client certificate expired',
  CERT_NOT_YET_VALID: 'client certificate not yet valid',
  ERROR_IN_CERT_NOT_BEFORE_FIELD: 'client certificate without a readable beginning',
  ERROR_IN_CERT_NOT_AFTER_FIELD: 'client certificate without a readable end',
  CERT_REVOKED: 'client certificate revoked',
  INVALID_PURPOSE: 'certificate is not for clients',
  CERT_UNTRUSTED: 'certificate is not for clients',
  CERT_REJECTED: 'certificate is not for clients',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: signedByAnother,
  UNABLE_TO_GET_ISSUER_CERT: signedByAnother,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: signedByAnother,
  CERT_SIGNATURE_FAILURE: 'client certificate damaged: its signature is not of the CA that it names',
  UNABLE_TO_DECRYPT_CERT_SIGNATURE: 'client certificate damaged: its signature cannot be read',
  UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: 'the key of the CA that signed the client certificate cannot be read',
  DEPTH_ZERO_SELF_SIGNED_CERT: signedByItself,
  SELF_SIGNED_CERT_IN_CHAIN: signedByAnother,
  UNABLE_TO_GET_CRL: signedByAnother,
  INVALID_CA: 'client certificate signed by a certificate that is not a CA',
  PATH_LENGTH_EXCEEDED: 'client certificate signed by an issuing CA, and the CA of this server allows none below it',
  CERT_CHAIN_TOO_LONG: 'client certificate with too many CAs between it and the CA of this server',
  CRL_HAS_EXPIRED: `revocation list out of date (run "${command} certs revoke" or put the right revoked.pem in place)`,
  CRL_NOT_YET_VALID: "revocation list not yet valid (set this machine's clock, or put the right revoked.pem in place)",
  CRL_SIGNATURE_FAILURE: 'revocation list not signed by the CA (put the revoked.pem that belongs to ca_cert.pem in place)',
  UNABLE_TO_DECRYPT_CRL_SIGNATURE: listUnread,
  ERROR_IN_CRL_LAST_UPDATE_FIELD: listUnread,
  ERROR_IN_CRL_NEXT_UPDATE_FIELD: listUnread,
}

// By the code of Node's error.
const byError: Readonly<Record<string, string>> = {
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: 'no client certificate',
  ERR_SSL_HTTP_REQUEST: 'plain HTTP on the HTTPS port',
  ERR_SSL_WRONG_VERSION_NUMBER: 'not TLS, or a version older than 1.2',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'TLS version older than 1.2',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: "the client does not trust this server's CA (give it ca_cert.pem)",
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'the client refused the server certificate',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: 'the client found the server certificate expired',
  ERR_SSL_NO_SHARED_CIPHER: 'no cipher in common (of TLS 1.2 the server takes ECDHE with AES-GCM or ChaCha20)',
  ERR_TLS_HANDSHAKE_TIMEOUT: 'handshake timed out',
  ECONNRESET: 'the client disconnected during the handshake',
}

/** From the arguments of `tlsClientError`, and what the client had sent. */
export function handshakeRefusal(
  error: Error & { code?: string },
  socket: TLSSocket,
  chain: readonly X509Certificate[],
  certificates: Pick<ServerCertificates, 'ca' | 'revocations'>,
): string {
  // Its type is Error, but on a server's socket it is a string (the verify result) or null.
  const verification: unknown = socket.authorizationError
  if (typeof verification === 'string') return verificationRefusal(verification, chain, certificates)
  return byError[error.code ?? ''] ?? `TLS error: ${error.code ?? error.message}`
}

/** OpenSSL's result is of whichever certificate of the chain it came upon first, and does not say which. */
export function verificationRefusal(
  verification: string,
  chain: readonly X509Certificate[],
  { ca, revocations }: Pick<ServerCertificates, 'ca' | 'revocations'>,
): string {
  const [own] = chain
  const isRevoked = (each: X509Certificate) => revocations.has(normalSerial(each.serialNumber))
  switch (verification) {
    case 'CERT_HAS_EXPIRED':
      if (own && Date.parse(own.validTo) >= Date.now()) return 'a CA above the client certificate expired'
      break
    case 'CERT_NOT_YET_VALID':
      if (own && Date.parse(own.validFrom) <= Date.now()) return 'a CA above the client certificate is not yet valid'
      break
    case 'CERT_REVOKED':
      if (own && !isRevoked(own)) return 'an issuing CA above the client certificate is revoked'
      break
    case 'UNABLE_TO_GET_CRL':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE': {
      const at = chain.findIndex((each) => isSignedBy(each, ca))
      const signed = chain[at]
      if (at === 0)
        return own && isRevoked(own)
          ? 'client certificate revoked'
          : 'client certificate signed by the CA of this server, which is signed by another CA (ca_cert.pem must hold a CA that signed itself)'
      if (signed)
        return isRevoked(signed)
          ? 'an issuing CA above the client certificate is revoked'
          : `client certificate signed by an issuing CA below the CA of this server, and there is no revocation list of that one (make it with "${command} certs new")`
      if (chain.length === 1 && own?.issuer === own?.subject) return signedByItself
      break
    }
  }
  return byVerification[verification] ?? `client certificate refused: ${verification}`
}

/** False for keys and signatures of kinds that are not known here, too: strangers write them. */
function isSignedBy(certificate: X509Certificate, ca: X509Certificate): boolean {
  try {
    return certificate.fingerprint256 !== ca.fingerprint256 && certificate.verify(ca.publicKey)
  } catch {
    return false
  }
}

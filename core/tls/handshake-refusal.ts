import type { TLSSocket } from 'node:tls'

// By OpenSSL's verify result, as Node names it in `authorizationError`.
const byVerification: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'client certificate expired',
  CERT_NOT_YET_VALID: 'client certificate not yet valid',
  CERT_REVOKED: 'client certificate revoked',
  INVALID_PURPOSE: 'certificate is not for clients',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'client certificate signed by another CA',
  UNABLE_TO_GET_ISSUER_CERT: 'client certificate signed by another CA',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'client certificate signed by another CA',
  CERT_SIGNATURE_FAILURE: 'client certificate signed by another CA',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'client certificate signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'client certificate signed by another CA',
  CRL_HAS_EXPIRED: 'revocation list out of date (run "sluice certs revoke" or put the right revoked.pem in place)',
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
  ERR_TLS_HANDSHAKE_TIMEOUT: 'handshake not finished in time',
  ECONNRESET: 'the client went away during the handshake',
}

/** Why a connection was refused, from what `tlsClientError` gives, in words for a log. */
export function handshakeRefusal(error: Error & { code?: string }, socket: TLSSocket): string {
  // Typed as an Error, but a string (the verify result) or null on a server's socket.
  const verification: unknown = socket.authorizationError
  if (typeof verification === 'string') return byVerification[verification] ?? `client certificate refused: ${verification}`
  return byError[error.code ?? ''] ?? `TLS error: ${error.code ?? error.message}`
}

/** Where the TLS part of the server writes; a pino logger fits. */
export interface TlsLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

// The library keeps its ASN.1 types by decorators, so the metadata polyfill has to be there before it.
// oxlint-disable-next-line import/no-unassigned-import
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

x509.cryptoProvider.set(webcrypto)

export { x509 }

/** Every key here is EC P-256, every signature ECDSA with SHA-256. */
export const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** A distinguished name of nothing but a common name. Given as a plain string, quotes and `#` in it would be interpreted. */
export function nameOf(commonName: string): x509.Name {
  return new x509.Name([{ CN: [{ utf8String: commonName }] }])
}

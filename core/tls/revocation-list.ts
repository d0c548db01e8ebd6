// Reads the revocation list, which a server does at every start. The library that makes it takes 40 ms and 15 MB to load; the one that it
// reads ASN.1 with takes 10 ms, which `der.ts` is without.
import { verify, X509Certificate } from 'node:crypto'
import { CertificateError } from './certificate-files.ts'
import { derTags, readElements, readTime, type DerElement } from './der.ts'

/** The content of `revoked.pem`: the time of revocation by serial number (normal form). */
export type Revocations = ReadonlyMap<string, Date>

/** Reads a revocation list and checks that the CA signed it. @param file for the error message. @throws CertificateError */
export async function readRevocationList(pem: string, caCertPem: string, file: string): Promise<Revocations> {
  const own = parseOwnList(pem)
  // Lists of other programs may be signed by other algorithms, and broken ones are for the library to refuse.
  const revocations = own ? isSignedBy(caCertPem, own) && own.revocations : await readForeignList(pem, caCertPem, file)
  if (!revocations) throw new CertificateError(`${file} was not signed by the CA beside it: put back the files that belong together.`)
  return revocations
}

const isSignedBy = (caCertPem: string, { signed, signature }: OwnList): boolean =>
  verify('sha256', signed, new X509Certificate(caCertPem).publicKey, signature)

async function readForeignList(pem: string, caCertPem: string, file: string): Promise<Revocations | undefined> {
  const { readSignedList } = await import('./authority.ts')
  const entries = await readSignedList(pem, caCertPem, file)
  return entries && new Map(entries.map((entry) => [normalSerial(entry.serialNumber), entry.revocationDate]))
}

/** A serial number in the form that is compared: upper-case hex without leading zeros, colons or spaces, as Node shows it. */
export function normalSerial(serial: string): string {
  return serial
    .replaceAll(/[:\s]/g, '')
    .replace(/^0+(?=.)/, '')
    .toUpperCase()
}

interface OwnList {
  /** What the signature is of. */
  readonly signed: Uint8Array
  readonly signature: Uint8Array
  readonly revocations: Revocations
}

/** ecdsa-with-SHA256, 1.2.840.10045.4.3.2 (RFC 5758, section 3.2), as DER has it. */
const ecdsaWithSha256 = '2a8648ce3d040302'

/** A list as `makeRevocationList` writes it (CertificateList, RFC 5280, section 5.1); undefined for anything else. */
function parseOwnList(pem: string): OwnList | undefined {
  const base64 = /^-----BEGIN X509 CRL-----\s([\w+/=\s]+)-----END X509 CRL-----\s*$/.exec(pem)?.[1]
  if (base64 === undefined) return undefined
  const [list, ...after] = readElements(Buffer.from(base64, 'base64')) ?? []
  const [toBeSigned, algorithm, bits, ...more] = elementsOf(list) ?? []
  if (after.length > 0 || !isOwnAlgorithm(algorithm) || bits?.tag !== derTags.bitString || more.length > 0) return undefined
  const revocations = parseRevocations(toBeSigned)
  // The first octet of the bits counts those that are not used.
  if (!toBeSigned || !revocations || bits.content[0] !== 0) return undefined
  return { signed: toBeSigned.octets, signature: bits.content.subarray(1), revocations }
}

/** version, signature, issuer, thisUpdate, nextUpdate, revokedCertificates where there are any, extensions. */
function parseRevocations(toBeSigned: DerElement | undefined): Revocations | undefined {
  const [version, algorithm, issuer, thisUpdate, nextUpdate, revoked] = elementsOf(toBeSigned) ?? []
  if (version?.tag !== derTags.integer || !isOwnAlgorithm(algorithm) || issuer?.tag !== derTags.sequence) return undefined
  if (!readTime(thisUpdate) || !readTime(nextUpdate)) return undefined
  const revocations = new Map<string, Date>()
  // Without an entry the extensions come here, which are no sequence.
  if (revoked?.tag !== derTags.sequence) return revocations
  const entries = elementsOf(revoked)
  if (!entries) return undefined
  for (const entry of entries) {
    const [serial, revokedAt] = elementsOf(entry) ?? []
    const at = readTime(revokedAt)
    if (serial?.tag !== derTags.integer || serial.content.length === 0 || !at) return undefined
    revocations.set(normalSerial(Buffer.from(serial.content).toString('hex')), at)
  }
  return revocations
}

const elementsOf = (element: DerElement | undefined): readonly DerElement[] | undefined =>
  element?.tag === derTags.sequence ? readElements(element.content) : undefined

function isOwnAlgorithm(element: DerElement | undefined): boolean {
  const [identifier, ...parameters] = elementsOf(element) ?? []
  return (
    identifier?.tag === derTags.objectIdentifier &&
    Buffer.from(identifier.content).toString('hex') === ecdsaWithSha256 &&
    parameters.length === 0
  )
}

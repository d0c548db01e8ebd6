// Reads the revocation list, which a server does at every start. The library that makes it takes 40 ms and 15 MB to load; the one that it
// reads ASN.1 with takes 10 ms.
import { verify, X509Certificate } from 'node:crypto'
import { type BaseBlock, BitString, fromBER, Integer, ObjectIdentifier, Sequence, UTCTime } from 'asn1js'
import { CertificateError } from './certificate-files.ts'

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

/** RFC 5758, section 3.2. */
const ecdsaWithSha256 = '1.2.840.10045.4.3.2'

/** A list as `makeRevocationList` writes it (CertificateList, RFC 5280, section 5.1); undefined for anything else. */
function parseOwnList(pem: string): OwnList | undefined {
  const base64 = /^-----BEGIN X509 CRL-----\s([\w+/=\s]+)-----END X509 CRL-----\s*$/.exec(pem)?.[1]
  if (base64 === undefined) return undefined
  const octets = Buffer.from(base64, 'base64')
  const { offset, result } = fromBER(octets)
  const [toBeSigned, algorithm, bits, ...more] = elementsOf(result) ?? []
  if (offset !== octets.length || !isOwnAlgorithm(algorithm) || !(bits instanceof BitString) || more.length > 0) return undefined
  const revocations = parseRevocations(toBeSigned)
  if (!toBeSigned || !revocations || bits.valueBlock.unusedBits !== 0) return undefined
  return { signed: toBeSigned.valueBeforeDecodeView, signature: bits.valueBlock.valueHexView, revocations }
}

/** version, signature, issuer, thisUpdate, nextUpdate, revokedCertificates where there are any, extensions. */
function parseRevocations(toBeSigned: BaseBlock | undefined): Revocations | undefined {
  const [version, algorithm, issuer, thisUpdate, nextUpdate, revoked] = elementsOf(toBeSigned) ?? []
  if (!(version instanceof Integer) || !isOwnAlgorithm(algorithm) || !(issuer instanceof Sequence)) return undefined
  // GeneralizedTime is a kind of UTCTime there.
  if (!(thisUpdate instanceof UTCTime) || !(nextUpdate instanceof UTCTime)) return undefined
  const revocations = new Map<string, Date>()
  for (const entry of elementsOf(revoked) ?? []) {
    const [serial, at] = elementsOf(entry) ?? []
    if (!(serial instanceof Integer) || !(at instanceof UTCTime)) return undefined
    revocations.set(normalSerial(Buffer.from(serial.valueBlock.valueHexView).toString('hex')), at.toDate())
  }
  return revocations
}

const elementsOf = (block: BaseBlock | undefined): readonly BaseBlock[] | undefined =>
  block instanceof Sequence ? block.valueBlock.value : undefined

function isOwnAlgorithm(block: BaseBlock | undefined): boolean {
  const [identifier, ...parameters] = elementsOf(block) ?? []
  return identifier instanceof ObjectIdentifier && identifier.valueBlock.toString() === ecdsaWithSha256 && parameters.length === 0
}

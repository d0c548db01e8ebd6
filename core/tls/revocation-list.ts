// Reads the revocation list, which a server does at every start. The library that makes it would have to be loaded for that, and takes
// longer to load than the rest of the TLS server.
import { verify, X509Certificate } from 'node:crypto'
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
  readonly signed: Buffer
  readonly signature: Buffer
  readonly revocations: Revocations
}

/** Tags of DER (ITU-T X.690). */
const tag = { integer: 0x02, bits: 0x03, sequence: 0x30, utcTime: 0x17, generalizedTime: 0x18 } as const
/** AlgorithmIdentifier of ecdsa-with-SHA256 (RFC 5758, section 3.2). */
const ecdsaWithSha256 = Buffer.from('06082a8648ce3d040302', 'hex')

/** A list as `makeRevocationList` writes it (CertificateList, RFC 5280, section 5.1); undefined for anything else. */
function parseOwnList(pem: string): OwnList | undefined {
  const base64 = /^-----BEGIN X509 CRL-----\s([\w+/=\s]+)-----END X509 CRL-----\s*$/.exec(pem)?.[1]
  if (base64 === undefined) return undefined
  const [list, ...rest] = elementsOf(Buffer.from(base64, 'base64')) ?? []
  if (list?.tag !== tag.sequence || rest.length > 0) return undefined
  const [toBeSigned, algorithm, bits, ...more] = elementsOf(list.content) ?? []
  if (toBeSigned?.tag !== tag.sequence || !isOwnAlgorithm(algorithm) || bits?.tag !== tag.bits || more.length > 0) return undefined
  // The first octet counts the bits of the last one that are not used.
  if (bits.content[0] !== 0) return undefined
  const revocations = parseRevocations(toBeSigned.content)
  return revocations && { signed: toBeSigned.whole, signature: bits.content.subarray(1), revocations }
}

const isOwnAlgorithm = (element: Element | undefined): boolean => element?.tag === tag.sequence && element.content.equals(ecdsaWithSha256)

/** version, signature, issuer, thisUpdate, nextUpdate, revokedCertificates where there are any, extensions. */
function parseRevocations(content: Buffer): Revocations | undefined {
  const [version, algorithm, issuer, thisUpdate, nextUpdate, ...rest] = elementsOf(content) ?? []
  if (version?.tag !== tag.integer || !isOwnAlgorithm(algorithm) || issuer?.tag !== tag.sequence) return undefined
  if (!timeOf(thisUpdate) || !timeOf(nextUpdate)) return undefined
  const [revoked] = rest
  if (revoked?.tag !== tag.sequence) return new Map()
  const revocations = new Map<string, Date>()
  for (const entry of elementsOf(revoked.content) ?? [undefined]) {
    const [serial, at] = entry?.tag === tag.sequence ? (elementsOf(entry.content) ?? []) : []
    const time = timeOf(at)
    if (serial?.tag !== tag.integer || serial.content.length === 0 || !time) return undefined
    revocations.set(normalSerial(serial.content.toString('hex')), time)
  }
  return revocations
}

/** RFC 5280, section 4.1.2.5: in seconds and UTC; two digits of a year are of 1950 to 2049. */
function timeOf(element: Element | undefined): Date | undefined {
  const text = element?.content.toString('latin1') ?? ''
  const short = element?.tag === tag.utcTime && /^\d{12}Z$/.test(text)
  const long = element?.tag === tag.generalizedTime && /^\d{14}Z$/.test(text)
  if (!short && !long) return undefined
  const full = short ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text
  const time = new Date(full.replace(/^(....)(..)(..)(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  return Number.isNaN(time.getTime()) ? undefined : time
}

interface Element {
  readonly tag: number
  readonly content: Buffer
  /** With its tag and length. */
  readonly whole: Buffer
}

/** The elements that stand one after another in these octets; undefined where they do not fill them exactly. */
function elementsOf(octets: Buffer): Element[] | undefined {
  const elements: Element[] = []
  for (let at = 0; at < octets.length;) {
    const [tagOctet = 0, first = 0] = octets.subarray(at, at + 2)
    // Up to 0x7f it is the length, else it counts the octets that hold the length.
    const lengthOctets = first < 0x80 ? 0 : first - 0x80
    const start = at + 2 + lengthOctets
    if (first === 0x80 || lengthOctets > 4 || start > octets.length) return undefined
    const length = lengthOctets === 0 ? first : octets.readUIntBE(at + 2, lengthOctets)
    const end = start + length
    if (end > octets.length) return undefined
    elements.push({ tag: tagOctet, content: octets.subarray(start, end), whole: octets.subarray(at, end) })
    at = end
  }
  return elements
}

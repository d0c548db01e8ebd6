// Reads DER, the encoding of certificates and lists (X.690, 8.1 and 10.1), as far as this server writes it: the library for all of ASN.1 is 110 kB,
// which every start would parse.

/** One element: the octet of its tag, what it contains, and all of its octets. */
export interface DerElement {
  readonly tag: number
  readonly content: Uint8Array
  readonly octets: Uint8Array
}

export const derTags = {
  integer: 0x02,
  bitString: 0x03,
  objectIdentifier: 0x06,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
} as const

/** An octet of a length that says how many more follow, and the most that are read: 16 MB. */
const longLength = 0x80
const mostLengthOctets = 3
/** Tags of 31 and more have octets of their own. */
const longTag = 0x1f

/** The elements that these octets are, one after the other; undefined where they are none, or of a form that this server does not write. */
export function readElements(octets: Uint8Array): readonly DerElement[] | undefined {
  const elements: DerElement[] = []
  for (let at = 0; at < octets.length;) {
    const element = elementAt(octets, at)
    if (!element) return undefined
    elements.push(element)
    at += element.octets.length
  }
  return elements
}

function elementAt(octets: Uint8Array, at: number): DerElement | undefined {
  const [tag, first] = [octets[at], octets[at + 1]]
  if (tag === undefined || first === undefined || (tag & longTag) === longTag) return undefined
  const lengthOctets = first < longLength ? 0 : first - longLength
  if (first === longLength || lengthOctets > mostLengthOctets) return undefined
  const contentAt = at + 2 + lengthOctets
  const length = lengthOctets === 0 ? first : octets.subarray(at + 2, contentAt).reduce((sum, octet) => sum * 256 + octet, 0)
  const end = contentAt + length
  if (end > octets.length) return undefined
  return { tag, content: octets.subarray(contentAt, end), octets: octets.subarray(at, end) }
}

/** A time in UTC by seconds, as RFC 5280 (4.1.2.5) has it: with two digits of the year until 2049, with four from 2050. */
export function readTime(element: DerElement | undefined): Date | undefined {
  const text = Buffer.from(element?.content ?? []).toString('latin1')
  const digits = element?.tag === derTags.utcTime ? 12 : element?.tag === derTags.generalizedTime ? 14 : undefined
  if (digits === undefined || !/^\d+Z$/.test(text) || text.length !== digits + 1) return undefined
  const century = digits === 14 ? '' : Number(text.slice(0, 2)) < 50 ? '20' : '19'
  const time = new Date((century + text).replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  return Number.isNaN(time.getTime()) ? undefined : time
}

// A file that browsers and systems import: a certificate with its key, encrypted with a password (PKCS #12, RFC 7292).
import { createCipheriv, createHash, createHmac, createPrivateKey, pbkdf2Sync, randomBytes, X509Certificate } from 'node:crypto'
import {
  type BaseBlock,
  BmpString,
  Constructed,
  Integer,
  Null,
  ObjectIdentifier,
  OctetString,
  Primitive,
  Sequence,
  Set as AsnSet,
} from 'asn1js'

interface Pkcs12Content {
  /** Both PEM. */
  readonly certificate: string
  readonly key: string
  /** PEM: who signed the certificate. */
  readonly authority: string
  /** By which lists of certificates show it. */
  readonly name: string
  readonly password: string
}

// As those of OpenSSL 3, which Windows since 10, Firefox, Chrome and Android read.
const iterations = 100_000
const [keyBytes, blockBytes, saltBytes] = [32, 16, 16]

const oids = {
  data: '1.2.840.113549.1.7.1',
  encryptedData: '1.2.840.113549.1.7.6',
  keyBag: '1.2.840.113549.1.12.10.1.2',
  certificateBag: '1.2.840.113549.1.12.10.1.3',
  x509: '1.2.840.113549.1.9.22.1',
  friendlyName: '1.2.840.113549.1.9.20',
  localKeyId: '1.2.840.113549.1.9.21',
  pbes2: '1.2.840.113549.1.5.13',
  pbkdf2: '1.2.840.113549.1.5.12',
  hmacSha256: '1.2.840.113549.2.9',
  aes256: '2.16.840.1.101.3.4.1.42',
  sha256: '2.16.840.1.101.3.4.2.1',
} as const

/** @returns DER */
export function makePkcs12({ certificate, key, authority, name, password }: Pkcs12Content): Buffer {
  const own = new X509Certificate(certificate)
  // What belongs together has the same one.
  const keyId = createHash('sha1').update(own.raw).digest()
  const attributes = [attribute(oids.friendlyName, new BmpString({ value: name })), attribute(oids.localKeyId, octets(keyId))]
  const pkcs8 = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' })
  const [keyEncryption, keyCipher] = encrypt(pkcs8, password)
  const keyBag = bag(oids.keyBag, sequence(keyEncryption, octets(keyCipher)), attributes)
  const certificateBags = [
    bag(oids.certificateBag, certificateValue(own), attributes),
    bag(oids.certificateBag, certificateValue(new X509Certificate(authority)), []),
  ]
  const [encryption, cipher] = encrypt(der(sequence(...certificateBags)), password)
  const safe = der(sequence(encryptedData(encryption, cipher), data(der(sequence(keyBag)))))
  return der(sequence(new Integer({ value: 3 }), data(safe), macOf(safe, password)))
}

const der = (block: BaseBlock): Buffer => Buffer.from(block.toBER())
const sequence = (...value: BaseBlock[]) => new Sequence({ value })
const oid = (value: string) => new ObjectIdentifier({ value })
const octets = (bytes: Buffer) => new OctetString({ valueHex: Uint8Array.from(bytes).buffer })
const explicit = (value: BaseBlock) => new Constructed({ idBlock: { tagClass: 3, tagNumber: 0 }, value: [value] })

const data = (content: Buffer) => sequence(oid(oids.data), explicit(octets(content)))

function encryptedData(encryption: BaseBlock, cipher: Buffer): BaseBlock {
  const content = new Primitive({ idBlock: { tagClass: 3, tagNumber: 0 }, valueHex: Uint8Array.from(cipher).buffer })
  return sequence(oid(oids.encryptedData), explicit(sequence(new Integer({ value: 0 }), sequence(oid(oids.data), encryption, content))))
}

const certificateValue = ({ raw }: X509Certificate) => sequence(oid(oids.x509), explicit(octets(raw)))
const attribute = (type: string, value: BaseBlock) => sequence(oid(type), new AsnSet({ value: [value] }))

function bag(type: string, value: BaseBlock, attributes: readonly BaseBlock[]): BaseBlock {
  return sequence(oid(type), explicit(value), ...(attributes.length > 0 ? [new AsnSet({ value: [...attributes] })] : []))
}

/** By PBES2 (RFC 8018). @returns the algorithm with its parameters, and what is encrypted */
function encrypt(plain: Uint8Array, password: string): [algorithm: BaseBlock, encrypted: Buffer] {
  const [salt, start] = [randomBytes(saltBytes), randomBytes(blockBytes)]
  const key = pbkdf2Sync(password, salt, iterations, keyBytes, 'sha256')
  const cipher = createCipheriv('aes-256-cbc', key, start)
  const derivation = sequence(
    oid(oids.pbkdf2),
    sequence(octets(salt), new Integer({ value: iterations }), sequence(oid(oids.hmacSha256), new Null())),
  )
  const algorithm = sequence(oid(oids.pbes2), sequence(derivation, sequence(oid(oids.aes256), octets(start))))
  return [algorithm, Buffer.concat([cipher.update(plain), cipher.final()])]
}

function macOf(content: Buffer, password: string): BaseBlock {
  const salt = randomBytes(saltBytes)
  const digest = createHmac('sha256', macKey(password, salt)).update(content).digest()
  return sequence(sequence(sequence(oid(oids.sha256), new Null()), octets(digest)), octets(salt), new Integer({ value: iterations }))
}

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()

/** RFC 7292, appendix B.2 with SHA-256, for a key of one digest. */
function macKey(password: string, salt: Buffer): Buffer {
  const [blockLength, purpose] = [64, 3]
  // Big-endian, with a zero at the end.
  const letters = Buffer.from(`${password}\0`, 'utf16le').swap16()
  let key: Buffer = Buffer.concat([Buffer.alloc(blockLength, purpose), filled(salt, blockLength), filled(letters, blockLength)])
  for (let round = 0; round < iterations; round += 1) key = sha256(key)
  return key
}

/** Repeated until it fills whole blocks. */
function filled(bytes: Buffer, blockLength: number): Buffer {
  return Buffer.alloc(Math.ceil(bytes.length / blockLength) * blockLength, bytes)
}

import { generateKeyPairSync } from 'node:crypto'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { expect } from 'chai'
import fc from 'fast-check'
import {
  decodeBase58,
  encodeBase58,
  curves,
  isWellKnown,
  parseEd25519Key,
  parseSecp256k1Key,
  containsKey,
  looksLikeSecret,
} from '../../../core/keys/curves.ts'
import { createHash } from 'node:crypto'
import { devnetSeeds } from '../../../core/keys/devnet-keys.ts'
import { refusesStrangeKeys, wellKnownMnemonic } from '../strange-keys.ts'

/** A pair that Node made: the seed and the public key, 64 bytes, as wallets export it. */
function newPair(): Buffer {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')])
}

const pair = newPair()
const seed = `0x${pair.subarray(0, 32).toString('hex')}`
const exported = encodeBase58(pair)
const list = JSON.stringify([...pair])

describe('parsing a private key of Solana', () => {
  it('accepts base58, as wallets export it, and the list of solana-keygen, with white space around them', () => {
    for (const text of [exported, ` ${exported}\r\n`, list, `${list}\n`, JSON.stringify([...pair], undefined, 2)])
      expect(parseEd25519Key(text)).to.equal(seed)
  })

  it('refuses the keys of the devnet, which everybody has', () => {
    for (const [index, own] of devnetSeeds.entries()) {
      expect(own).to.equal(`0x${createHash('sha256').update(`sluice devnet wallet ${index}`).digest('hex')}`)
      const address = curves.ed25519.addressOf(own)
      expect(isWellKnown(address)).to.equal(true)
      // Another letter case is another address.
      expect(isWellKnown(address.toLowerCase())).to.equal(false)
      const whole = encodeBase58(Buffer.concat([Buffer.from(own.slice(2), 'hex'), decodeBase58(address, 32) ?? Buffer.alloc(0)]))
      expect(() => parseEd25519Key(whole)).to.throw(/is a wallet of Sluice's devnet/)
    }
  })

  it("derives the same address as Solana's own library", async () => {
    for (let count = 0; count < 20; count += 1) {
      const each = newPair()
      const { address } = await createKeyPairSignerFromBytes(each)
      expect(curves.ed25519.addressOf(parseEd25519Key(encodeBase58(each)))).to.equal(address)
      expect(curves.ed25519.address(address)).to.equal(address)
    }
  })

  const otherHalf = Buffer.concat([pair.subarray(0, 32), newPair().subarray(32)])
  refusesStrangeKeys(parseEd25519Key, [
    ['nothing', ' \n', /Nothing was given/],
    ['an address', encodeBase58(pair.subarray(32)), /an address.*or half of a key/],
    ['a seed in base58', encodeBase58(pair.subarray(0, 32)), /an address.*or half of a key/],
    ['a seed in hexadecimal, or a key of an EVM chain', seed, /key of an EVM chain/],
    ['the same without 0x', seed.slice(2), /key of an EVM chain/],
    ['both halves in hexadecimal', `0x${pair.toString('hex')}`, /This is hexadecimal/],
    ['cut', exported.slice(0, -2), /another length \(8[0-9] characters\)/],
    ['two keys', `${exported}\n${exported}`, /white space/],
    ['two keys without anything between them', exported + exported, /another length/],
    ['mistyped into letters that base58 does not have', `${exported.slice(0, -1)}0`, /0, O, I, l/],
    ['one whose halves do not belong together', encodeBase58(otherHalf), /second half/],
    ['a list whose halves do not belong together', JSON.stringify([...otherHalf]), /second half/],
    ['a list that is cut', list.slice(0, -5), /cannot be read/],
    ['a list of the seed alone', JSON.stringify([...pair.subarray(0, 32)]), /This list has 32/],
    ['a list of something else', JSON.stringify([...pair.subarray(1), 256]), /bytes/],
    ['a list of texts', JSON.stringify([...pair].map(String)), /bytes/],
    ['a seed phrase', wellKnownMnemonic, /seed phrase/],
    ['a keystore file', '{"version":3}', /--keystore-file/],
    ['zeros', JSON.stringify([...new Uint8Array(64)]), /all zeros/],
    ['beyond what the format of the keystore holds', encodeBase58(pairOf('ff'.repeat(32))), /format of the keystore/],
  ])

  it('names Solana where the parser for EVM chains meets such a key', () => {
    for (const text of [exported, list]) expect(() => parseSecp256k1Key(text)).to.throw(/Solana.*--chain/)
  })

  it('recognizes such a key as a secret anywhere in a text', () => {
    for (const text of [exported, list, `[${[...pair].join(', ')}`, seed, pair.toString('hex')]) {
      expect(looksLikeSecret(text), text.slice(0, 4)).to.equal(true)
      expect(containsKey(`error: unknown option '--key=${text}'`), text.slice(0, 4)).to.equal(true)
    }
    for (const text of ['main', curves.ed25519.addressOf(seed), '[1,2,3]', '/home/you/.config/solana/id.json'])
      expect(looksLikeSecret(text) || containsKey(text), text).to.equal(false)
  })
})

describe('base58', () => {
  it('decodes what it encoded, in one spelling and one length only', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const text = encodeBase58(bytes)
        expect(decodeBase58(text, 32)).to.deep.equal(bytes)
        expect(decodeBase58(`1${text}`, 32)).to.equal(undefined)
        expect(decodeBase58(text, 31)).to.equal(undefined)
      }),
    )
    for (const text of ['', ' ', '0', 'l', '1'.repeat(31), '1'.repeat(33), 'z'.repeat(44), 'z'.repeat(10_000)])
      expect(decodeBase58(text, 32), text.slice(0, 40)).to.equal(undefined)
    expect(decodeBase58('1'.repeat(32), 32)).to.deep.equal(new Uint8Array(32))
  })
})

/** A seed, given in hexadecimal, with the public key that belongs to it. */
function pairOf(hex: string): Uint8Array {
  const publicKey = decodeBase58(curves.ed25519.addressOf(`0x${hex}`), 32)
  return Buffer.concat([Buffer.from(hex, 'hex'), publicKey ?? new Uint8Array()])
}

import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { hashBytes, isInTwo, pack, packInTwo, unpack, unpackBoth, unpackFirst, walletNumber } from '../../core/store/compact.ts'

const mixedCase = fc
  .tuple(fc.stringMatching(/^[0-9a-f]{40}$/), fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }))
  .map(([digits, upper]) => `0x${digits.replaceAll(/./g, (digit, index: number) => (upper[index] ? digit.toUpperCase() : digit))}`)

describe('packed texts', () => {
  it('unpack to what they were, whatever addresses are in them in whatever letter case', () => {
    const part = fc.oneof(fc.string({ unit: 'binary' }), mixedCase, fc.constantFrom(' ', '\n', '0x', 'ab', `0x${'A'.repeat(64)}`))
    fc.assert(
      fc.property(fc.array(part, { maxLength: 80 }), (parts) => {
        const text = Buffer.from([...parts, ...parts].join('')).toString()
        expect(unpack(pack(text))).to.equal(text)
      }),
    )
  })

  it('can be read as long as there are stores: the dictionary stays', () => {
    const packed = 'eLvjeVpsc1RwC7S15arG2vZBzgmJSckpqYRThqFSLQC51RUh'
    expect(unpack(Buffer.from(packed, 'base64'))).to.equal('{"state":"CONFIRMED","address":"0xAbCdEf0000000000000000000000000000000001"}')
  })

  it('can be read as long as there are stores: so does the second one', () => {
    const packed = 'eLsx8uOFc1RwC7S15arG2mVATruJSckpqYQLVEOlWgC51RUh'
    expect(unpack(Buffer.from(packed, 'base64'))).to.equal('{"state":"CONFIRMED","address":"0xAbCdEf0000000000000000000000000000000001"}')
  })

  it('fail to unpack where a byte is wrong or missing', () => {
    const packed = pack(readFileSync(new URL('../fixtures/two-hop-trade.json', import.meta.url), 'utf8'))
    for (const index of [0, 3, 20, packed.length - 2]) {
      const damaged = Buffer.from(packed)
      damaged.writeUInt8(damaged.readUInt8(index) ^ 4, index)
      expect(() => unpack(damaged), String(index)).to.throw()
    }
    for (const length of [0, 1, 6, packed.length - 1]) expect(() => unpack(packed.subarray(0, length)), String(length)).to.throw()
  })
})

describe('texts that are packed in two', () => {
  const part = fc.oneof(fc.string({ unit: 'binary' }), mixedCase, fc.constantFrom('0x', `0x${'A'.repeat(64)}`))
  const texts = fc.array(part, { maxLength: 20 }).map((parts) => Buffer.from(parts.join('')).toString())

  it('unpack to what they were, both and the first alone', () => {
    fc.assert(
      fc.property(texts, texts, (first, second) => {
        const packed = packInTwo(first, `${first}${second}`)
        expect(isInTwo(packed)).to.equal(true)
        expect(unpackFirst(packed)).to.equal(first)
        expect(unpackBoth(packed)).to.deep.equal({ first, second: `${first}${second}` })
        expect(unpackBoth(packInTwo(first, ''))).to.deep.equal({ first, second: '' })
        expect(isInTwo(pack(first))).to.equal(false)
      }),
    )
  })

  it('can be read as long as there are stores', () => {
    const packed = 'AgAAAB14uzHy44WrxtpXQE60jknOKa6ES1JDpVoAM5oTRXi7A7j3KXNUcAu0teWCj+ASrxMAqLYNeA=='
    expect(unpackBoth(Buffer.from(packed, 'base64'))).to.deep.equal({
      first: '{"state":"CONFIRMED","address":"0xAbCdEf0000000000000000000000000000000001"}',
      second: '{"to":"0xAbCdEf0000000000000000000000000000000001"}',
    })
  })

  it('can be read by whichever dictionary they name, the second text by the same one', () => {
    // By the first of the dictionaries, as `unpack` knows them.
    const packed = Buffer.from('AgAAAB14u+N5WmyrxtroQc4CjknOKa6Ek4ShUi0AM5oTRXi7/2xuEHNUcAu0teWCD0URrxMAqLYNeA==', 'base64')
    const first = '{"state":"CONFIRMED","address":"0xAbCdEf0000000000000000000000000000000001"}'
    expect(unpackFirst(packed)).to.equal(first)
    expect(unpackBoth(packed)).to.deep.equal({ first, second: '{"to":"0xAbCdEf0000000000000000000000000000000001"}' })
  })

  it('fail to unpack where a byte is wrong or missing', () => {
    const trade = readFileSync(new URL('../fixtures/two-hop-trade.json', import.meta.url), 'utf8')
    const packed = packInTwo(trade.slice(0, 1_000), trade.slice(1_000))
    for (const index of [2, 5, 8, 30, packed.length - 2]) {
      const damaged = Buffer.from(packed)
      damaged.writeUInt8(damaged.readUInt8(index) ^ 4, index)
      expect(() => unpackBoth(damaged), String(index)).to.throw()
    }
    for (const length of [1, 4, 5, 11, 40]) expect(() => unpackFirst(packed.subarray(0, length)), String(length)).to.throw()
    expect(() => unpackBoth(packed.subarray(0, packed.length - 1))).to.throw()
  })
})

/** Addresses in lower case, and before the text which of their letters were none. */
describe('texts that earlier versions packed', () => {
  const read = (name: string): string => readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), 'utf8')
  const packed = JSON.parse(read('packed-before')) as Record<string, string>
  const bytesOf = (name: string): Buffer => Buffer.from(packed[name] ?? '', 'base64')
  const trade = read('two-hop-trade')
  // More than there are marks for.
  const addresses = Array.from({ length: 80 }, (_, index) => `0x${index.toString(16).padStart(39, 'aBcDeF')}F`)
  const many = JSON.stringify([addresses, addresses])
  const digits = 'aBcDeF0123456789aBcDeF0123456789aBcDeF'
  const edges = `0x${digits}00x${digits}0A 0x0x${digits}Aa 0x${digits}AAA 0x${digits}AA 0x${'AB'.repeat(20)} 0x${'ab'.repeat(20)} é\n 0`

  it('unpack to what they were: a trade, more addresses than there are marks, and digits that are none', () => {
    for (const [name, text] of Object.entries({ many, edges, edgesBrief: edges, trade })) expect(unpack(bytesOf(name)), name).to.equal(text)
  })

  it('unpack in two, both and the first alone', () => {
    const texts = { edgesThenMany: [edges, many], manyThenEdges: [many, edges], edgesThenTrade: [edges, trade] }
    for (const [name, [first, second]] of Object.entries(texts)) {
      expect(unpackBoth(bytesOf(name)), name).to.deep.equal({ first, second })
      expect(unpackFirst(bytesOf(name)), name).to.equal(first)
    }
  })
})

describe('bytes of hashes', () => {
  it('differ wherever the texts do', () => {
    const texts = ['0x00', '0x0', '0x', '0x0001', '0xAB', '0xab', '\u0001\u0000', '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnb']
    expect(new Set(texts.map((text) => hashBytes(text).toString('hex'))).size).to.equal(texts.length)
    expect(hashBytes(`0x${'ab'.repeat(32)}`)).to.have.length(33)
  })
})

describe('numbers of wallets', () => {
  it('never change: they stand in the store', () => {
    expect(walletNumber('0x0000000000000000000000000000000000000000')).to.equal(268_410_598)
  })
})

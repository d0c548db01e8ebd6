import { expect } from 'chai'
import { AbiCoder, ParamType, toBeHex } from 'ethers'
import { decoderOf, type DecodedValue } from '../../../core/wallet/calls/abi.ts'
import { randomOf, type Random } from '../../../tools/chaos/random.ts'

const seed = Number(process.env.SLUICE_ABI_SEED ?? Math.floor(Math.random() * 2 ** 31))
/** More by hand. */
const rounds = Number(process.env.SLUICE_ABI_ROUNDS ?? 100)
const coder = AbiCoder.defaultAbiCoder()

/** As the reference has them: addresses with a checksum, lists with names. */
const plain = (value: unknown): DecodedValue =>
  Array.isArray(value) ? value.map(plain) : typeof value === 'string' ? value.toLowerCase() : (value as bigint | boolean)

/** ethers takes encodings that nobody writes; encoded again they are others. */
function byReference(types: readonly ParamType[], digits: string): DecodedValue | undefined {
  try {
    const args = coder.decode(types, `0x${digits}`)
    return coder.encode(types, args) === `0x${digits}` ? plain([...args]) : undefined
  } catch {
    return undefined
  }
}

function anyType(random: Random, depth: number): string {
  const leaves = [
    'address',
    'bool',
    'bytes',
    'bytes32',
    'bytes4',
    'uint256',
    'uint160',
    'uint128',
    'uint48',
    'uint24',
    'uint8',
    'int24',
    'int128',
  ]
  if (depth === 0 || random.chance(0.5)) return random.pick(leaves)
  if (random.chance(0.3)) return `${anyType(random, depth - 1)}[${1 + random.below(3)}]`
  if (random.chance(0.5)) return `${anyType(random, depth - 1)}[]`
  return `tuple(${Array.from({ length: 1 + random.below(3) }, () => anyType(random, depth - 1)).join(',')})`
}

function anyValue(type: ParamType, random: Random): unknown {
  const digits = (bytes: number) => `0x${Array.from({ length: bytes }, () => toBeHex(random.below(256), 1).slice(2)).join('')}`
  if (type.isArray())
    return Array.from({ length: type.arrayLength < 0 ? random.below(4) : type.arrayLength }, () => anyValue(type.arrayChildren, random))
  if (type.isTuple()) return type.components.map((each) => anyValue(each, random))
  const [, name, size] = /^([a-z]+)(\d*)$/.exec(type.type) ?? []
  if (name === 'bool') return random.chance(0.5)
  if (name === 'address') return digits(20)
  if (name === 'bytes') return digits(size === '' ? random.below(70) : Number(size))
  const raw = BigInt(digits(Number(size) / 8))
  return name === 'int' ? BigInt.asIntN(Number(size), raw) : raw
}

/** A digit, a word, or the length is another one. */
function changed(digits: string, random: Random): string {
  const at = random.below(digits.length)
  const start = at - (at % 64)
  const put = (from: number, what: string) => digits.slice(0, from) + what + digits.slice(from + what.length)
  const word = (value: number) => value.toString(16).padStart(64, '0')
  switch (random.below(6)) {
    case 0:
      return put(at, random.below(16).toString(16))
    case 1:
      return put(start, word(32 * random.below(12)))
    case 2:
      return put(start, 'f'.repeat(64))
    case 3:
      return digits.slice(0, start)
    case 4:
      return digits + word(0)
    default:
      return digits.slice(0, at)
  }
}

describe('arguments of calls', () => {
  it(`are decoded where ethers decodes them and encodes the same again, and to the same values (SLUICE_ABI_SEED=${seed})`, () => {
    const random = randomOf(String(seed))
    let same = 0
    let refused = 0
    for (let round = 0; round < rounds; round += 1) {
      const types = Array.from({ length: 1 + random.below(4) }, () => ParamType.from(anyType(random, 3)))
      const decodeArgs = decoderOf(types)
      const values = types.map((type) => anyValue(type, random))
      const usual = coder.encode(types, values).slice(2)
      expect(decodeArgs(usual), types.map((type) => type.format()).join()).to.deep.equal(byReference(types, usual))
      expect(decodeArgs(usual)).to.not.equal(undefined)
      for (let turn = 0; turn < 6; turn += 1) {
        const data = turn < 5 ? changed(usual, random) : changed(changed(usual, random), random)
        const [own, reference] = [decodeArgs(data), byReference(types, data)]
        expect(own, `${types.map((type) => type.format()).join()} ${data}`).to.deep.equal(reference)
        if (own) same += 1
        else refused += 1
      }
    }
    expect(Math.min(same, refused)).to.be.above(rounds / 3)
  })

  it('are not decoded where a length, an offset or a number does not fit, whatever else is right', () => {
    const word = (value: bigint) => value.toString(16).padStart(64, '0')
    const decodes = (type: string, ...words: readonly bigint[]) => decoderOf([ParamType.from(type)])(words.map(word).join('')) !== undefined
    expect(decodes('bool', 1n)).to.equal(true)
    expect(decodes('bool', 2n)).to.equal(false)
    expect(decodes('address', 1n << 160n)).to.equal(false)
    expect(decodes('int24', -(1n << 23n) + (1n << 256n))).to.equal(true)
    expect(decodes('int24', 1n << 23n)).to.equal(false)
    expect(decodes('uint8[]', 32n, 1n, 7n)).to.equal(true)
    for (const words of [
      [64n, 0n, 1n, 7n],
      [32n, 2n, 7n],
      [32n, 0n, 7n],
      [32n, 1n << 250n],
      [(1n << 250n) + 32n, 0n],
      [0n, 0n],
    ])
      expect(decodes('uint8[]', ...words), words.join()).to.equal(false)
    expect(decodes('bytes', 32n, 1n, 1n << 248n)).to.equal(true)
    expect(decodes('bytes', 32n, 1n, (1n << 248n) + 1n)).to.equal(false)
    expect(decoderOf([])('')).to.deep.equal([])
    expect(decoderOf([ParamType.from('bool')])(word(1n).toUpperCase().replace('1', 'A'))).to.equal(undefined)
  })
})

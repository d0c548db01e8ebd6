// Decodes arguments of calls as Solidity's compiler encodes them: https://docs.soliditylang.org/en/latest/abi-spec.html#formal-specification-of-the-encoding
// Whatever is encoded in another way is not decoded: contracts may read it in another way, too. So each part stands where the part before it ends, and
// no part is read twice.
import { ParamType } from 'ethers/abi'

/** Integers are bigint; addresses and bytes are lower-case hexadecimal digits with 0x; arrays and tuples are arrays. */
export type DecodedValue = bigint | boolean | string | readonly DecodedValue[]

/** Of the digits of the arguments, without 0x. Undefined where they are not so encoded. */
export type ArgumentsDecoder = (digits: string) => readonly DecodedValue[] | undefined

export function decoderOf(types: readonly ParamType[]): ArgumentsDecoder {
  const parts = types.map(partOf)
  return (digits) => {
    if (digits.length % word !== 0 || !/^[0-9a-f]*$/.test(digits)) return undefined
    const input: Input = { digits, next: 0 }
    try {
      const args = readAll(parts, input)
      return input.next === digits.length ? args : undefined
    } catch (error) {
      if (error instanceof MalformedError) return undefined
      throw error
    }
  }
}

class MalformedError extends Error {}

/** In digits: 32 bytes. */
const word = 64

interface Input {
  readonly digits: string
  /** Where the next part begins that is not read yet. */
  next: number
}

interface Part {
  /** Of its head. */
  readonly length: number
  /** Its head is where it stands, behind the other heads. */
  readonly isDynamic: boolean
  /** Reads it at `next`. */
  read(input: Input): DecodedValue
}

function wordAt(input: Input): string {
  const end = input.next + word
  if (end > input.digits.length) throw new MalformedError()
  const digits = input.digits.slice(input.next, end)
  input.next = end
  return digits
}

/** Of bytes, elements or an offset: more than fits into the input does not fit into a number, either. */
function smallNumber(input: Input): number {
  const digits = wordAt(input)
  if (!digits.startsWith('0'.repeat(word - 8))) throw new MalformedError()
  return Number.parseInt(digits.slice(-8), 16)
}

/** Heads first, behind them in the same order what is dynamic. */
function readAll(parts: readonly Part[], input: Input): readonly DecodedValue[] {
  const start = input.next
  let tail = start
  for (const { length } of parts) tail += length
  if (tail > input.digits.length) throw new MalformedError()
  const values = parts.map((part) => {
    if (!part.isDynamic) return part.read(input)
    if (smallNumber(input) * 2 !== tail - start) throw new MalformedError()
    const head = input.next
    input.next = tail
    const value = part.read(input)
    tail = input.next
    input.next = head
    return value
  })
  input.next = tail
  return values
}

const valueOf = (read: (digits: string) => DecodedValue): Part => ({ length: word, isDynamic: false, read: (input) => read(wordAt(input)) })

const unsigned = (bits: number): Part => {
  const unused = '0'.repeat(word - bits / 4)
  return valueOf((digits) => {
    if (!digits.startsWith(unused)) throw new MalformedError()
    return BigInt(`0x${digits}`)
  })
}

const signed = (bits: number): Part =>
  valueOf((digits) => {
    const value = BigInt.asIntN(256, BigInt(`0x${digits}`))
    if (BigInt.asIntN(bits, value) !== value) throw new MalformedError()
    return value
  })

const address = valueOf((digits) => {
  if (!digits.startsWith('0'.repeat(24))) throw new MalformedError()
  return `0x${digits.slice(24)}`
})

const bool = valueOf((digits) => {
  if (!digits.startsWith('0'.repeat(word - 1)) || digits > `${'0'.repeat(word - 1)}1`) throw new MalformedError()
  return digits.endsWith('1')
})

const fixedBytes = (bytes: number): Part =>
  valueOf((digits) => {
    if (!digits.endsWith('0'.repeat(word - 2 * bytes))) throw new MalformedError()
    return `0x${digits.slice(0, 2 * bytes)}`
  })

const bytes: Part = {
  length: word,
  isDynamic: true,
  read(input) {
    const length = 2 * smallNumber(input)
    const [start, end] = [input.next, input.next + length]
    const paddedEnd = start + Math.ceil(length / word) * word
    if (paddedEnd > input.digits.length || input.digits.slice(end, paddedEnd) !== '0'.repeat(paddedEnd - end)) throw new MalformedError()
    input.next = paddedEnd
    return `0x${input.digits.slice(start, end)}`
  },
}

function tuple(parts: readonly Part[]): Part {
  const isDynamic = parts.some((each) => each.isDynamic)
  return { length: isDynamic ? word : sumOf(parts), isDynamic, read: (input) => readAll(parts, input) }
}

const sumOf = (parts: readonly Part[]): number => parts.reduce((sum, { length }) => sum + length, 0)

const times = (count: number, element: Part): readonly Part[] => Array.from({ length: count }, () => element)

const array = (element: Part): Part => ({
  length: word,
  isDynamic: true,
  read(input) {
    const count = smallNumber(input)
    if (count * element.length > input.digits.length - input.next) throw new MalformedError()
    return readAll(times(count, element), input)
  },
})

function partOf(type: ParamType): Part {
  if (type.isArray()) {
    const element = partOf(type.arrayChildren)
    return type.arrayLength < 0 ? array(element) : tuple(times(type.arrayLength, element))
  }
  if (type.isTuple()) return tuple(type.components.map(partOf))
  const [, name = '', size = ''] = /^([a-z]+)(\d*)$/.exec(type.baseType) ?? []
  if (name === 'uint') return unsigned(Number(size))
  if (name === 'int') return signed(Number(size))
  if (name === 'address') return address
  if (name === 'bool') return bool
  if (name === 'bytes') return size === '' ? bytes : fixedBytes(Number(size))
  throw new Error(`the type ${type.type} has no decoder`)
}

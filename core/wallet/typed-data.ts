// The digest of typed data (EIP-712), of what its message itself has, and within a bound of work: how long a hostile request takes is not its own affair,
// as the process with the keys signs for all.
import { TypedDataEncoder } from 'ethers/hash'
import { isObject } from '../base/json.ts'
import { Refusal } from './policy.ts'
import type { TypedData } from './signer-messages.ts'

/** Exchanges have one or two. The time in which ethers reads them doubles with each that names several others. */
const maxStructs = 12
/** Of a message: fields and elements. */
const maxValues = 10_000
/** Of numbers, addresses and bytes of a fixed length. */
const maxDigits = 128

type Structs = TypedData['types']

/** @param kind for people @throws Refusal */
export function digestOf({ domain, types, primaryType, message }: TypedData, kind: string): string {
  // ethers derives the domain's type itself and would take a given one for a second primary type.
  const { EIP712Domain: _, ...structs } = types
  const count = Object.keys(structs).length
  if (count > maxStructs) throw new Refusal(`typed data ${kind} has ${count} types, and ${maxStructs} are signed at most`)
  let digest: string
  let encodedType: string
  try {
    encodedType = TypedDataEncoder.from(structs).primaryType
    requireOwnValues(structs, encodedType, message)
    digest = TypedDataEncoder.hash(domain, structs, message)
  } catch {
    throw new Refusal(`typed data ${kind} does not match its own types`)
  }
  // The digest covers the root of the types, whatever the request names as its primary type.
  if (encodedType !== primaryType) throw new Refusal(`typed data says ${primaryType}, and its types make it ${encodedType}`)
  return digest
}

/**
 * ethers would take a field from the prototype of a value, too: `constructor` is an object with such fields again, without end.
 * @param structs of which none contains itself
 * @throws Error where the message lacks a value, or has too many
 */
function requireOwnValues(structs: Structs, primaryType: string, message: unknown): void {
  let left = maxValues
  function visit(type: string, value: unknown): void {
    left -= 1
    if (left < 0) throw new Error('too many values')
    const [, element] = /^(.*)\[\d*\]$/s.exec(type) ?? []
    if (element !== undefined) {
      if (!Array.isArray(value)) throw new Error(`no list of ${element}`)
      for (const each of value) visit(element, each)
      return
    }
    if (!Object.hasOwn(structs, type)) {
      const isLong = typeof value === 'string' && value.length > maxDigits
      if (isLong && type !== 'string' && type !== 'bytes') throw new Error(`no value of ${type}`)
      return
    }
    for (const field of structs[type] ?? []) {
      if (!isObject(value) || !Object.hasOwn(value, field.name)) throw new Error(`no field ${field.name}`)
      visit(field.type, value[field.name])
    }
  }
  visit(primaryType, message)
}

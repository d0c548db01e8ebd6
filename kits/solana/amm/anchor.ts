import { createHash } from 'node:crypto'
import { addressFrom } from '../addresses.ts'
import type { SolanaAccount } from '../types.ts'

/** The eight bytes that Anchor puts before an account's data and an instruction's arguments: https://www.anchor-lang.com/docs/basics/program-structure */
export function discriminatorOf(space: 'account' | 'global', name: string): Uint8Array {
  return Uint8Array.from(createHash('sha256').update(`${space}:${name}`).digest().subarray(0, 8))
}

interface AccountForm {
  /** The program that has to own it. */
  program: string
  discriminator: Uint8Array
  /** Bytes, the discriminator with them. */
  length: number
}

/** What is read of an account, once for each object: the same account comes again with each change of others of its pool. */
export function oncePerAccount<T>(read: (account: SolanaAccount) => T): (account: SolanaAccount | undefined) => T | undefined {
  const known = new WeakMap<SolanaAccount, { readonly made: T }>()
  return (account) => {
    if (!account) return undefined
    const found = known.get(account) ?? { made: read(account) }
    known.set(account, found)
    return found.made
  }
}

/** Reads fields at their places. */
export interface FieldReader {
  u8(at: number): number
  u16(at: number): number
  u32(at: number): number
  u64(at: number): bigint
  i64(at: number): bigint
  u128(at: number): bigint
  address(at: number): string
}

/** Undefined where the account is not there, another program's, another kind of account or of another length: no part of it is read then. */
export function readFields(account: SolanaAccount | undefined, form: AccountForm): FieldReader | undefined {
  if (!account || account.owner !== form.program || account.data.length !== form.length) return undefined
  if (!form.discriminator.every((byte, at) => account.data[at] === byte)) return undefined
  return fieldsOf(account.data)
}

export function fieldsOf(data: Uint8Array): FieldReader {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  return {
    u8: (at) => view.getUint8(at),
    u16: (at) => view.getUint16(at, true),
    u32: (at) => view.getUint32(at, true),
    u64: (at) => view.getBigUint64(at, true),
    i64: (at) => view.getBigInt64(at, true),
    u128: (at) => view.getBigUint64(at, true) | (view.getBigUint64(at + 8, true) << 64n),
    address: (at) => addressFrom(data.subarray(at, at + 32)),
  }
}

/** The data of an instruction with two amounts. */
export function amountsData(discriminator: Uint8Array, first: bigint, second: bigint): Uint8Array {
  const data = new Uint8Array(discriminator.length + 16)
  data.set(discriminator)
  const view = new DataView(data.buffer)
  view.setBigUint64(discriminator.length, first, true)
  view.setBigUint64(discriminator.length + 8, second, true)
  return data
}

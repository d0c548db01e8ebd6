import { getBase58Encoder } from '@solana/kit'
import { COMPUTE_BUDGET_PROGRAM_ADDRESS, ComputeBudgetInstruction, identifyComputeBudgetInstruction } from '@solana-program/compute-budget'
import { SYSTEM_PROGRAM_ADDRESS, SystemInstruction, identifySystemInstruction } from '@solana-program/system'
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  AssociatedTokenInstruction,
  TokenInstruction,
  identifyAssociatedTokenInstruction,
  identifyTokenInstruction,
} from '@solana-program/token'
import { isObject } from '../../nodes/is-object.ts'
import { numberOf } from '../rpc/json.ts'
import { token2022Program, tokenProgram } from '../../../../kits/solana/tokens.ts'

/** One that was carried out. `data` in base58, as nodes give it. */
export type Executed = { readonly program: string; readonly data: string }

interface KnownProgram {
  name: string
  /** Of an instruction; throws for one that it does not know. */
  nameOf(data: Uint8Array): string | undefined
}

const token = (name: string): KnownProgram => ({ name, nameOf: (data) => TokenInstruction[identifyTokenInstruction(data)] })

/** Extensions of Token-2022 have instructions of their own, which stay without a name. */
export const knownPrograms: ReadonlyMap<string, KnownProgram> = new Map([
  [tokenProgram, token('Token')],
  [token2022Program, token('Token-2022')],
  [SYSTEM_PROGRAM_ADDRESS, { name: 'System', nameOf: (data) => SystemInstruction[identifySystemInstruction(data)] }],
  [
    COMPUTE_BUDGET_PROGRAM_ADDRESS,
    { name: 'Compute Budget', nameOf: (data) => ComputeBudgetInstruction[identifyComputeBudgetInstruction(data)] },
  ],
  [
    ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
    { name: 'Associated Token Account', nameOf: (data) => AssociatedTokenInstruction[identifyAssociatedTokenInstruction(data)] },
  ],
])

export function instructionName({ program, data }: Executed): string | undefined {
  try {
    return knownPrograms.get(program)?.nameOf(Uint8Array.from(getBase58Encoder().encode(data)))
  } catch {
    // What the program is told in another way than all know: it stays as it is.
    return undefined
  }
}

/** All instructions in the order in which they began: each of the transaction, then what it called. */
export function executedIn(message: unknown, meta: Record<string, unknown>): readonly Executed[] {
  const { accountKeys, instructions } = isObject(message) ? message : {}
  const loaded = isObject(meta['loadedAddresses']) ? meta['loadedAddresses'] : {}
  const keys = [accountKeys, loaded['writable'], loaded['readonly']].flatMap(listOf)
  const called = new Map(
    listOf(meta['innerInstructions']).map((each) =>
      isObject(each) ? [numberOf(each['index']), listOf(each['instructions'])] : [undefined, []],
    ),
  )
  return listOf(instructions)
    .flatMap((each, index) => [each, ...(called.get(index) ?? [])])
    .map((each) => readInstruction(each, keys))
}

function readInstruction(raw: unknown, keys: readonly unknown[]): Executed {
  const { programIdIndex, data } = isObject(raw) ? raw : {}
  const program = keys[numberOf(programIdIndex) ?? -1]
  return { program: typeof program === 'string' ? program : '', data: typeof data === 'string' ? data : '' }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

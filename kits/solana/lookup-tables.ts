// Address lookup tables: https://solana.com/docs/core/transactions/versioned-transactions and solana-address-lookup-table-interface, state.rs.
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { COMPUTE_BUDGET_PROGRAM_ADDRESS } from '@solana-program/compute-budget'
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { AccountRole, address, getAddressDecoder, type AccountLookupMeta, type AccountMeta, type Instruction } from '@solana/kit'
import { token2022Program, tokenProgram } from './tokens.ts'
import { toKit, type SolanaAccount, type SolanaInstruction, type SolanaIntent } from './types.ts'

const lookupTableProgram = 'AddressLookupTab1e1111111111111111111111111'
export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

/** LOOKUP_TABLE_META_SIZE: the addresses follow it. */
const metaSize = 56
const kindOfTable = 1
const addressSize = 32
const deactivatedAt = 4
const active = 2n ** 64n - 1n

/** The signer holds what these are asked for against the wallet: their accounts have to stand in the bytes. */
const staticPrograms: ReadonlySet<string> = new Set([
  SYSTEM_PROGRAM_ADDRESS,
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  tokenProgram,
  token2022Program,
  memoProgram,
])

interface Place {
  readonly table: string
  readonly index: number
}

/** Where each account stands that the step's message takes from a table: none that signs, pays, is called, is the wallet's, or that the signer has to read. */
function placesOf({ payer, instructions, tables = [], own = [] }: SolanaIntent): ReadonlyMap<string, Place> {
  const inBytes = new Set([payer, ...own, ...instructions.flatMap(staticAccounts)])
  const used = new Set(instructions.flatMap(({ accounts }) => accounts.map((each) => each.address)).filter((each) => !inBytes.has(each)))
  const places = new Map<string, Place>()
  for (const { address: table, addresses } of tables)
    for (const [index, each] of addresses.entries()) if (used.has(each) && !places.has(each)) places.set(each, { table, index })
  return places
}

const staticAccounts = ({ program, accounts }: SolanaInstruction): readonly string[] => [
  program,
  ...accounts.flatMap((each) => (each.signer || staticPrograms.has(program) ? each.address : [])),
]

/** The step's instructions for a message with its tables. */
export function withTables(step: SolanaIntent): readonly Instruction[] {
  const places = placesOf(step)
  return step.instructions.map(toKit).map((instruction) => ({
    ...instruction,
    accounts: instruction.accounts?.map((each) => inTable(each, places.get(each.address))) ?? [],
  }))
}

function inTable(account: AccountMeta | AccountLookupMeta, place: Place | undefined): AccountMeta | AccountLookupMeta {
  if (!place) return account
  const role = account.role === AccountRole.WRITABLE ? AccountRole.WRITABLE : AccountRole.READONLY
  return { address: account.address, role, lookupTableAddress: address(place.table), addressIndex: place.index }
}

/** Undefined where the account is no table, or one that is being closed. */
export function readLookupTable(account: SolanaAccount | undefined): readonly string[] | undefined {
  if (account?.owner !== lookupTableProgram) return undefined
  const { data } = account
  if (data.length < metaSize || (data.length - metaSize) % addressSize !== 0) return undefined
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  if (view.getUint32(0, true) !== kindOfTable || view.getBigUint64(deactivatedAt, true) !== active) return undefined
  const decoder = getAddressDecoder()
  const count = (data.length - metaSize) / addressSize
  return Array.from({ length: count }, (_, index) => decoder.decode(data, metaSize + index * addressSize))
}

/**
 * Why the message would take other accounts than the step was planned with. What an active table has can be added to and never changed, and
 * nobody makes a second one at its address (processor.rs): so what holds before signing holds in every later block.
 * @param accounts the accounts of its tables, in their order
 */
export function changedTable(step: SolanaIntent, accounts: readonly (SolanaAccount | undefined)[]): string | undefined {
  const places = [...placesOf(step)]
  for (const [position, { address: table }] of (step.tables ?? []).entries()) {
    const used = places.filter(([, place]) => place.table === table)
    const now = used.length === 0 ? [] : readLookupTable(accounts[position])
    if (!now) return `its lookup table ${table} is not there, or deactivated`
    const other = used.find(([account, { index }]) => now[index] !== account)
    if (other) return `its lookup table ${table} has ${now[other[1].index] ?? 'nothing'} in place ${other[1].index}, and not ${other[0]}`
  }
  return undefined
}

// Accounts that a message takes from lookup tables, by the rules of the runtime. Source: solana-address-lookup-table-interface,
// state.rs (AddressLookupTable, LookupTableMeta), and agave, accounts-db/src/accounts.rs, load_lookup_table_addresses.
import { address, getAddressDecoder, getAddressEncoder, lamports, type Address, type EncodedAccount } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import type { Message } from './read-wire.ts'

/** In the order in which instructions count them: behind the accounts of the message. */
export interface LoadedAccounts {
  readonly writable: readonly Address[]
  readonly readonly: readonly Address[]
}

export const noneLoaded: LoadedAccounts = { writable: [], readonly: [] }

/** solana-sdk-ids, address_lookup_table. */
export const lookupTableProgram = address('AddressLookupTab1e1111111111111111111111111')

/** LOOKUP_TABLE_META_SIZE. Addresses follow it. */
const metaSize = 56
const [kindAt, deactivatedAt, extendedAt, extendedFromAt, hasAuthorityAt] = [0, 4, 12, 20, 21]
const kindOfTable = 1
const never = 2n ** 64n - 1n
/** solana-slot-hashes, MAX_ENTRIES. */
const rememberedSlots = 512

export interface LookupTable {
  /** `never` while it is active. */
  deactivationSlot: bigint
  lastExtendedSlot: bigint
  /** Where the addresses begin that came in that slot. */
  lastExtendedFrom: number
  addresses: readonly Address[]
}

/**
 * What a message's tables give in the slot of the runtime's clock; the error's name where the runtime does not load them.
 * @param slots of the newest blocks: a table that is being deactivated is usable while its slot is among them
 */
export function loadTables(svm: LiteSVM, message: Message, slots: () => readonly bigint[]): LoadedAccounts | string {
  const lookups = message.version === 0 ? (message.addressTableLookups ?? []) : []
  if (lookups.length === 0) return noneLoaded
  const recent = slots().slice(-rememberedSlots)
  const { slot } = svm.getClock()
  svm.setSlotHashes(recent.toReversed().map((each) => ({ slot: each, hash: svm.latestBlockhash() })))
  const [writable, readonly]: [Address[], Address[]] = [[], []]
  for (const { lookupTableAddress, writableIndexes, readonlyIndexes } of lookups) {
    const table = readTable(svm, lookupTableAddress)
    if (typeof table === 'string') return table
    if (!isUsable(table, slot, recent)) return 'AddressLookupTableNotFound'
    const usable = table.lastExtendedSlot < slot ? table.addresses : table.addresses.slice(0, table.lastExtendedFrom)
    for (const [indexes, into] of [[writableIndexes, writable] as const, [readonlyIndexes, readonly] as const])
      for (const index of indexes) {
        const found = usable[index]
        if (found === undefined) return 'InvalidAddressLookupTableIndex'
        into.push(found)
      }
  }
  const all = [...message.staticAccounts, ...writable, ...readonly]
  return new Set(all).size === all.length ? { writable, readonly } : 'AccountLoadedTwice'
}

const isUsable = ({ deactivationSlot }: LookupTable, slot: bigint, recent: readonly bigint[]): boolean =>
  deactivationSlot === never || deactivationSlot === slot || recent.includes(deactivationSlot)

function readTable(svm: LiteSVM, at: Address): LookupTable | string {
  const account = svm.getAccount(at)
  if (!account.exists) return 'AddressLookupTableNotFound'
  if (account.programAddress !== lookupTableProgram) return 'InvalidAddressLookupTableOwner'
  const data = Uint8Array.from(account.data)
  const view = new DataView(data.buffer)
  const isTable = data.length >= metaSize && (data.length - metaSize) % 32 === 0 && view.getUint32(kindAt, true) === kindOfTable
  if (!isTable) return 'InvalidAddressLookupTableData'
  const decoder = getAddressDecoder()
  return {
    deactivationSlot: view.getBigUint64(deactivatedAt, true),
    lastExtendedSlot: view.getBigUint64(extendedAt, true),
    lastExtendedFrom: view.getUint8(extendedFromAt),
    addresses: Array.from({ length: (data.length - metaSize) / 32 }, (_, index) => decoder.decode(data, metaSize + index * 32)),
  }
}

/** A table as its program keeps it. For tests: no transaction makes it, so no reorganisation takes it back. */
export function lookupTableAccount(
  at: Address,
  addresses: readonly Address[],
  { deactivationSlot = never, lastExtendedSlot = 0n, lastExtendedFrom = 0 }: Partial<Omit<LookupTable, 'addresses'>> = {},
): EncodedAccount {
  const data = new Uint8Array(metaSize + addresses.length * 32)
  const view = new DataView(data.buffer)
  view.setUint32(kindAt, kindOfTable, true)
  view.setBigUint64(deactivatedAt, deactivationSlot, true)
  view.setBigUint64(extendedAt, lastExtendedSlot, true)
  view.setUint8(extendedFromAt, lastExtendedFrom)
  // Without an authority nobody changes it any more.
  view.setUint8(hasAuthorityAt, 0)
  for (const [index, each] of addresses.entries()) data.set(getAddressEncoder().encode(each), metaSize + index * 32)
  return {
    address: at,
    data,
    executable: false,
    lamports: lamports(10n ** 9n),
    programAddress: lookupTableProgram,
    space: BigInt(data.length),
  }
}

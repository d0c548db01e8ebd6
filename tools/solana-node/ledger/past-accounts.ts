import { lamports, type Address, type EncodedAccount } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import type { LiteSVM } from 'litesvm'
import type { Block } from './block.ts'

/** Accounts as they were; undefined where there was none. */
export type Accounts = ReadonlyMap<Address, EncodedAccount | undefined>

/** What the newest blocks changed, as it was before the first of them. */
export function accountsBefore(newest: readonly Block[]): Accounts {
  const before = new Map<Address, EncodedAccount | undefined>()
  for (const block of newest.toReversed()) for (const [address, account] of block.before) before.set(address, account)
  return before
}

export function accountOf(svm: LiteSVM, address: Address): EncodedAccount | undefined {
  const account = svm.getAccount(address)
  return account.exists ? account : undefined
}

export function setAccounts(svm: LiteSVM, accounts: Accounts): void {
  for (const [address, account] of accounts) svm.setAccount(account ?? none(address))
}

/** What is read while these accounts are as they were. Nothing that happens on the way stays. */
export function whileSet<T>(svm: LiteSVM, accounts: Accounts, read: (svm: LiteSVM) => T): T {
  const now = new Map([...accounts.keys()].map((address) => [address, accountOf(svm, address)]))
  try {
    setAccounts(svm, accounts)
    return read(svm)
  } finally {
    setAccounts(svm, now)
  }
}

/** What LiteSVM takes for no account. */
const none = (address: Address): EncodedAccount => ({
  address,
  lamports: lamports(0n),
  data: new Uint8Array(),
  executable: false,
  programAddress: SYSTEM_PROGRAM_ADDRESS,
  space: 0n,
})

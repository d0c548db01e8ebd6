// What an endpoint for private transactions wants to be paid: a transfer to one of its accounts, in the same transaction. Without it, it passes nothing on.
import { getTransferSolInstruction, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { address, createNoopSigner, getBase58Encoder, type Instruction } from '@solana/kit'
import { isObject } from '../../core/base/json.ts'
import { createBoundedCache } from '../nodes/rails.ts'
import type { SolanaTipSetting } from './network.ts'
import { numberOf } from './rpc.ts'

/** Lamports as a decimal string. */
export type SolanaTip = { readonly account: string; readonly lamports: string }

/** One account after the other: who writes the same account waits for one another. Undefined where the operator set none. */
export function createTips(setting: SolanaTipSetting | undefined): () => SolanaTip | undefined {
  let turn = 0
  return () => {
    const account = setting?.accounts[turn % setting.accounts.length]
    turn += 1
    return setting && account !== undefined ? { account, lamports: String(setting.lamports) } : undefined
  }
}

/** The accounts to which a transfer is a tip. */
export interface TipAccounts {
  /** In this transaction. */
  of(id: string): ReadonlySet<string>
  /** It was signed with a tip to that one, whatever is set now. */
  note(id: string, account: string): void
}

export function createTipAccounts(configured: readonly string[] = []): TipAccounts {
  const always = new Set(configured)
  const signed = createBoundedCache<string>()
  return {
    of(id) {
      const account = signed.get(id)
      return account === undefined || always.has(account) ? always : new Set([...always, account])
    },
    note: (id, account) => void (always.has(account) || signed.set(id, account)),
  }
}

export const tipRawOf = (tip: SolanaTip | undefined): bigint => BigInt(tip?.lamports ?? 0)

/** The last instruction of the transaction. Its account stands in the bytes, in no lookup table: endpoints look for it there, and the signer does. */
export const tipInstruction = (wallet: string, { account, lamports }: SolanaTip): Instruction =>
  getTransferSolInstruction({ source: createNoopSigner(address(wallet)), destination: address(account), amount: BigInt(lamports) })

/**
 * Lamports that a mined transaction gave as tips: it is no part of the fee of its receipt.
 * @param keys the accounts of the transaction, the one that pays first
 */
export function tipIn(message: unknown, keys: readonly unknown[], accounts: ReadonlySet<string>): bigint {
  const instructions = isObject(message) && Array.isArray(message['instructions']) ? message['instructions'] : []
  return instructions.reduce((sum: bigint, each: unknown) => sum + transferIn(each, keys, accounts), 0n)
}

function transferIn(raw: unknown, keys: readonly unknown[], accounts: ReadonlySet<string>): bigint {
  const { programIdIndex, accounts: used, data } = isObject(raw) ? raw : {}
  const [from, to] = Array.isArray(used) ? used.map((each) => keys[numberOf(each) ?? -1]) : []
  const isTransfer = keys[numberOf(programIdIndex) ?? -1] === SYSTEM_PROGRAM_ADDRESS && from === keys[0]
  if (!isTransfer || typeof to !== 'string' || !accounts.has(to) || typeof data !== 'string') return 0n
  const bytes = bytesOf(data)
  return bytes.length === transferBytes && bytes.readUInt32LE(0) === transferSol ? bytes.readBigUInt64LE(4) : 0n
}

/** Of the System program: its number in u32, and the lamports in u64 behind it. solana-system-interface, instruction.rs */
const [transferSol, transferBytes] = [2, 12]

function bytesOf(data: string): Buffer {
  try {
    return Buffer.from(Uint8Array.from(getBase58Encoder().encode(data)))
  } catch {
    // It is not base58, so it is not the answer of a node that works.
    return Buffer.alloc(0)
  }
}

import {
  AccountState,
  TOKEN_PROGRAM_ADDRESS,
  getMintDecoder,
  getMintSize,
  getTokenDecoder,
  getTokenSize,
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
} from '@solana-program/token'
import { address, createNoopSigner } from '@solana/kit'
import { SluiceError, type At, type Token, type AltchainVerbs } from '../../core/contracts/index.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { tryDecode, accountsCalls, readAccounts } from './accounts.ts'
import { confirmed, integerOf } from './rpc.ts'
import { type SolanaAccount, fromKit, type Solana, type SolanaInstruction } from './types.ts'

/** Token-2022, also called Token Extensions: https://solana.com/docs/tokens/extensions. @solana-program/token-2022 has it too. */
export const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
export const tokenProgram: string = TOKEN_PROGRAM_ADDRESS
/** The programs that own mints and token accounts. */
export const tokenPrograms: readonly string[] = [tokenProgram, token2022Program]

/**
 * Accounts with extensions are as long as a token account, then this byte says what they are, then the extensions follow:
 * token-2022 `extension/mod.rs`, BASE_ACCOUNT_LENGTH and AccountType.
 */
const kindAt = getTokenSize()
const kinds = { mint: 1, account: 2 } as const

/**
 * How accounts are asked for that may be mints or of tokens, by whatever address a caller gives: there are accounts of ten megabytes. What a
 * mint asks of its accounts comes before what is added to it later, of any length, and is far shorter than this.
 */
export const tokenOptions = { ...confirmed, dataSlice: { offset: 0, length: 2_048 } } as const

export interface Mint {
  decimals: number
  /** The program that owns it. */
  program: string
  /** With its extensions. */
  data: Uint8Array
}

/** Undefined where the account is not an initialized mint. */
export function readMint(account: SolanaAccount | undefined): Mint | undefined {
  if (!account || !isOfKind(account, 'mint', getMintSize())) return undefined
  const mint = tryDecode(getMintDecoder(), account.data.subarray(0, getMintSize()))
  return mint?.isInitialized ? { decimals: mint.decimals, program: account.owner, data: account.data } : undefined
}

/** The balance of a token account. Undefined where it is none, of another mint, or of another owner: an owner may give an account away. */
export function heldIn(account: SolanaAccount | undefined, of: { mint: string; owner: string }): bigint | undefined {
  if (!account || !isOfKind(account, 'account', getTokenSize())) return undefined
  const held = tryDecode(getTokenDecoder(), account.data.subarray(0, getTokenSize()))
  if (!held || held.state === AccountState.Uninitialized) return undefined
  return held.mint === of.mint && held.owner === of.owner ? held.amount : undefined
}

function isOfKind({ owner, data }: SolanaAccount, kind: keyof typeof kinds, size: number): boolean {
  if (!tokenPrograms.includes(owner)) return false
  return data.length === size || (owner === token2022Program && data.length > kindAt && data[kindAt] === kinds[kind])
}

type AssociatedAddresses = ReturnType<typeof createAssociatedAddresses>

/** The accounts to read for the balance of a token, the mint first. */
export const holdingAccounts = async (associated: AssociatedAddresses, owner: string, mint: string): Promise<readonly string[]> => [
  mint,
  ...(await associated(owner, mint)),
]
export const accountsPerHolding = 1 + tokenPrograms.length

/** The balance of the wallet's associated account. Undefined where the token is not a mint. */
export function holdingIn([mint, ...held]: readonly (SolanaAccount | undefined)[], owner: string, token: string): bigint | undefined {
  const read = readMint(mint)
  return read && (heldIn(held[tokenPrograms.indexOf(read.program)], { mint: token, owner }) ?? 0n)
}

/** Native and token balances, in one round trip. Undefined of a token that is not a mint: a balance of 0 would be wrong. */
export async function readBalances(
  rpc: Rpc,
  associated: AssociatedAddresses,
  owner: string,
  tokens: readonly Token[],
  at: At,
): Promise<readonly (bigint | undefined)[]> {
  if (tokens.length === 0) return []
  const wanted = await Promise.all(
    tokens.map(async ({ native, address }) => (native ? [owner] : holdingAccounts(associated, owner, address))),
  )
  const answers = await rpc.batch(accountsCalls(wanted.flat(), tokenOptions), at)
  const { accounts } = readAccounts(rpc, answers)
  let next = 0
  return tokens.map((token, index) => {
    const own = accounts.slice(next, (next += wanted[index]?.length ?? 0))
    if (token.native) return own[0]?.lamportsRaw ?? 0n
    return holdingIn(own, owner, token.address)
  })
}

/** @throws SluiceError TOKEN_NOT_SUPPORTED */
export function noMint({ symbol, address }: Pick<Token, 'symbol' | 'address'>): never {
  throw new SluiceError('TOKEN_NOT_SUPPORTED', `${symbol} at ${address} is not the mint of a token on this network: check its address.`)
}

const maxCached = 10_000

/** Where a wallet's account for a mint is, under each of the token programs in their order. Only that of the mint's own program can be there. */
export function createAssociatedAddresses(): (owner: string, mint: string) => Promise<readonly string[]> {
  const known = new Map<string, readonly string[]>()
  return async (owner, mint) => {
    const name = `${owner}/${mint}`
    const found = known.get(name)
    if (found) return found
    const addresses = await Promise.all(tokenPrograms.map((program) => associatedAddress(owner, mint, program)))
    if (known.size >= maxCached) known.clear()
    known.set(name, addresses)
    return addresses
  }
}

/** Where a wallet's account for a mint of that program is. Derived, so it takes a while: a third of a millisecond. */
export async function associatedAddress(owner: string, mint: string, program: string): Promise<string> {
  const [found] = await findAssociatedTokenPda({ owner: address(owner), mint: address(mint), tokenProgram: address(program) })
  return found
}

/** Undefined where the address is not a mint. */
async function readMintAt(rpc: Rpc, address: string, at: At): Promise<Mint | undefined> {
  const { accounts } = readAccounts(rpc, await rpc.batch(accountsCalls([address], tokenOptions), at))
  return readMint(accounts[0])
}

/** A mint says its decimals; what people call it stands elsewhere, where whoever made it wrote what he liked: its address is its symbol. */
export async function readToken(rpc: Rpc, address: string, at: At): Promise<Token | undefined> {
  const mint = await readMintAt(rpc, address, at)
  return mint && { symbol: address, address, decimals: mint.decimals }
}

/** What an account pays for beside its data: agave `rent`, ACCOUNT_STORAGE_OVERHEAD. */
export const overhead = 128n
/** Type and length before each extension, two bytes each; the first comes after the base and the byte that says what the account is. */
const entryHead = 4
const firstEntryAt = getTokenSize() + 1

/**
 * Extensions of a mint that ask for one in every account of it, by their numbers, and its length: token-2022
 * `extension/mod.rs`, ExtensionType and get_required_init_account_extensions.
 */
const inAccounts: ReadonlyMap<number, number> = new Map([
  // TransferFeeConfig → TransferFeeAmount
  [1, 8],
  // NonTransferable → NonTransferableAccount
  [9, 0],
  // TransferHook → TransferHookAccount
  [14, 1],
  // Pausable → PausableAccount
  [26, 0],
])
/** Every associated account of Token-2022 has ImmutableOwner, which is empty. */
const immutableOwner = 0

/** Bytes of an associated account of that mint. */
export function associatedSize({ program, data }: Pick<Mint, 'program' | 'data'>): number {
  if (program !== token2022Program) return getTokenSize()
  const lengths = [immutableOwner, ...extensionsOf(data).flatMap((type) => inAccounts.get(type) ?? [])]
  return lengths.reduce((size, length) => size + entryHead + length, firstEntryAt)
}

/** Lamports that an account of so many bytes keeps, given what an empty one does: they are in proportion. */
export function rentOf(size: number, emptyRaw: bigint): bigint {
  return (emptyRaw * (overhead + BigInt(size))) / overhead
}

function extensionsOf(data: Uint8Array): readonly number[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const types: number[] = []
  for (let at = firstEntryAt; at + entryHead <= data.length; at += entryHead + view.getUint16(at + 2, true)) {
    const type = view.getUint16(at, true)
    // Only zeros follow.
    if (type === 0) break
    types.push(type)
  }
  return types
}

/** The wallet's associated account, under the program of the mint: made where there is none. One round trip. */
export function createTokenAccounts(
  rpc: Rpc,
  associated: ReturnType<typeof createAssociatedAddresses>,
): AltchainVerbs<Solana>['createToken'] {
  return async function createToken(owner: string, token: Token, at: At) {
    const addresses = await holdingAccounts(associated, owner, token.address)
    const calls = [{ method: 'getMinimumBalanceForRentExemption', params: [0] }, ...accountsCalls(addresses, tokenOptions)]
    const [empty, ...answers] = await rpc.batch(calls, at)
    const emptyRaw = integerOf(resultOf(rpc, 'getMinimumBalanceForRentExemption', empty))
    if (emptyRaw === undefined) throw invalidAnswer(rpc, 'did not tell the rent')
    const [mintAccount, ...accounts] = readAccounts(rpc, answers).accounts
    const mint = readMint(mintAccount) ?? noMint(token)
    const which = tokenPrograms.indexOf(mint.program)
    const [, ...places] = addresses
    const account = places[which] ?? noMint(token)
    const there = accounts[which]
    if (heldIn(there, { mint: token.address, owner }) !== undefined) return { exists: account }

    const rentRaw = rentOf(associatedSize(mint), emptyRaw)
    // The address may hold lamports already: anybody can send some.
    const missingRaw = rentRaw - (there?.lamportsRaw ?? 0n)
    const step = {
      payer: owner,
      instructions: [creation(owner, account, token.address, mint.program)],
      value: '0',
      rent: String(missingRaw > 0n ? missingRaw : 0n),
    }
    return { plan: { steps: [step], needs: [], memo: null }, account }
  }
}

/** Idempotent, so that it succeeds even if the account was created in the meantime. */
export function creation(owner: string, account: string, mint: string, program: string): SolanaInstruction {
  return fromKit(
    getCreateAssociatedTokenIdempotentInstruction({
      payer: createNoopSigner(address(owner)),
      ata: address(account),
      owner: address(owner),
      mint: address(mint),
      tokenProgram: address(program),
    }),
  )
}

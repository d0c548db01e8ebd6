// The wallet's accounts that a swap pays from and into: made, filled with wrapped SOL and closed in the swap's own transaction.
import { getCloseAccountInstruction, getSyncNativeInstruction, getTokenSize } from '@solana-program/token'
import { getTransferSolInstruction } from '@solana-program/system'
import { address, createNoopSigner } from '@solana/kit'
import { SluiceError, type At, type Json, type Plan, type Token } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { tokenAccountOf } from './addresses.ts'
import {
  accountsPerHolding,
  associatedSize,
  creation,
  heldIn,
  noMint,
  overhead,
  readMint,
  rentOf,
  tokenProgram,
  tokenPrograms,
  type Mint,
} from './tokens.ts'
import {
  fromKit,
  nativeAddress,
  type Solana,
  type SolanaAccount,
  type SolanaExpectation,
  type SolanaInstruction,
  type SolanaLookupTable,
  type SolanaReader,
} from './types.ts'

/** Its tokens are lamports in token accounts: solana-program/token, native_mint. */
export const wrappedMint = 'So11111111111111111111111111111111111111112'

export interface SwapAccounts {
  /** The wallet's account that pays, and the one that is paid into. */
  readonly source: string
  readonly destination: string
  /** What belongs before the swap's own instructions, and after them. */
  readonly before: readonly SolanaInstruction[]
  readonly after: readonly SolanaInstruction[]
  /** Lamports that are wrapped. What the swap leaves of them comes back, or stays wrapped where the wallet had an account of wrapped SOL before. */
  readonly valueRaw: bigint
  /** Lamports that a new account keeps, and those of one that is closed again: the wallet needs them for the transaction alone. */
  readonly rentRaw: bigint
  readonly lentRaw: bigint
  /** What the rest depends on, and the simulation does not tell. */
  readonly expects?: readonly SolanaExpectation[]
}

interface SwapWish {
  readonly wallet: string
  readonly tokenIn: Token
  readonly tokenOut: Token
  /** What the swap may take at most. */
  readonly maxInRaw: bigint
}

/** What the accounts of a swap depend on, as JSON. */
export type SwapFacts = {
  /** The token programs of both mints. */
  readonly programIn: string
  readonly programOut: string
  /** Whether the wallet has an account of the token that it gets, and one of wrapped SOL. */
  readonly isThere: boolean
  readonly hasWrapped: boolean
  /** Lamports, as decimal strings: what the former lacks, and what an account of wrapped SOL keeps. */
  readonly missing: string
  readonly wrapping: string
}

/**
 * One round trip, for a swap and for the one back.
 * @throws SluiceError TOKEN_NOT_SUPPORTED where a token is no mint
 */
export async function readSwapFacts(
  reader: SolanaReader,
  { wallet, tokenIn, tokenOut }: Omit<SwapWish, 'maxInRaw'>,
  at: At,
): Promise<{ readonly facts: SwapFacts; readonly back: SwapFacts }> {
  const [mintIn, mintOut] = [mintOf(tokenIn), mintOf(tokenOut)]
  // Of both programs, since the mint says of which it is with the same answer.
  const read = [rentSysvar, tokenAccountOf(wallet, wrappedMint), mintIn, ...placesOf(wallet, mintIn), mintOut, ...placesOf(wallet, mintOut)]
  const { accounts } = await reader.accounts(read, at)
  const [rent, ofWrapped, ...sides] = accounts
  const [ofIn, ofOut] = [sides.slice(0, accountsPerHolding), sides.slice(accountsPerHolding)]
  const emptyRaw = emptyRentIn(rent)
  const [sideIn, sideOut] = [sideOf(tokenIn, ofIn), sideOf(tokenOut, ofOut)]
  const common = {
    hasWrapped: heldIn(ofWrapped, { mint: wrappedMint, owner: wallet }) !== undefined,
    wrapping: String(rentOf(getTokenSize(), emptyRaw)),
  }
  const between = (from: ReturnType<typeof sideOf>, { program, isThere, missing }: ReturnType<typeof sideOf>): SwapFacts => ({
    programIn: from.program,
    programOut: program,
    isThere,
    missing,
    ...common,
  })
  return { facts: between(sideIn, sideOut), back: between(sideOut, sideIn) }

  function sideOf(token: Token, [mintAccount, ...places]: readonly (SolanaAccount | undefined)[]) {
    const mint = readMint(mintAccount) ?? noMint(token)
    const there = places[tokenPrograms.indexOf(mint.program)]
    const isThere = heldIn(there, { mint: mintOf(token), owner: wallet }) !== undefined
    return { program: mint.program, isThere, missing: String(isThere ? 0n : missingRent(mint, emptyRaw, there)) }
  }
}

/** Reads what `readSwapFacts` gave. @throws Error where it is something else */
export function toSwapFacts(facts: unknown): SwapFacts {
  const { programIn, programOut, isThere, hasWrapped, missing, wrapping } = isObject(facts) ? facts : {}
  if (typeof programIn !== 'string' || typeof programOut !== 'string' || typeof isThere !== 'boolean' || typeof hasWrapped !== 'boolean')
    throw new Error('What was read for the swap is missing.')
  return { programIn, programOut, isThere, hasWrapped, missing: String(missing), wrapping: String(wrapping) }
}

/**
 * SOL is wrapped into the wallet's own account. That is closed behind the swap where it was not there before, so that no other trade
 * loses the account that it pays from. A swap for SOL always closes it: wrapped SOL that was in it becomes SOL, too.
 */
export function accountsBy({ wallet, tokenIn, tokenOut, maxInRaw }: SwapWish, facts: SwapFacts): SwapAccounts {
  const [mintIn, mintOut] = [mintOf(tokenIn), mintOf(tokenOut)]
  const source = tokenAccountOf(wallet, mintIn, facts.programIn)
  const destination = tokenAccountOf(wallet, mintOut, facts.programOut)
  const wrap = tokenIn.native ? wrapping(wallet, source, maxInRaw) : []
  // Another trade may close the account of wrapped SOL before this one.
  const makes = mintOut === wrappedMint || !facts.isThere
  const make = makes ? [creation(wallet, destination, mintOut, facts.programOut)] : []
  const closed = [...(tokenIn.native && !facts.hasWrapped ? [source] : []), ...(tokenOut.native ? [destination] : [])]
  return {
    source,
    destination,
    before: [...wrap, ...make],
    after: closed.map((account) => closing(wallet, account)),
    valueRaw: tokenIn.native ? maxInRaw : 0n,
    rentRaw: tokenOut.native ? 0n : BigInt(facts.missing),
    lentRaw: closed.length === 0 ? 0n : BigInt(facts.wrapping),
    expects: [
      ...(tokenIn.native ? [{ account: source, mint: wrappedMint, isThere: facts.hasWrapped }] : []),
      // Whoever makes it is told whose it is. An account that is there may have been given to somebody else since it was read.
      ...(makes ? [] : [{ account: destination, mint: mintOut, isThere: true }]),
    ],
  }
}

/** One round trip. @throws SluiceError TOKEN_NOT_SUPPORTED where a token is no mint */
export const swapAccounts = async (reader: SolanaReader, wish: SwapWish, at: At): Promise<SwapAccounts> =>
  accountsBy(wish, (await readSwapFacts(reader, wish, at)).facts)

/** The plan of a swap between these accounts: one transaction. `needs` say what the wallet has to have, lamports for rent included. */
export function swapPlan(
  { wallet, tokenIn, maxInRaw }: SwapWish,
  { source, destination, before, after, valueRaw, rentRaw, lentRaw, expects = [] }: SwapAccounts,
  { instructions, tables, memo }: { instructions: readonly SolanaInstruction[]; tables?: readonly SolanaLookupTable[]; memo: Json },
): Plan<Solana> {
  const lamportsRaw = valueRaw + rentRaw + lentRaw
  return {
    steps: [
      {
        payer: wallet,
        instructions: [...before, ...instructions, ...after],
        value: String(valueRaw),
        rent: String(rentRaw),
        ...(expects.length > 0 && { expects }),
        ...(tables && { tables, own: [source, destination] }),
      },
    ],
    needs: [
      ...(tokenIn.native ? [] : [{ is: 'balance' as const, token: tokenIn.address, amountRaw: maxInRaw }]),
      ...(lamportsRaw > 0n ? [{ is: 'balance' as const, token: nativeAddress, amountRaw: lamportsRaw }] : []),
    ],
    memo,
  }
}

const mintOf = ({ native, address: mint }: Token): string => (native ? wrappedMint : mint)
/** The associated accounts of a wallet under each of the programs. */
const placesOf = (wallet: string, mint: string): readonly string[] => tokenPrograms.map((program) => tokenAccountOf(wallet, mint, program))

/** Lamports first, then the account is told of them: its amount counts from then on. */
function wrapping(wallet: string, account: string, amountRaw: bigint): readonly SolanaInstruction[] {
  const source = createNoopSigner(address(wallet))
  return [
    creation(wallet, account, wrappedMint, tokenProgram),
    fromKit(getTransferSolInstruction({ source, destination: address(account), amount: amountRaw })),
    fromKit(getSyncNativeInstruction({ account: address(account) })),
  ]
}

/** All that is in it, its rent too, goes to the wallet. */
const closing = (wallet: string, account: string): SolanaInstruction =>
  fromKit(
    getCloseAccountInstruction({
      account: address(account),
      destination: address(wallet),
      owner: createNoopSigner(address(wallet)),
    }),
  )

/** The address may hold lamports already: anybody can send some. */
function missingRent(mint: Mint, emptyRaw: bigint, there: SolanaAccount | undefined): bigint {
  const missingRaw = rentOf(associatedSize(mint), emptyRaw) - (there?.lamportsRaw ?? 0n)
  return missingRaw > 0n ? missingRaw : 0n
}

const rentSysvar = 'SysvarRent111111111111111111111111111111111'

/** Lamports that an empty account keeps: solana-rent, Rent: lamports for a byte and year (u64), years (f64), and a share that is burnt. */
function emptyRentIn(sysvar: SolanaAccount | undefined): bigint {
  if (!sysvar || sysvar.data.length < 17) throw new SluiceError('NETWORK', 'The node has no account that says what rent is: try again.')
  const view = new DataView(sysvar.data.buffer, sysvar.data.byteOffset)
  return BigInt(Math.ceil(Number(overhead * view.getBigUint64(0, true)) * view.getFloat64(8, true)))
}

import { getCreateAccountInstruction } from '@solana-program/system'
import { findAssociatedTokenPda, getCreateAssociatedTokenIdempotentInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import {
  AccountRole,
  getAddressEncoder,
  getProgramDerivedAddress,
  getU64Encoder,
  type Address,
  type Instruction,
  type KeyPairSigner,
  type TransactionSigner,
} from '@solana/kit'
import { signerOf } from '../faucet.ts'
import type { Mint } from '../mints.ts'
import type { Solana } from '../start-solana.ts'
import poolProgram from './artifacts/pool.json' with { type: 'json' }

/** A pool of two tokens whose product stays constant: programs/pool.c. */
export interface Pool {
  program: Address
  address: Address
  authority: Address
  mints: readonly [Mint, Mint]
  vaults: readonly [Address, Address]
  feeBasisPoints: bigint
}

/** What the program answers where it refuses, in the order of programs/pool.c. */
export const poolErrors = {
  tooFewAccounts: 6000,
  notAPool: 6001,
  notItsAccount: 6002,
  notSigned: 6003,
  noSuchInstruction: 6004,
  overLimit: 6005,
  tooLarge: 6006,
  nothing: 6007,
  badFee: 6008,
} as const

/** A tag, two vaults, two mints, a fee and a bump. */
const poolSize = 152n

/**
 * Deploys the program where it is not there yet, and makes a pool of it; the faucet mints what is in it.
 * @param of another name is another program, with the same bytes and pools of its own
 */
export async function createPool(
  solana: Solana,
  mints: readonly [Mint, Mint],
  reservesRaw: readonly [bigint, bigint],
  feeBasisPoints: bigint,
  of = '',
): Promise<Pool> {
  const [{ address: program }, account] = [
    await signerOf(`${of}pool program`),
    await signerOf(`${of}pool ${mints.map(({ symbol }) => symbol).join(' ')}`),
  ]
  if (!solana.svm.getAccount(program).exists) solana.svm.addProgram(program, Buffer.from(poolProgram.program, 'base64'))
  const [authority, bump] = await getProgramDerivedAddress({
    programAddress: program,
    seeds: [getAddressEncoder().encode(account.address)],
  })
  const [first, second] = [await vaultOf(authority, mints[0]), await vaultOf(authority, mints[1])]
  const pool: Pool = { program, address: account.address, authority, mints, vaults: [first, second], feeBasisPoints }
  await solana.land([
    getCreateAccountInstruction({
      payer: solana.faucet,
      newAccount: account,
      lamports: solana.svm.minimumBalanceForRentExemption(poolSize),
      space: poolSize,
      programAddress: program,
    }),
    ...mints.map((mint, index) => createVault(solana.faucet, authority, mint, index === 0 ? first : second)),
    {
      programAddress: program,
      accounts: [writable(pool.address), readonly(authority), readonly(first), readonly(second)],
      data: words(0n, feeBasisPoints, BigInt(bump)),
    },
  ])
  await solana.mintTo(authority, mints[0], reservesRaw[0])
  await solana.mintTo(authority, mints[1], reservesRaw[1])
  return pool
}

export interface Swap {
  /** Of the pool's two tokens, the one that is paid. */
  pays: 0 | 1
  /** `limitRaw`: the least that is got for exactly what is paid, or the most that is paid for exactly what is got. */
  exact: 'paid' | 'got'
  amountRaw: bigint
  limitRaw: bigint
}

/** Between the associated accounts of who trades. */
export async function swapInstruction(
  pool: Pool,
  owner: TransactionSigner,
  { pays, exact, amountRaw, limitRaw }: Swap,
): Promise<Instruction> {
  const gets = pays === 0 ? 1 : 0
  const [from, to] = [await vaultOf(owner.address, pool.mints[pays]), await vaultOf(owner.address, pool.mints[gets])]
  const signer = { address: owner.address, role: AccountRole.READONLY_SIGNER, signer: owner }
  return {
    programAddress: pool.program,
    accounts: [
      readonly(pool.address),
      readonly(pool.authority),
      signer,
      writable(from),
      writable(to),
      writable(pool.vaults[pays]),
      writable(pool.vaults[gets]),
      readonly(TOKEN_PROGRAM_ADDRESS),
    ],
    data: words(exact === 'paid' ? 1n : 2n, amountRaw, limitRaw),
  }
}

const writable = (address: Address) => ({ address, role: AccountRole.WRITABLE })
const readonly = (address: Address) => ({ address, role: AccountRole.READONLY })
const words = (...all: readonly bigint[]) => Uint8Array.from(all.flatMap((each) => [...getU64Encoder().encode(each)]))

async function vaultOf(owner: Address, { address, program }: Mint): Promise<Address> {
  const [account] = await findAssociatedTokenPda({ owner, mint: address, tokenProgram: program })
  return account
}

const createVault = (payer: KeyPairSigner, owner: Address, { address, program }: Mint, ata: Address): Instruction =>
  getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner, mint: address, tokenProgram: program })

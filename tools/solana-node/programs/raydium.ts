import { AccountRole, address, getAddressEncoder, getU64Encoder, lamports, type Instruction } from '@solana/kit'
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import type { LiteSVM } from 'litesvm'
import { addressBytes, derivedAddress, tokenAccountOf } from '../../../kits/solana/addresses.ts'
import { discriminatorOf } from '../../../kits/solana/amm/anchor.ts'
import { authority, constantProductProgram, poolAddress } from '../../../kits/solana/amm/constant-product/accounts.ts'
import { tokenSize } from '../ledger/tokens.ts'
import type { Mint } from '../mints.ts'
import { mustRun, runUnsigned } from './unsigned.ts'

/** Source: raydium-cp-swap at 609780f, programs/cp-swap/src/lib.rs, `admin` and `create_pool_fee_reveiver`. */
const admin = 'GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ'
const feeReceiver = 'DNXgeM9EiiaAbaWvwjHj9fQQLAX5ZsfHyvmYUNRAdNC8'
const wrappedSol = 'So11111111111111111111111111111111111111112'
const rentSysvar = 'SysvarRent111111111111111111111111111111111'

/** Millionths. */
interface Rates {
  trade: bigint
  protocol: bigint
  fund: bigint
  /** Of pools that have a creator's fee. Builds before August 2025 have none, and do not read it. */
  creator?: bigint
}

/** Makes a class of pools by the program's own instruction, as its admin would, and gives its address. */
export function createConfig(svm: LiteSVM, index: number, rates: Rates): string {
  const config = derivedAddress(constantProductProgram, [Buffer.from('amm_config'), Uint8Array.of(index >> 8, index & 255)])
  svm.airdrop(address(admin), lamports(10n ** 10n))
  // What a new pool costs is nothing here; the account that would receive it has to be a token account all the same.
  if (!svm.getAccount(address(feeReceiver)).exists) svm.setAccount(tokenAccount(feeReceiver, wrappedSol, admin))
  mustRun(svm, admin, [
    {
      programAddress: address(constantProductProgram),
      accounts: [signer(admin), write(config), read(SYSTEM_PROGRAM_ADDRESS)],
      data: Uint8Array.of(
        ...discriminatorOf('global', 'create_amm_config'),
        index & 255,
        index >> 8,
        ...words(rates.trade, rates.protocol, rates.fund, 0n, rates.creator ?? 0n),
      ),
    },
  ])
  return config
}

/**
 * Lets somebody make pools with a creator's fee, as the admin would: instructions/admin/create_permission_pda.rs.
 * @returns whether the program has such pools: builds before August 2025 have none
 */
export function permitCreatorFees(svm: LiteSVM, creator: string): boolean {
  svm.airdrop(address(admin), lamports(10n ** 10n))
  const accounts = [signer(admin), read(creator), write(permissionOf(creator)), read(SYSTEM_PROGRAM_ADDRESS)]
  const data = Uint8Array.from(discriminatorOf('global', 'create_permission_pda'))
  return runUnsigned(svm, admin, [{ programAddress: address(constantProductProgram), accounts, data }]) === null
}

const permissionOf = (creator: string): string => derived('permission', addressBytes(creator))

const derived = (...seeds: readonly (string | Uint8Array)[]): string =>
  derivedAddress(
    constantProductProgram,
    seeds.map((seed) => (typeof seed === 'string' ? Buffer.from(seed) : seed)),
  )

/** Makes a pool with what the creator has of both tokens, and gives its address. Its first mint is the one whose bytes are smaller. */
export function createConstantProductPool(svm: LiteSVM, seed: PoolSeed): string {
  const { config, mints } = seed
  const pool = poolAddress(config, [mints[0].address, mints[1].address])
  mustRun(svm, seed.creator, [poolInstruction(pool, seed)])
  return pool
}

/** `initialize`, or where it has a creator's fee `initialize_with_permission`, whose payer is the creator here. */
export function poolInstruction(pool: string, { config, creator, mints, amountsRaw, openTime, creatorFeeOn }: PoolSeed): Instruction {
  const lpMint = derived('pool_lp_mint', addressBytes(pool))
  const isPermitted = creatorFeeOn !== undefined
  return {
    programAddress: address(constantProductProgram),
    accounts: [
      signer(creator),
      ...(isPermitted ? [read(creator)] : []),
      read(config),
      read(authority()),
      write(pool),
      ...mints.map((mint) => read(mint.address)),
      write(lpMint),
      ...mints.map((mint) => write(tokenAccountOf(creator, mint.address, mint.program))),
      write(tokenAccountOf(creator, lpMint)),
      ...mints.map((mint) => write(derived('pool_vault', addressBytes(pool), addressBytes(mint.address)))),
      write(feeReceiver),
      write(derived('observation', addressBytes(pool))),
      ...(isPermitted ? [read(permissionOf(creator))] : []),
      read(TOKEN_PROGRAM_ADDRESS),
      ...mints.map((mint) => read(mint.program)),
      read(ASSOCIATED_TOKEN_PROGRAM_ADDRESS),
      read(SYSTEM_PROGRAM_ADDRESS),
      ...(isPermitted ? [] : [read(rentSysvar)]),
    ],
    data: Uint8Array.of(
      ...discriminatorOf('global', isPermitted ? 'initialize_with_permission' : 'initialize'),
      ...words(...amountsRaw, openTime),
      ...(isPermitted ? [creatorFeeOn] : []),
    ),
  }
}

interface PoolSeed {
  config: string
  creator: string
  mints: readonly [Mint, Mint]
  amountsRaw: readonly [bigint, bigint]
  /** Seconds since the Unix epoch; the past: the next second. */
  openTime: bigint
  /** 0: of what is paid; 1 and 2: of the first and the second token. Absent: the creator has no fee. */
  creatorFeeOn?: 0 | 1 | 2
}

/** The program's order of a pool's mints. */
export const inOrder = (one: Mint, other: Mint): readonly [Mint, Mint] =>
  Buffer.compare(addressBytes(one.address), addressBytes(other.address)) < 0 ? [one, other] : [other, one]

/** Switches deposits (1), withdrawals (2) and swaps (4) off and on, as the admin. */
export function setPoolStatus(svm: LiteSVM, pool: string, status: number): void {
  mustRun(svm, admin, [
    {
      programAddress: address(constantProductProgram),
      accounts: [signer(admin), write(pool)],
      data: Uint8Array.of(...discriminatorOf('global', 'update_pool_status'), status),
    },
  ])
}

const read = (of: string) => ({ address: address(of), role: AccountRole.READONLY })
const write = (of: string) => ({ address: address(of), role: AccountRole.WRITABLE })
const signer = (of: string) => ({ address: address(of), role: AccountRole.WRITABLE_SIGNER })
const words = (...all: readonly bigint[]): readonly number[] => all.flatMap((each) => [...getU64Encoder().encode(each)])

function tokenAccount(of: string, mint: string, owner: string) {
  const data = new Uint8Array(tokenSize)
  data.set(getAddressEncoder().encode(address(mint)))
  data.set(getAddressEncoder().encode(address(owner)), 32)
  data[108] = 1
  return {
    address: address(of),
    executable: false,
    lamports: lamports(10n ** 9n),
    programAddress: TOKEN_PROGRAM_ADDRESS,
    space: BigInt(tokenSize),
    data,
  }
}

import { readBothTerms, type MintTerms } from '../../mint-extensions.ts'
import { token2022Program, tokenProgram } from '../../tokens.ts'
import type { SolanaAccount } from '../../types.ts'
import { vaultBalances } from '../account-data.ts'
import { discriminatorOf, oncePerAccount, readFields, type FieldReader } from '../anchor.ts'
import type { LeftOutState } from '../program-pools.ts'

/**
 * Meteora's DAMM v2. Source of layouts and formulas: @meteora-ag/cp-amm-sdk (MIT), github.com/MeteoraAg/damm-v2-sdk at 1872ee3, src/idl and
 * src/math. The program's own source was not read.
 */
export const dammProgram = 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG'
/** Owns the vaults of all pools: the seed "pool_authority". */
export const dammAuthority = 'HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC'

/** Where the exchange takes its fee: of what comes out, or always in the second token; compounding pools have no range of prices. */
export type FeeMode = 'both' | 'only-second' | 'compounding'

/** The base fee, in 1e-9. Undefined of a kind that is not known here (a rate limiter, a schedule by market capitalisation). */
export interface FeeSchedule {
  cliff: bigint
  /** Falls by `reduction` each period, or by so many basis points of itself. */
  kind: 'linear' | 'exponential'
  periods: number
  /** Slots or seconds, as the pool counts; 0: the fee stays. */
  periodLength: bigint
  reduction: bigint
}

export interface DynamicFee {
  volatility: bigint
  binStep: bigint
  control: bigint
}

export interface DammPool {
  mints: readonly [string, string]
  vaults: readonly [string, string]
  programs: readonly [string, string]
  isEnabled: boolean
  /** From this slot or second on. */
  activation: { point: bigint; by: 'slot' | 'time' }
  feeMode: FeeMode
  schedule?: FeeSchedule
  dynamicFee?: DynamicFee
  /** Percent of the fee; basis points of the rest. */
  protocolFeePercent: bigint
  compoundingBasisPoints: bigint
  /** No fee is higher, in 1e-9. */
  maxFee: bigint
  liquidity: bigint
  /** Q64.64 */
  sqrtPrices: { min: bigint; max: bigint; now: bigint }
  /** What a compounding pool has. */
  amountsRaw: readonly [bigint, bigint]
  /** In the vaults, and not the pool's. */
  owedRaw: readonly [bigint, bigint]
}

export interface DammState {
  pool: DammPool
  mints: readonly [MintTerms, MintTerms]
}

const form = { program: dammProgram, discriminator: discriminatorOf('account', 'Pool'), length: 1112 }

/** In 1e-9, by the pool's version of fees: constants.ts, MAX_FEE_NUMERATOR_V0 and V1. */
const maxFees = [500_000_000n, 990_000_000n] as const
const feeModes = ['both', 'only-second', 'compounding'] as const
const programs = [tokenProgram, token2022Program] as const
const kinds = ['linear', 'exponential'] as const

/** Undefined where it is not a pool's account, or says something that the program does not know either. */
export const decodeDammPool: (account: SolanaAccount | undefined) => DammPool | undefined = oncePerAccount((account) => {
  const fields = readFields(account, form)
  if (!fields) return undefined
  const { u8, u16, u64, u128, address } = fields
  const [feeMode, maxFee] = [feeModes[u8(484)], maxFees[u8(486)]]
  const [first, second] = [programs[u8(482)], programs[u8(483)]]
  if (!feeMode || maxFee === undefined || !first || !second || u8(480) > 1) return undefined
  const [schedule, dynamicFee] = [readSchedule(fields), readDynamicFee(fields)]
  return {
    mints: [address(168), address(200)],
    vaults: [address(232), address(264)],
    programs: [first, second],
    isEnabled: u8(481) === 0,
    activation: { point: u64(472), by: u8(480) === 0 ? 'slot' : 'time' },
    feeMode,
    ...(schedule && { schedule }),
    ...(dynamicFee && { dynamicFee }),
    protocolFeePercent: BigInt(u8(48)),
    compoundingBasisPoints: BigInt(u16(54)),
    maxFee,
    liquidity: u128(360),
    sqrtPrices: { min: u128(424), max: u128(440), now: u128(456) },
    amountsRaw: [u64(680), u64(688)],
    owedRaw: [u64(392), u64(400)],
  }
})

function readSchedule({ u8, u16, u64 }: FieldReader): FeeSchedule | undefined {
  const kind = kinds[u8(16)]
  return kind && { cliff: u64(8), kind, periods: u16(22), periodLength: u64(24), reduction: u64(32) }
}

function readDynamicFee({ u8, u16, u32, u128 }: FieldReader): DynamicFee | undefined {
  if (u8(56) === 0) return undefined
  return { volatility: u128(120), binStep: BigInt(u16(72)), control: BigInt(u32(68)) }
}

/** The accounts beside the pool's that a state is read from, in the order of `dammStateOf`. All numbers are in the pool's. */
export const dammAccountsOf = ({ vaults, mints }: DammPool): readonly string[] => [...vaults, ...mints]

/** The state, or why there is none that can be quoted. */
export function dammStateOf(
  account: SolanaAccount | undefined,
  [vaultA, vaultB, mintA, mintB]: readonly (SolanaAccount | undefined)[],
): DammState | LeftOutState {
  const pool = decodeDammPool(account)
  if (!pool) return { refused: 'no-pool' }
  const mints = readBothTerms(pool.mints, [mintA, mintB])
  if ('refused' in mints) return mints
  // Nothing moves out of a frozen vault, or into it: the program would refuse the swap.
  return vaultBalances([vaultA, vaultB], pool, dammAuthority) ? { pool, mints } : { refused: 'no-vault' }
}

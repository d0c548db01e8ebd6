import { addressBytes, derivedAddress } from '../../addresses.ts'
import { readBothTerms, type MintTerms } from '../../mint-extensions.ts'
import type { SolanaAccount } from '../../types.ts'
import { discriminatorOf, oncePerAccount, readFields } from '../anchor.ts'
import { vaultBalances } from '../account-data.ts'
import type { LeftOutState } from '../program-pools.ts'

/**
 * Raydium's constant-product exchange (CPMM). Source of layouts and formulas: github.com/raydium-io/raydium-cp-swap at 609780f,
 * programs/cp-swap/src/states and curve, Apache-2.0.
 */
export const constantProductProgram = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'

/** A pool's account: what stays as it was made, and what is owed to others. */
export interface Pool {
  config: string
  vaults: readonly [string, string]
  mints: readonly [string, string]
  programs: readonly [string, string]
  decimals: readonly [number, number]
  observation: string
  /** A set bit switches something off: 1 deposits, 2 withdrawals, 4 swaps. */
  status: number
  /** Seconds since the Unix epoch. */
  openTime: bigint
  /** In the vaults, and not the pool's: shares of the protocol, the fund and the creator. */
  owedRaw: readonly [bigint, bigint]
  /** `on` is 0: of what is paid; 1 and 2: of the first and the second token. */
  creatorFee: { isTaken: boolean; on: number }
}

/** What pools of one class have in common. Millionths. */
export interface Config {
  tradeFeeRate: bigint
  protocolFeeRate: bigint
  fundFeeRate: bigint
  creatorFeeRate: bigint
}

/**
 * What the program's bytes are of: since November 2025 (ec3b20d of its source) it takes trade and creator fee together, rounded up once. Between
 * August and November (b0b2a08) each was rounded up by itself: of such bytes quotes are not. Before, their bytes were not read, an input
 * below half a unit was rounded down and then refused, and the fee of an exact output was rounded once more.
 */
export type ProgramVersion = 'creator-fees' | 'early-2025'

/** All that a quote needs. */
export interface ConstantProductState {
  version: ProgramVersion
  pool: Pool
  config: Config
  /** What the vaults hold, with what is owed to others. */
  vaultsRaw: readonly [bigint, bigint]
  mints: readonly [MintTerms, MintTerms]
}

const poolForm = { program: constantProductProgram, discriminator: discriminatorOf('account', 'PoolState'), length: 637 }
export const configForm = { program: constantProductProgram, discriminator: discriminatorOf('account', 'AmmConfig'), length: 236 }

const creatorFeesAt = 389

/** Undefined where it is not a pool's account. */
export const decodePool: (account: SolanaAccount | undefined) => Pool | undefined = oncePerAccount((account) => {
  const fields = readFields(account, poolForm)
  if (!fields) return undefined
  const { u8, u64, address } = fields
  // Protocol, fund and creator each have an amount of the first and of the second token.
  const owed = (which: 0 | 1) => u64(341 + which * 8) + u64(357 + which * 8) + u64(creatorFeesAt + 8 + which * 8)
  return {
    config: address(8),
    vaults: [address(72), address(104)],
    mints: [address(168), address(200)],
    programs: [address(232), address(264)],
    observation: address(296),
    status: u8(329),
    decimals: [u8(331), u8(332)],
    owedRaw: [owed(0), owed(1)],
    openTime: u64(373),
    creatorFee: { isTaken: u8(creatorFeesAt + 1) !== 0, on: u8(creatorFeesAt) },
  }
})

/** Undefined where it is not a configuration's account. */
export const decodeConfig: (account: SolanaAccount | undefined) => Config | undefined = oncePerAccount((account) => {
  const fields = readFields(account, configForm)
  if (!fields) return undefined
  const { u64 } = fields
  return { tradeFeeRate: u64(12), protocolFeeRate: u64(20), fundFeeRate: u64(28), creatorFeeRate: u64(108) }
})

/** The accounts that a state is read from, in the order of `stateOf`; the pool says which. */
export const accountsOf = ({ config, vaults, mints }: Pool): readonly string[] => [config, ...vaults, ...mints]

/** The state, or why there is none that can be quoted. */
export function stateOf(
  poolAccount: SolanaAccount | undefined,
  [configAccount, vault0, vault1, mint0, mint1]: readonly (SolanaAccount | undefined)[],
  version: ProgramVersion = 'creator-fees',
): ConstantProductState | LeftOutState {
  const pool = decodePool(poolAccount)
  if (!pool) return { refused: 'no-pool' }
  const config = decodeConfig(configAccount)
  if (!config) return { refused: 'no-config' }
  const mints = readBothTerms(pool.mints, [mint0, mint1])
  if ('refused' in mints) return mints
  const vaultsRaw = vaultBalances([vault0, vault1], pool, authority())
  return vaultsRaw ? { version, pool, config, vaultsRaw, mints } : { refused: 'no-vault' }
}

let derivedAuthority: string | undefined

/** Owns the vaults of all pools. */
export function authority(): string {
  derivedAuthority ??= derivedAddress(constantProductProgram, [Buffer.from('vault_and_lp_mint_auth_seed')])
  return derivedAuthority
}

/** Where the pool of a configuration and two mints is, unless it was made with a key of its own. The first mint's bytes are the smaller ones. */
export const poolAddress = (config: string, mints: readonly [string, string]): string =>
  derivedAddress(constantProductProgram, [Buffer.from('pool'), addressBytes(config), ...mints.map(addressBytes)])

/** The class of pools of this number, two bytes with the higher one first: states/config.rs, AMM_CONFIG_SEED. */
export const configAddress = (index: number): string =>
  derivedAddress(constantProductProgram, [Buffer.from('amm_config'), Uint8Array.of(index >> 8, index & 255)])

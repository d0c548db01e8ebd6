import { AccountRole, address, getU16Encoder, getU32Encoder, getU64Encoder, getU128Encoder } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import type { LiteSVM } from 'litesvm'
import { addressBytes, derivedAddress, tokenAccountOf } from '../../../kits/solana/addresses.ts'
import { discriminatorOf } from '../../../kits/solana/amm/anchor.ts'
import { dammAuthority, dammProgram } from '../../../kits/solana/amm/damm/accounts.ts'
import { eventAuthority } from '../../../kits/solana/amm/damm/swap.ts'
import { signerOf } from '../faucet.ts'
import { token2022 } from '../ledger/tokens.ts'
import type { Mint } from '../mints.ts'
import { mustRun } from './unsigned.ts'

/** How a pool of DAMM v2 comes about: src/idl/cp_amm.json of @meteora-ag/cp-amm-sdk, InitializeCustomizablePoolParameters. */
export interface DammSeed {
  creator: string
  mints: readonly [Mint, Mint]
  /** In 1e-9 at first. `mode` 0: falls by `reduction` each period; 1: by so many basis points of itself; 2 to 4 are other kinds. */
  baseFee: { cliff: bigint; periods: number; periodLength: bigint; reduction: bigint; mode: number }
  compoundingBasisPoints: number
  /** Absent: none. */
  dynamicFeeControl?: number
  /** Q64.64 */
  sqrtPrices: { min: bigint; max: bigint; now: bigint }
  liquidity: bigint
  /** 0: slots, 1: seconds. */
  activationType: 0 | 1
  /** Absent: now. */
  activationPoint?: bigint
  /** 0: of what comes out, 1: of the second token, 2: of the second token, and compounding. */
  feeMode: 0 | 1 | 2
}

/** A bin of one basis point in Q64.64, and what the SDK gives as defaults: src/constants.ts. */
const dynamic = { binStep: 1, binStepQ64: 1_844_674_407_370_955n, filter: 10, decay: 120, reduction: 5_000, mostVolatility: 14_460_000 }

/** Makes a pool, with a first position of its creator, and gives its address. */
export async function createDammPool(svm: LiteSVM, seed: DammSeed): Promise<string> {
  const { creator, mints } = seed
  const of = (name: string, ...seeds: readonly string[]) => derivedAddress(dammProgram, [Buffer.from(name), ...seeds.map(addressBytes)])
  const [lower, higher] = mints.map((mint) => mint.address).toSorted((a, b) => Buffer.compare(addressBytes(a), addressBytes(b)))
  const pool = of('cpool', higher!, lower!)
  const position = (await signerOf(`position ${pool}`)).address
  mustRun(svm, creator, [
    {
      programAddress: address(dammProgram),
      accounts: [
        read(creator),
        signer(position),
        write(of('position_nft_account', position)),
        signer(creator),
        read(dammAuthority),
        write(pool),
        write(of('position', position)),
        ...mints.map((mint) => read(mint.address)),
        ...mints.map((mint) => write(of('token_vault', mint.address, pool))),
        ...mints.map((mint) => write(tokenAccountOf(creator, mint.address, mint.program))),
        ...mints.map((mint) => read(mint.program)),
        read(token2022),
        read(SYSTEM_PROGRAM_ADDRESS),
        read(eventAuthority()),
        read(dammProgram),
      ],
      data: Uint8Array.from([...discriminatorOf('global', 'initialize_customizable_pool'), ...parameters(seed)]),
    },
  ])
  return pool
}

function parameters(seed: DammSeed): readonly number[] {
  const { baseFee, sqrtPrices, dynamicFeeControl, activationPoint } = seed
  return [
    ...u64(baseFee.cliff),
    ...u16(baseFee.periods),
    ...u64(baseFee.periodLength),
    ...u64(baseFee.reduction),
    baseFee.mode,
    ...u16(seed.compoundingBasisPoints),
    0,
    ...(dynamicFeeControl === undefined ? [0] : [1, ...dynamicParameters(dynamicFeeControl)]),
    ...u128(sqrtPrices.min),
    ...u128(sqrtPrices.max),
    0,
    ...u128(seed.liquidity),
    ...u128(sqrtPrices.now),
    seed.activationType,
    seed.feeMode,
    ...(activationPoint === undefined ? [0] : [1, ...u64(activationPoint)]),
  ]
}

const dynamicParameters = (control: number): readonly number[] => [
  ...u16(dynamic.binStep),
  ...u128(dynamic.binStepQ64),
  ...u16(dynamic.filter),
  ...u16(dynamic.decay),
  ...u16(dynamic.reduction),
  ...getU32Encoder().encode(dynamic.mostVolatility),
  ...getU32Encoder().encode(control),
]

const u16 = (value: number) => getU16Encoder().encode(value)
const u64 = (value: bigint) => getU64Encoder().encode(value)
const u128 = (value: bigint) => getU128Encoder().encode(value)
const read = (of: string) => ({ address: address(of), role: AccountRole.READONLY })
const write = (of: string) => ({ address: address(of), role: AccountRole.WRITABLE })
const signer = (of: string) => ({ address: address(of), role: AccountRole.WRITABLE_SIGNER })

import { addressBytes, derivedAddress } from '../../addresses.ts'
import type { Pair } from '../../../pools/protocol.ts'
import { programPools } from '../program-pools.ts'
import { programVersions } from '../program-versions.ts'
import { discriminatorOf } from '../anchor.ts'
import type { AccountPools } from '../protocol.ts'
import { Refusal } from '../swap-quote.ts'
import { dammAccountsOf, dammProgram, dammStateOf, decodeDammPool, type DammPool, type DammState } from './accounts.ts'
import { feeNow } from './fees.ts'
import { amountsOfDamm } from './quote.ts'
import { dammSwap } from './swap.ts'

interface DammOptions {
  /** The numbers of the configurations whose pools are followed from before they are there, beside the one pool of a pair that has no configuration; those of others are looked for. */
  readonly configs: readonly number[]
  /** The bytes of the program that quotes are of, by their sha256; where it has others, none is given. Absent: whatever it has. */
  readonly programs?: Readonly<Record<string, 'damm-v2'>>
  /** Pools at addresses of their own, whatever their pair. */
  readonly listed?: readonly string[]
}

const version = 'damm-v2'
/** Source: @meteora-ag/cp-amm-sdk 1.5.0, src/idl/cp_amm.json, account Config, with its discriminator. */
const configSize = 328

/** Meteora's pools of one range of prices (DAMM v2). */
export function dammPools({ configs, programs, listed }: DammOptions): AccountPools {
  const configured = configs.map(configAddress)
  return programPools(
    {
      version,
      program: dammProgram,
      // ExceededSlippage. Source: @meteora-ag/cp-amm-sdk 1.5.0, src/idl/cp_amm.json, errors.
      slippageErrors: [6002],
      // Of 2,271 swaps on the program the least was 23,000 and the most 45,000.
      computeUnits: 23_000n,
      derived: (pair) => poolAddresses(pair, configured),
      classes: {
        discriminator: discriminatorOf('account', 'Config'),
        size: configSize,
        configOf: configAddress,
        poolOf: (config, pair) => poolAddress(config, larger(pair)),
      },
      decode: decodeDammPool,
      accountsOf: dammAccountsOf,
      programVersion: programs ? programVersions(dammProgram, programs) : version,
      stateOf: dammStateOf,
      quote: amountsOfDamm,
      feeE9: ({ pool }, clock) => feeOf(() => feeNow(pool, clock)),
      spot: ({ pool }) => spotOf(pool),
      reserves: reservesOf,
      // In a range that ends at its price nothing goes further.
      mostIn: ({ pool }, pays) => (isAtEnd(pool, pays) ? 0n : undefined),
      instruction: ({ address, own }, swap, terms) => dammSwap({ address, pool: own }, swap, terms),
    },
    listed,
  )
}

/** Source: @meteora-ag/cp-amm-sdk, src/pda.ts: deriveConfigAddress, with the number in eight bytes, the lowest first. */
function configAddress(index: number): string {
  const number = Buffer.alloc(8)
  number.writeBigUInt64LE(BigInt(index))
  return derivedAddress(dammProgram, [Buffer.from('config'), number])
}

/** Source: the same, deriveCustomizablePoolAddress and derivePoolAddress: the mint whose bytes are the larger ones comes first. */
function poolAddresses(pair: Pair, configs: readonly string[]): readonly string[] {
  const mints = larger(pair)
  return [derivedAddress(dammProgram, [Buffer.from('cpool'), ...mints]), ...configs.map((config) => poolAddress(config, mints))]
}

const larger = ([one, other]: Pair): readonly Uint8Array[] =>
  [addressBytes(one), addressBytes(other)].toSorted((a, b) => Buffer.compare(b, a))

const poolAddress = (config: string, mints: readonly Uint8Array[]): string =>
  derivedAddress(dammProgram, [Buffer.from('pool'), addressBytes(config), ...mints])

/** A schedule that is not known refuses every quote. */
function feeOf(fee: () => bigint): bigint {
  try {
    return fee()
  } catch (error) {
    if (error instanceof Refusal) return 0n
    throw error
  }
}

/** Prices are Q64.64 square roots. */
function spotOf({ feeMode, amountsRaw, sqrtPrices: { now } }: DammPool): { numerator: bigint; denominator: bigint } {
  if (feeMode === 'compounding') return { numerator: amountsRaw[1], denominator: amountsRaw[0] }
  return { numerator: now * now, denominator: 1n << 128n }
}

function reservesOf({ pool: { feeMode, amountsRaw, liquidity, sqrtPrices } }: DammState): readonly [bigint, bigint] {
  if (feeMode === 'compounding') return amountsRaw
  const { min, max, now } = sqrtPrices
  return [(liquidity * (max - now)) / (max * now), (liquidity * (now - min)) >> 128n]
}

const isAtEnd = ({ feeMode, sqrtPrices: { min, max, now } }: DammPool, pays: 0 | 1): boolean =>
  feeMode !== 'compounding' && (pays === 0 ? now <= min : now >= max)

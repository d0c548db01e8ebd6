import type { AccountPools } from '../protocol.ts'
import { programPools, roomIn } from '../program-pools.ts'
import { programVersions } from '../program-versions.ts'
import { addressBytes } from '../../addresses.ts'
import type { Pair } from '../../../pools/protocol.ts'
import {
  accountsOf,
  configAddress,
  configForm,
  constantProductProgram,
  decodePool,
  poolAddress,
  stateOf,
  type ConstantProductState,
  type Pool as CpmmPool,
  type ProgramVersion,
} from './accounts.ts'
import { amountsOfConstantProduct } from './quote.ts'
import { constantProductSwap } from './swap.ts'

interface ConstantProductOptions {
  /** Of the bytes that the network's program has: one, whatever they are, or by their sha256, read from the chain and again when they are replaced. */
  readonly programVersion: ProgramVersion | Readonly<Record<string, ProgramVersion>>
  /** The numbers of the classes whose pools are followed from before they are there; those of others are looked for. */
  readonly classes: readonly number[]
  /** Pools at addresses of their own, whatever their pair. */
  readonly listed?: readonly string[]
}

/** Rates are millionths. */
const e9OfMillionths = 1_000n

/** Raydium's pools of a constant product (CPMM). */
export function constantProductPools({ programVersion, classes, listed }: ConstantProductOptions): AccountPools {
  const configs = classes.map(configAddress)
  return programPools<CpmmPool, ConstantProductState, ProgramVersion>(
    {
      version: 'cpmm',
      program: constantProductProgram,
      // ExceededSlippage. Source: github.com/raydium-io/raydium-cp-swap at 609780f, programs/cp-swap/src/error.rs.
      slippageErrors: [6005],
      // Of 3,927 swaps on the program the least was 32,000 and the most 40,000.
      computeUnits: 32_000n,
      derived: (pair) => configs.map((config) => poolAddress(config, inOrder(pair))),
      classes: {
        discriminator: configForm.discriminator,
        size: configForm.length,
        configOf: configAddress,
        poolOf: (config, pair) => poolAddress(config, inOrder(pair)),
      },
      decode: decodePool,
      accountsOf,
      programVersion: typeof programVersion === 'string' ? programVersion : programVersions(constantProductProgram, programVersion),
      stateOf,
      quote: amountsOfConstantProduct,
      feeE9: (state, _clock, pays) => feeMillionths(state, pays) * e9OfMillionths,
      spot(state) {
        const [denominator, numerator] = reservesOf(state)
        return { numerator, denominator }
      },
      reserves: reservesOf,
      mostIn: ({ vaultsRaw }, pays) => roomIn(vaultsRaw[pays]),
      instruction: ({ address, own }, swap, terms) => constantProductSwap({ address, pool: own }, swap, terms),
    },
    listed,
  )
}

/** The program's order of a pool's mints. */
const inOrder = ([one, other]: Pair): Pair => (Buffer.compare(addressBytes(one), addressBytes(other)) < 0 ? [one, other] : [other, one])

const reservesOf = ({ vaultsRaw, pool: { owedRaw } }: ConstantProductState): readonly [bigint, bigint] => [
  vaultsRaw[0] - owedRaw[0],
  vaultsRaw[1] - owedRaw[1],
]

function feeMillionths({ config, pool: { creatorFee } }: ConstantProductState, pays: 0 | 1): bigint {
  const isPaidIn = creatorFee.on === 0 || creatorFee.on === pays + 1
  return config.tradeFeeRate + (creatorFee.isTaken && isPaidIn ? config.creatorFeeRate : 0n)
}

import { AbiCoder, Interface, dataLength } from 'ethers'
import type { Call, CallResult } from '../../../kits/evm/types.ts'
import type { Pool } from '../../../kits/amm/index.ts'
import { poolKinds, type StablePool } from '../../../kits/amm/stable/pools.ts'
import type { Ramp } from './math/ramp.ts'
import { precision, stablePoolState, type StablePoolState } from '../../../kits/amm/stable/math.ts'

const fees = ['fee', 'admin_fee'] as const
// With all digits. The first has it at once; of the others it is known for every time.
const fixed = ['A'] as const
const ramped = ['initial_A', 'future_A', 'initial_A_time', 'future_A_time'] as const
const plain = new Interface([...fees, ...fixed, ...ramped].map((name) => `function ${name}() view returns (uint256)`))
const byIndex = {
  int128: new Interface(['function balances(int128) view returns (uint256)', 'function coins(int128) view returns (address)']),
  uint256: new Interface(['function balances(uint256) view returns (uint256)', 'function coins(uint256) view returns (address)']),
}

/** Fees, amplification and balances. */
export function stateCalls({ address, kind, coins }: StablePool): readonly Call[] {
  const names = [...fees, ...(poolKinds[kind].ramps ? ramped : fixed)]
  return [
    ...names.map((name) => ({ to: address, data: plain.encodeFunctionData(name) })),
    ...coins.map((_, at) => indexed({ address, kind }, 'balances', at)),
  ]
}

export const coinCalls = ({ address, kind, coins }: StablePool): readonly Call[] =>
  coins.map((_, at) => indexed({ address, kind }, 'coins', at))

function indexed({ address, kind }: Pick<StablePool, 'address' | 'kind'>, name: 'balances' | 'coins', at: number): Call {
  return { to: address, data: byIndex[poolKinds[kind].index].encodeFunctionData(name, [at]) }
}

/** Undefined where there is no such pool, or a coin of it is missing. */
export function readState({ address, kind, coins }: StablePool, results: readonly CallResult[]): Pool<StablePoolState> | undefined {
  const numbers = results.flatMap((result) => numberOf(result) ?? [])
  if (numbers.length !== results.length) return undefined
  const [fee = 0n, adminFee = 0n, ...others] = numbers
  const balances = others.slice(-coins.length)
  const rates = coins.map(({ decimals }) => precision * 10n ** BigInt(18 - decimals))
  const state = stablePoolState({ balances, ramp: rampOf(others.slice(0, -coins.length)), fee, adminFee, rates, rounding: poolKinds[kind] })
  return state && { address, tokens: coins.map((coin) => coin.address), state }
}

function rampOf([initial = 0n, future = initial, initialTime = 0n, futureTime = 0n]: readonly bigint[]): Ramp {
  return { initial, future, initialTime, futureTime }
}

/** A call to an address without code succeeds and returns nothing. */
const numberOf = ({ ok, data }: CallResult) => (ok && dataLength(data) === 32 ? BigInt(data) : undefined)

export const addressIn = ({ ok, data }: CallResult): string =>
  ok && dataLength(data) === 32 ? String(AbiCoder.defaultAbiCoder().decode(['address'], data)[0]) : 'nothing'

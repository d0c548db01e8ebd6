import { AbiCoder, Interface, dataLength } from 'ethers'
import type { Call, CallResult } from '../evm/types.ts'
import type { Pool } from '../pools/index.ts'
import { poolKinds, type StablePool } from './exchange.ts'
import { precision, stablePoolState, type StablePoolState } from './math/swap.ts'

const plain = new Interface([
  'function A() view returns (uint256)',
  'function A_precise() view returns (uint256)',
  'function fee() view returns (uint256)',
])
const byIndex = {
  int128: new Interface(['function balances(int128) view returns (uint256)', 'function coins(int128) view returns (address)']),
  uint256: new Interface(['function balances(uint256) view returns (uint256)', 'function coins(uint256) view returns (address)']),
}

/** Amplification, fee and balances. */
export function stateCalls({ address, kind, coins }: StablePool): readonly Call[] {
  const { amplification } = poolKinds[kind]
  const ask = (name: string) => ({ to: address, data: plain.encodeFunctionData(name) })
  return [ask(amplification), ask('fee'), ...coins.map((_, at) => indexed({ address, kind }, 'balances', at))]
}

export const coinCalls = ({ address, kind, coins }: StablePool): readonly Call[] =>
  coins.map((_, at) => indexed({ address, kind }, 'coins', at))

function indexed({ address, kind }: Pick<StablePool, 'address' | 'kind'>, name: 'balances' | 'coins', at: number): Call {
  return { to: address, data: byIndex[poolKinds[kind].index].encodeFunctionData(name, [at]) }
}

/** Undefined where there is no such pool, or a coin of it is missing. */
export function readState({ address, kind, coins }: StablePool, results: readonly CallResult[]): Pool<StablePoolState> | undefined {
  const [amplification, fee, ...balances] = results.map(numberOf)
  if (amplification === undefined || fee === undefined) return undefined
  const known = balances.filter((balance) => balance !== undefined)
  if (known.length !== coins.length) return undefined
  const rates = coins.map(({ decimals }) => precision * 10n ** BigInt(18 - decimals))
  const state = stablePoolState({ amplification, fee, balances: known }, rates, poolKinds[kind])
  return state && { address, tokens: coins.map((coin) => coin.address), state }
}

/** A call to an address without code succeeds and returns nothing. */
const numberOf = ({ ok, data }: CallResult) => (ok && dataLength(data) === 32 ? BigInt(data) : undefined)

export const addressIn = ({ ok, data }: CallResult): string =>
  ok && dataLength(data) === 32 ? String(AbiCoder.defaultAbiCoder().decode(['address'], data)[0]) : 'nothing'

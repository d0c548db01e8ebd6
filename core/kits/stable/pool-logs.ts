import { id } from 'ethers'
import type { EvmLog } from '../../../kits/evm/types.ts'
import { signed, wordAt, wordCount } from '../../../kits/evm/encoding.ts'

// Of curve-contract, contracts/pools: all that changes what swaps go by, but `donate_admin_fees`, `kill_me` and `unkill_me`, which log
// nothing. What is committed to be changed later is logged again when it is.

const swapTopics = [
  id('TokenExchange(address,int128,uint256,int128,uint256)'),
  // Of pools without lending it is the same.
  id('TokenExchangeUnderlying(address,int128,uint256,int128,uint256)'),
]
// Which coin was taken it does not say; the later ones have the supply of shares, too.
const oneCoinTopics = [id('RemoveLiquidityOne(address,uint256,uint256)'), id('RemoveLiquidityOne(address,uint256,uint256,uint256)')]
const feeTopic = id('NewFee(uint256,uint256)')
const parametersTopic = id('NewParameters(uint256,uint256,uint256)')
const rampTopic = id('RampA(uint256,uint256,uint256,uint256)')
const stopTopic = id('StopRampA(uint256,uint256)')

/** What a pool logs when coins are put in and taken out; these differ by how many coins it has. */
const liquidityTopics = (coins: number) => ({
  add: id(`AddLiquidity(address,uint256[${coins}],uint256[${coins}],uint256,uint256)`),
  remove: id(`RemoveLiquidity(address,uint256[${coins}],uint256[${coins}],uint256)`),
  imbalance: id(`RemoveLiquidityImbalance(address,uint256[${coins}],uint256[${coins}],uint256,uint256)`),
})

export type StableChange =
  | { readonly is: 'swap'; readonly from: number; readonly to: number; readonly soldRaw: bigint; readonly boughtRaw: bigint }
  /** Below zero where they were taken out. The invariant is that of before the fees; absent where all are taken alike, for no fee. */
  | { readonly is: 'liquidity'; readonly deltas: readonly bigint[]; readonly fees: readonly bigint[]; readonly invariant?: bigint }
  | { readonly is: 'fee'; readonly fee: bigint; readonly adminFee: bigint }
  | { readonly is: 'parameters'; readonly amplification: bigint; readonly fee: bigint; readonly adminFee: bigint }
  | { readonly is: 'ramp'; readonly initial: bigint; readonly future: bigint; readonly initialTime: bigint; readonly futureTime: bigint }

/** The logs of pools with so many coins. */
export interface StableLogs {
  readonly topics: readonly string[]
  /** Undefined where the log does not say all. */
  changeIn(log: EvmLog): StableChange | undefined
}

export function stableLogs(coins: number): StableLogs {
  const liquidity = liquidityTopics(coins)
  const readers = new Map<string, (data: string) => StableChange>([
    ...swapTopics.map((topic) => [topic, swapIn] as const),
    [liquidity.add, (data) => ({ is: 'liquidity', ...sharesIn(data, 1n), invariant: wordAt(data, 2 * coins) })],
    [liquidity.imbalance, (data) => ({ is: 'liquidity', ...sharesIn(data, -1n), invariant: wordAt(data, 2 * coins) })],
    [liquidity.remove, (data) => ({ is: 'liquidity', ...sharesIn(data, -1n) })],
    [feeTopic, (data) => ({ is: 'fee', fee: wordAt(data, 0), adminFee: wordAt(data, 1) })],
    [parametersTopic, (data) => ({ is: 'parameters', amplification: wordAt(data, 0), fee: wordAt(data, 1), adminFee: wordAt(data, 2) })],
    [rampTopic, (data) => rampOf(wordAt(data, 0), wordAt(data, 1), wordAt(data, 2), wordAt(data, 3))],
    [stopTopic, (data) => rampOf(wordAt(data, 0), wordAt(data, 0), wordAt(data, 1), wordAt(data, 1))],
  ])
  const sharesIn = (data: string, sign: bigint) => ({
    deltas: Array.from({ length: coins }, (_, index) => sign * wordAt(data, index)),
    fees: Array.from({ length: coins }, (_, index) => wordAt(data, coins + index)),
  })
  return {
    topics: [...readers.keys(), ...oneCoinTopics],
    changeIn: ({ topics: [topic = ''], data }) => (wordCount(data) === 0 ? undefined : readers.get(topic)?.(data)),
  }
}

const swapIn = (data: string): StableChange => ({
  is: 'swap',
  from: Number(signed(wordAt(data, 0))),
  soldRaw: wordAt(data, 1),
  to: Number(signed(wordAt(data, 2))),
  boughtRaw: wordAt(data, 3),
})

const rampOf = (initial: bigint, future: bigint, initialTime: bigint, futureTime: bigint): StableChange => ({
  is: 'ramp',
  initial,
  future,
  initialTime,
  futureTime,
})

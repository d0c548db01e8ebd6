import { dataLength } from 'ethers'
import { SluiceError } from '../../contracts/index.ts'
import type { Call, CallResult } from '../../../kits/evm/types.ts'
import type { StableExchange } from '../../../kits/amm/stable/pools.ts'
import { addressIn, coinCalls } from './pool-calls.ts'
import { routerAbi } from './router-abi.ts'

/**
 * Asks whether the configured router is one, and the pools for their coins. A call to an address without code would succeed
 * and do nothing, and one coin taken for another would be sold for what that other is worth.
 */
export function routerCheck({ router, pools }: StableExchange) {
  const expected = pools.flatMap(({ address, coins }) => coins.map((coin, at) => ({ address, at, coin: coin.address })))
  const calls: readonly Call[] = [{ to: router, data: routerAbi.encodeFunctionData('stableRouter') }, ...pools.flatMap(coinCalls)]

  const verify = ([version, ...coins]: readonly CallResult[]): void => {
    if (!version?.ok || dataLength(version.data) !== 32 || BigInt(version.data) !== 1n) {
      throw new SluiceError(
        'SERVICE_UNINITIALIZED',
        `There is no StableRouter at ${router} on this network. Deploy it, which anybody may (docs/connectors.md says how), or correct routerAddress in the connector's configuration.`,
      )
    }
    for (const [index, { address, at, coin }] of expected.entries()) {
      const answer = coins[index]
      const found = answer ? addressIn(answer) : 'nothing'
      if (found.toLowerCase() === coin.toLowerCase()) continue
      throw new SluiceError(
        'SERVICE_UNINITIALIZED',
        `The pool ${address} is not this exchange's on this network: its coin ${at} is ${found}, not ${coin}. Correct the plugin's pools.`,
      )
    }
  }
  return { calls, verify }
}

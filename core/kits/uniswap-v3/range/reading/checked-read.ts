import { SluiceError, type At, type Head } from '../../../../contracts/index.ts'
import type { Call, CallResult, EvmReader, Probe } from '../../../../../kits/evm/types.ts'
import type { RangeExchange } from '../exchange.ts'
import { managerAbi } from '../../../../../kits/amm/v3/position-manager.ts'
import { wordsOf } from './words.ts'

/** How the kit reads: all calls at one block, in one round trip. */
export type Read<Asked = Call> = (calls: readonly Asked[], at: At) => Promise<{ head: Head; results: readonly CallResult[] }>

/**
 * Asks with the first thing that is read whether the configured contract manages positions in the pools that are meant,
 * and wraps the coin in the token that is meant. Until it does, nothing that was read is given away:
 * SluiceError SERVICE_UNINITIALIZED.
 */
export function checkedRead({ positionManager, factory }: RangeExchange, reader: EvmReader): Read<Call | Probe> {
  const wrapped = reader.wrapped.address
  const checks = (['factory', 'WETH9'] as const).map((view) => ({ to: positionManager, data: managerAbi.encodeFunctionData(view) }))
  let checked = false
  return async (calls, at) => {
    if (checked) return reader.read(calls, at)
    const { head, results } = await reader.read([...checks, ...calls], at)
    const [ofFactory, ofCoin] = results.map((result) => wordsOf(result, 1)?.[0])
    if (ofFactory !== BigInt(factory) || ofCoin !== BigInt(wrapped)) throw notTheManager(positionManager, factory, wrapped)
    checked = true
    return { head, results: results.slice(checks.length) }
  }
}

function notTheManager(positionManager: string, factory: string, wrapped: string): SluiceError {
  return new SluiceError(
    'SERVICE_UNINITIALIZED',
    `${positionManager} does not manage positions in pools of ${factory} with ${wrapped} as the wrapped coin: set positionManagerAddress in the connector's contractAddresses to the contract that does.`,
  )
}

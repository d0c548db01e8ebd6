import { SluiceError } from '../../../../contracts/index.ts'
import type { Call, CallResult } from '../../../evm/types.ts'
import type { RangeExchange } from '../exchange.ts'
import { managerAbi } from './abi.ts'
import { wordsOf } from './words.ts'

/** Whether the configured contract manages positions in the pools that are read, and wraps the coin in the token that is meant. */
export function managerCheck({ positionManager, factory }: RangeExchange, wrapped: string) {
  const calls: readonly Call[] = (['factory', 'WETH9'] as const).map((view) => ({
    to: positionManager,
    data: managerAbi.encodeFunctionData(view),
  }))
  return {
    calls,
    /** @throws SluiceError SERVICE_UNINITIALIZED where it does not */
    verify(answers: readonly CallResult[]): void {
      const found = answers.map((answer) => wordsOf(answer, 1)?.[0])
      if (found[0] === BigInt(factory) && found[1] === BigInt(wrapped)) return
      throw new SluiceError(
        'SERVICE_UNINITIALIZED',
        `${positionManager} does not manage positions in pools of ${factory} with ${wrapped} as the wrapped coin: set positionManagerAddress in the connector's contractAddresses to the contract that does.`,
      )
    },
  }
}

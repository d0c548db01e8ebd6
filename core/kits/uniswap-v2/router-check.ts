import { AbiCoder, dataLength } from 'ethers'
import { SluiceError } from '../../contracts/index.ts'
import type { Call, CallResult, EvmReader } from '../../../kits/evm/types.ts'
import type { Exchange } from '../../../kits/amm/v2/exchange.ts'

/**
 * Asks the configured router which factory it trades with, and compares with the pairs that we would read: an address of
 * another exchange in the configuration would otherwise give the prices of one and the trades of the other.
 */
export function routerCheck(exchange: Exchange, reader: EvmReader) {
  const { router, factory, abi } = exchange
  const questions = [
    { name: 'factory', expected: factory },
    { name: `W${abi.coin}`, expected: reader.wrapped.address },
  ]
  const calls: readonly Call[] = questions.map(({ name }) => ({ to: router, data: abi.functions.encodeFunctionData(name) }))

  const verify = (answers: readonly CallResult[]): void => {
    for (const [index, { name, expected }] of questions.entries()) {
      const answer = answers[index]
      const found =
        answer?.ok && dataLength(answer.data) === 32 ? String(AbiCoder.defaultAbiCoder().decode(['address'], answer.data)[0]) : 'nothing'
      if (found.toLowerCase() === expected.toLowerCase()) continue
      throw new SluiceError(
        'SERVICE_UNINITIALIZED',
        `The configured router ${router} is not this exchange's on this network: its ${name}() is ${found}, not ${expected}. Correct contractAddresses in the connector's configuration.`,
      )
    }
  }
  return { calls, verify }
}

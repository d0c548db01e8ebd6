import { AbiCoder, dataLength } from 'ethers'
import { SluiceError } from '../../../contracts/index.ts'
import type { CallResult } from '../../../../kits/evm/types.ts'
import type { Exchange } from '../../../../kits/amm/v3/exchange.ts'
import { routerKinds } from './router-kinds.ts'

/**
 * Asks the configured router whose pools it trades with. An address of another exchange in the configuration would give the
 * prices of one and the trades of the other. Constant-product pools of another factory are no mistake: some networks had the
 * router before the exchange had such pools there. Then routes are not mixed.
 */
export function routerCheck({ router, routerKind, factory, mixedWith }: Exchange, wrapped: string) {
  const { functions } = routerKinds[routerKind]
  const required = [
    { name: 'factory', expected: factory },
    { name: 'WETH9', expected: wrapped },
  ]
  const names = [...required.map(({ name }) => name), ...(mixedWith ? ['factoryV2'] : [])]
  let mixes = mixedWith !== undefined

  const verify = (answers: readonly CallResult[]): void => {
    for (const [index, { name, expected }] of required.entries()) {
      const found = addressIn(answers[index])
      if (found && same(found, expected)) continue
      throw new SluiceError(
        'SERVICE_UNINITIALIZED',
        `The configured router ${router} is not this exchange's on this network: its ${name}() is ${found ?? 'nothing'}, not ${expected}. Correct contractAddresses in the connector's configuration.`,
      )
    }
    const factoryV2 = addressIn(answers[required.length])
    mixes = mixedWith !== undefined && factoryV2 !== undefined && same(factoryV2, mixedWith.factory)
  }
  return { calls: names.map((name) => ({ to: router, data: functions.encodeFunctionData(name) })), verify, mixes: () => mixes }
}

/** Undefined where it is no address: a call to an address without code succeeds and returns nothing. */
function addressIn(answer: CallResult | undefined): string | undefined {
  return answer?.ok && dataLength(answer.data) === 32 ? String(AbiCoder.defaultAbiCoder().decode(['address'], answer.data)[0]) : undefined
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

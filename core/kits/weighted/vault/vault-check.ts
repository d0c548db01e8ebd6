import { AbiCoder, dataLength } from 'ethers'
import { SluiceError } from '../../../contracts/index.ts'
import type { Call, CallResult } from '../../../../kits/evm/types.ts'
import { poolAddress } from '../pool-id.ts'
import { vaultAbi } from '../../../../kits/amm/weighted/router.ts'

/**
 * Asks the configured Vault which coin it wraps, and whether it has the pools that are listed: the address of another
 * contract in the configuration, or a list of another network, would otherwise only show as pools that are missing.
 */
export function vaultCheck(vault: string, ids: readonly string[], wrapped: string) {
  const questions = [
    {
      what: 'its WETH()',
      data: vaultAbi.encodeFunctionData('WETH'),
      expected: wrapped,
      cure: 'Correct contractAddresses in the connector’s configuration',
    },
    ...ids.map((id) => ({
      what: `its getPool(${id})`,
      data: vaultAbi.encodeFunctionData('getPool', [id]),
      expected: poolAddress(id),
      cure: 'Correct contractAddresses in the connector’s configuration, or the list of pools in the plugin',
    })),
  ]
  const calls: readonly Call[] = questions.map(({ data }) => ({ to: vault, data }))

  const verify = (answers: readonly CallResult[]): void => {
    for (const [index, { what, expected, cure }] of questions.entries()) {
      const found = addressIn(answers[index])
      if (found?.toLowerCase() === expected.toLowerCase()) continue
      throw new SluiceError(
        'SERVICE_UNINITIALIZED',
        `The configured ${vault} is not this exchange's Vault on this network: ${what} is ${found ?? 'nothing'}, not ${expected}. ${cure}.`,
      )
    }
  }
  return { calls, verify }
}

/** The first word; undefined where there is none. */
function addressIn(answer: CallResult | undefined): string | undefined {
  return answer?.ok && dataLength(answer.data) >= 32 ? String(AbiCoder.defaultAbiCoder().decode(['address'], answer.data)[0]) : undefined
}

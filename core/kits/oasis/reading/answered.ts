import type { Result } from 'ethers'
import { SluiceError } from '../../../contracts/index.ts'
import type { CallResult } from '../../../../kits/evm/types.ts'
import { oasisAbi } from '../abi.ts'

/**
 * What the market answered to a view.
 * @throws SluiceError SERVICE_UNINITIALIZED where there is no such contract
 */
export function answered(market: string, method: string, result: CallResult | undefined): Result {
  if (result?.ok && result.data !== '0x') return oasisAbi.decodeFunctionResult(method, result.data)
  const cure = "Correct routerAddress in the connector's configuration of this network."
  throw new SluiceError('SERVICE_UNINITIALIZED', `${market} is no matching market: it did not answer ${method}(). ${cure}`)
}

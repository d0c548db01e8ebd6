// Actions that wallets sign in words, for exchanges of the release. Plugins bring none: docs/operators/limits.md says what they count as.
import { parseDecimal } from '../../base/decimal.ts'
import { withdrawalDecimals } from '../../config/wallet-limits.ts'
import { Refusal, type EvmRules } from '../policy.ts'
import type { TypedData } from '../signer-messages.ts'

/**
 * What an action takes out of the exchange: to the wallet itself, as the policy has it. What moves between the wallet's own accounts there is
 * nothing. Undefined where the data is no such action.
 * @throws Refusal where it is for another network of the exchange
 */
export function readSignedAction(
  { domain: { name }, primaryType, message }: TypedData,
  { name: network, signedActions }: EvmRules,
): bigint | undefined {
  const action = signedActions.find((each) => each.domain === name && each.primaryType === primaryType)
  if (!action) return undefined
  const found = message[action.networkField]
  if (found !== action.network)
    throw new Refusal(`the action is for the network ${JSON.stringify(found)} of the exchange, and that of ${network} is ${action.network}`)
  if (action.amountField === undefined) return 0n
  const amount = message[action.amountField]
  if (typeof amount !== 'string' || !/^\d{1,40}(\.\d{1,36})?$/.test(amount)) return undefined
  const { digits, scale } = parseDecimal(amount)
  if (scale <= withdrawalDecimals) return digits * 10n ** BigInt(withdrawalDecimals - scale)
  const unit = 10n ** BigInt(scale - withdrawalDecimals)
  return (digits + unit - 1n) / unit
}

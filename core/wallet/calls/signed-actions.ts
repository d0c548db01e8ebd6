// Actions of Hyperliquid that wallets sign in words: docs/operators/limits.md says what they count as.
import { parseDecimal } from '../../base/decimal.ts'
import { withdrawalDecimals } from '../../config/wallet-limits.ts'
import { Refusal, type EvmRules } from '../policy.ts'
import type { TypedData } from '../signer-messages.ts'

const domain = 'HyperliquidSignTransaction'
const [withdrawal, classTransfer] = ['HyperliquidTransaction:Withdraw', 'HyperliquidTransaction:UsdClassTransfer']
const chainIdOfMainnet = 999n

/**
 * What an action takes out of the exchange: to the wallet itself, as the policy has it. What moves between the wallet's own accounts there is
 * nothing. Undefined where the data is no such action.
 * @throws Refusal where it is for another network of the exchange, which takes it whatever chain id it is signed for
 */
export function readSignedAction(
  { domain: { name }, primaryType, message }: TypedData,
  { name: network, chainId }: EvmRules,
): bigint | undefined {
  if (name !== domain || !network.startsWith('hyperliquid/')) return undefined
  if (primaryType !== withdrawal && primaryType !== classTransfer) return undefined
  const expected = chainId === chainIdOfMainnet ? 'Mainnet' : 'Testnet'
  if (message['hyperliquidChain'] !== expected)
    throw new Refusal(`the action is for ${JSON.stringify(message['hyperliquidChain'])} of Hyperliquid, and ${network} is ${expected}`)
  if (primaryType === classTransfer) return 0n
  const amount = message['amount']
  if (typeof amount !== 'string' || !/^\d{1,40}(\.\d{1,36})?$/.test(amount)) return undefined
  const { digits, scale } = parseDecimal(amount)
  if (scale <= withdrawalDecimals) return digits * 10n ** BigInt(withdrawalDecimals - scale)
  const unit = 10n ** BigInt(scale - withdrawalDecimals)
  return (digits + unit - 1n) / unit
}

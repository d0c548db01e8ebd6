import type { EvmRules } from '../../policy.ts'
import { addressArgument } from './token-rights.ts'

/** transfer(address,uint256) */
const transferSelector = '0xa9059cbb'
const dataLength = 2 + 2 * (4 + 32 + 32)

/**
 * Whether a call is a deposit to an exchange as a connector declares it: a transfer of that very token to that very address, and nothing
 * besides. The pairs stay pairs: what one exchange takes is no other's.
 * @param target in lower case, as `data`
 */
export function isDeposit(
  { target, value, data }: { target: string; value: bigint; data: string },
  { deposits }: Pick<EvmRules, 'deposits'>,
): boolean {
  if (value !== 0n || data.length !== dataLength || !data.startsWith(transferSelector)) return false
  const holder = addressArgument(data, 0)
  return deposits.some(({ token, recipient }) => token === target && recipient === holder)
}

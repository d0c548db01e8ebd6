import type { FoundLog } from '../../../../kits/evm/types.ts'
import { addressInTopic, wordAt, wordCount } from '../../../../kits/evm/encoding.ts'
import type { Holding } from './holdings.ts'
import { approvalTopic, depositTopic, transferTopic, withdrawalTopic } from './wallet-logs.ts'

/** Tokens take nothing off such an allowance, or too little to be noticed. */
const boundlessRaw = 2n ** 255n

/**
 * What a wallet has after a log of its token. Few tokens log what a spender took off its allowance, so that all that leaves the wallet counts
 * against every one: what is left is never more than the chain has.
 * @param wrapped the coin's wrapper, in lower case: of another contract nobody knows whether what it calls a deposit is its own token
 */
export function afterTokenLog(holding: Holding, { address, topics, data }: FoundLog, wrapped: string): Holding | 'reload' {
  const [event, one, other] = topics
  if (wordCount(data) !== 1) return 'reload'
  const amountRaw = wordAt(data, 0)
  const { owner, balanceRaw, allowances } = holding
  if (event === transferTopic) {
    const isIn = addressInTopic(other) === owner
    if (addressInTopic(one) !== owner) return isIn ? { ...holding, balanceRaw: balanceRaw + amountRaw } : holding
    const left = mapped(allowances, (raw) => (raw >= boundlessRaw ? raw : less(raw, amountRaw)))
    return { ...holding, balanceRaw: isIn ? balanceRaw : less(balanceRaw, amountRaw), allowances: left }
  }
  if (event === approvalTopic) {
    const spender = addressInTopic(other)
    return allowances.has(spender) ? { ...holding, allowances: new Map([...allowances, [spender, amountRaw]]) } : holding
  }
  if (event === withdrawalTopic) return { ...holding, balanceRaw: less(balanceRaw, amountRaw) }
  if (event === depositTopic && address.toLowerCase() === wrapped) return { ...holding, balanceRaw: balanceRaw + amountRaw }
  return holding
}

const less = (raw: bigint, amountRaw: bigint) => (raw > amountRaw ? raw - amountRaw : 0n)

const mapped = (amounts: ReadonlyMap<string, bigint>, change: (raw: bigint) => bigint): ReadonlyMap<string, bigint> =>
  new Map([...amounts].map(([name, raw]) => [name, change(raw)]))

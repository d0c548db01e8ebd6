import type { LogDescription } from 'ethers'
import type { Json } from '../../../contracts/index.ts'
import { oasisAbi } from '../abi.ts'
import { isSameAddress } from '../../../../kits/oasis/contract.ts'

export type ParsedLog = Pick<LogDescription, 'name' | 'args'>

/** What a contract logged of offers in a transaction, in its order; undefined where the transaction failed. */
export function logsOf(receipt: Json, market: string): readonly ParsedLog[] | undefined {
  if (!isObject(receipt) || !Array.isArray(receipt['logs'])) throw new Error('The receipt of an order is none.')
  if (receipt['status'] !== 1) return undefined
  return receipt['logs'].flatMap((log: Json) => {
    if (!isObject(log)) return []
    const { address, topics, data } = log
    if (typeof address !== 'string' || typeof data !== 'string' || !Array.isArray(topics) || !isSameAddress(address, market)) return []
    const parsed = oasisAbi.parseLog({ topics: topics.map(String), data })
    return parsed ? [parsed] : []
  })
}

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

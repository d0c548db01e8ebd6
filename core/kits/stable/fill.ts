import type { Fill, Json } from '../../contracts/index.ts'
import type { EvmReceipt } from '../../../kits/evm/types.ts'
import { routerAbi } from './router-abi.ts'

/** What a swap really moved, as the router logged it; undefined where the receipt shows none. */
export function readFill({ status, from, logs }: EvmReceipt, memo: Json): Fill | undefined {
  if (status !== 1 || typeof memo !== 'object' || memo === null || !('router' in memo)) return undefined
  const { router, recipient } = memo
  if (typeof router !== 'string' || typeof recipient !== 'string') return undefined
  const wanted = routerAbi.encodeFilterTopics('Swapped', [from, recipient])
  // Of a swap within a swap, which a token's own code could make, the log comes first.
  const log = logs.findLast(
    ({ address, topics }) => same(address, router) && topics.length === wanted.length && topics.every((each, i) => same(each, wanted[i])),
  )
  const parsed = log && routerAbi.parseLog({ topics: [...log.topics], data: log.data })
  return parsed ? { amountInRaw: BigInt(parsed.args['amountIn']), amountOutRaw: BigInt(parsed.args['amountOut']) } : undefined
}

const same = (a: string, b: unknown) => typeof b === 'string' && a.toLowerCase() === b.toLowerCase()

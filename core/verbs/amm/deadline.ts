import { SluiceError } from '../../api/index.ts'
import type { Head } from '../../contracts/index.ts'

/**
 * Until when the chain takes a trade, in seconds since the Unix epoch: the latest block's time plus the ttl.
 * @throws SluiceError NETWORK where that is past already: a node so far behind would only have gas spent on a revert
 */
export function deadlineAfter(head: Head, ttlSeconds: number, nowSeconds = Date.now() / 1000): number {
  const deadline = head.timestamp + ttlSeconds
  if (deadline > nowSeconds) return deadline
  const age = Math.round(nowSeconds - head.timestamp)
  throw new SluiceError(
    'NETWORK',
    `The node's latest block is ${age} s old, more than the trade's ttl of ${ttlSeconds} s: it is behind. Nothing was sent; try again, or check rpcUrls.`,
    {
      retryAfterSeconds: 5,
    },
  )
}

import { createHash } from 'node:crypto'

/** Whose order it is, and where. */
export interface OrderOwner {
  readonly chain: string
  readonly network: string
  /** In lower case. */
  readonly user: string
}

/**
 * The 128 bits by which the exchange knows an order that its wallet calls so: always the same, so that a lost answer is asked for by them
 * after a restart too.
 */
export function cloidOf({ chain, network, user }: OrderOwner, clientOrderId: string): string {
  const text = JSON.stringify(['hyperliquid', chain, network, user, clientOrderId])
  return `0x${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
}

import type { OrderStatus } from '../book/order.ts'

/**
 * Why an order is refused, in the words of https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/error-responses; those that
 * come to a certain order say its asset too, as has been seen of the real one.
 */
export interface Refusal {
  readonly error: string
  /** How the order is remembered; absent where it is not. */
  readonly status?: OrderStatus
}

export const refuse = (error: string, asset: number, status?: OrderStatus): Refusal => ({
  error: `${error} asset=${asset}`,
  ...(status ? { status } : {}),
})

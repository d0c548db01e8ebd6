import { SluiceError } from '../../contracts/index.ts'

/** How many requests of one wallet are under way. */
export interface Queue {
  /** Counts one in, and out by the function that it gives. @throws SluiceError OVERLOADED */
  enter(): () => void
}

/** @param limit `limits.walletQueue` */
export function createQueue(limit: number, wallet: string): Queue {
  let inside = 0
  return {
    enter() {
      if (inside >= limit) {
        throw new SluiceError(
          'OVERLOADED',
          `${limit} requests of ${wallet} are under way already (limits.walletQueue): try again shortly.`,
          {
            retryAfterSeconds: 1,
          },
        )
      }
      inside += 1
      return () => {
        inside -= 1
      }
    },
  }
}

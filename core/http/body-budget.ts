import { SluiceError } from '../base/errors.ts'
import type { ClientLoad } from './fair-queue.ts'

/** What a piece of a body costs besides its bytes. Bodies may come byte by byte. */
const pieceBytes = 64

export interface BodyBudget {
  /**
   * Counts a piece of the body of a request that is being received.
   * @throws SluiceError RATE_LIMIT, OVERLOADED beyond the budget
   */
  hold(holder: BodyHolder, bytes: number): void
  /** Once the request is answered. */
  release(holder: BodyHolder): void
}

/** A request whose body is being received, waits or is worked on. */
interface BodyHolder {
  readonly client: ClientLoad
  heldBytes: number
}

/** Bounds the bytes of all bodies that are being received, wait or are worked on: of the server, and of each certificate on all its connections. */
export function createBodyBudget({ clientBodyBytes, allBodyBytes }: { clientBodyBytes: number; allBodyBytes: number }): BodyBudget {
  let heldBytes = 0

  function add(holder: BodyHolder, bytes: number): void {
    heldBytes += bytes
    holder.client.bodyBytes += bytes
    holder.heldBytes += bytes
  }

  return {
    hold(holder, bytes) {
      add(holder, bytes + pieceBytes)
      if (holder.client.bodyBytes > clientBodyBytes) throw overClientBudget(clientBodyBytes)
      if (heldBytes > allBodyBytes) throw overBudget(allBodyBytes)
    },
    release: (holder) => add(holder, -holder.heldBytes),
  }
}

const overClientBudget = (max: number) =>
  new SluiceError(
    'RATE_LIMIT',
    `The bodies of this client certificate's requests in progress are over ${max} bytes together (limits.clientBodyBytes): nothing was done for this one. Send fewer at once.`,
    { retryAfterSeconds: 1, bound: 'clientBodyBytes' },
  )

const overBudget = (max: number) =>
  new SluiceError(
    'OVERLOADED',
    `The bodies of all requests in progress are over ${max} bytes together (limits.allBodyBytes): nothing was done for this one. Try again shortly.`,
    { retryAfterSeconds: 1, bound: 'allBodyBytes' },
  )

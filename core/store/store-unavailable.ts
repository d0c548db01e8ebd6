import { SluiceError } from '../errors.ts'

/** The store did not do it: its disk is full, it cannot be written, its database is away. */
export class StoreUnavailable extends SluiceError {
  /** Whether what was to be kept may have been kept all the same: the connection was lost while it was committed. */
  readonly uncertain: boolean
  readonly reason: string

  /** @param reason a clause without secrets: "the disk is full" */
  constructor(reason: string, { uncertain = false, cause }: { uncertain?: boolean; cause?: unknown } = {}) {
    super('OVERLOADED', `The server's store cannot be used: ${reason}. Nothing was sent for this request. Try again.`, {
      retryAfterSeconds: 2,
      cause,
    })
    this.uncertain = uncertain
    this.reason = reason
  }
}

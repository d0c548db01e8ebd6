import { SluiceError } from '../../contracts/index.ts'

/** Another server owns the lane, or another call the Idempotency-Key, by now. What was to be written was not. */
export class Superseded extends SluiceError {
  readonly lost: 'lane' | 'key'

  constructor(what: string, { lost = 'lane' }: { lost?: 'lane' | 'key' } = {}) {
    super('OVERLOADED', `${what} Nothing was sent for this request. Try again.`, { retryAfterSeconds: 1 })
    this.lost = lost
  }
}

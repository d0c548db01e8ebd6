import { SluiceError } from '../../contracts/index.ts'

/** The wallet has used the id on that venue: nothing was kept, signed or sent. */
export class OrderTaken extends SluiceError {
  constructor(clientOrderId: string) {
    super(
      'IDEMPOTENCY_CONFLICT',
      `The clientOrderId ${clientOrderId} was used before by this wallet there: nothing was sent. GET the orders with it to see what became of that one, and give another order another id.`,
      { details: { clientOrderId } },
    )
  }
}

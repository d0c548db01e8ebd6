import type { ErrorName } from '../../errors.ts'

/** Why the signer does not sign: a sentence for the caller and the log, without any secret, and its name in the table of errors. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly errorName: ErrorName

  constructor(message: string, errorName: ErrorName = 'FORBIDDEN') {
    super(message)
    this.errorName = errorName
  }
}

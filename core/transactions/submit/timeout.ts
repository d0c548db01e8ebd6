import { SluiceError } from '../../contracts/index.ts'

export const nothingSent = () =>
  new SluiceError('TIMEOUT', 'The time for this request ran out before anything was signed: nothing was sent. Try again.')

export const stillUnderWay = (txHash: string, requestId: string) =>
  new SluiceError(
    'TIMEOUT',
    `The time for this request ran out while ${txHash} was being sent. It goes on: GET /transactions?requestId=${requestId} tells what became of it.`,
    { details: { txHash } },
  )

export const outcomeUnknown = (requestId: string) =>
  new SluiceError(
    'TIMEOUT',
    `The time for this request ran out before the server's store said whether the transaction was kept: it is sent if it was, and never if not. GET /transactions?requestId=${requestId} tells which.`,
  )

/** The work's outcome, or the error once the signal is aborted; the work itself goes on. */
export function orTimeout<T>(work: Promise<T>, signal: AbortSignal, error: () => SluiceError): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(error())
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    // Whoever was asked may have noticed the signal first.
    work
      .then(resolve, (cause: unknown) => reject(signal.aborted ? error() : cause))
      .finally(() => signal.removeEventListener('abort', abort))
  })
}

import { SluiceError } from '../contracts/index.ts'

export const nothingSent = () =>
  new SluiceError('TIMEOUT', 'The time for this request ran out before anything was signed: nothing was sent. Try again.')

export const stillUnderWay = (txHash: string) =>
  new SluiceError(
    'TIMEOUT',
    `The time for this request ran out while ${txHash} was being sent. It goes on: GET /network/poll tells what became of it.`,
    { details: { txHash } },
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

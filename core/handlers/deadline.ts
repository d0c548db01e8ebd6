import { isAbort, linkAbort } from '../base/async.ts'
import { SluiceError } from '../base/errors.ts'
import type { FairTurns, Payer } from '../base/fair-turns.ts'

/** When the time is over the handler sees the signal too and knows better what happened: it gets so long to say so. */
const graceMs = 100

interface Charge {
  readonly payer: Payer
  readonly turns: FairTurns
}

/** The time limit of one request. Its timer starts when something is first waited for: what is answered at once needs none. */
export class Deadline {
  readonly #seconds: number
  readonly #charge: Charge | undefined
  #controller: AbortController | undefined
  readonly #caller: AbortSignal | undefined
  #timer: NodeJS.Timeout | undefined
  #unlink: (() => void) | undefined

  /**
   * @param charge who the request's work is done for
   * @param caller ends the time early
   */
  constructor(seconds: number, charge?: Charge, caller?: AbortSignal) {
    this.#seconds = seconds
    this.#charge = charge
    this.#caller = caller
  }

  /** Aborted when the time is over. */
  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal
    const started = new AbortController()
    if (this.#caller) this.#unlink = linkAbort(this.#caller, started)
    this.#charge?.turns.chargeTo(started.signal, this.#charge.payer)
    this.#controller = started
    this.#timer = setTimeout(() => started.abort(), this.#seconds * 1000)
    return started.signal
  }

  /** Returns what the work returns, at once if it can. @throws SluiceError TIMEOUT when the time is over; the work goes on */
  bound<T>(work: () => T | Promise<T>): T | Promise<T> {
    // The timer ends with the work: thousands of requests a second must not leave theirs behind.
    let isPending = false
    try {
      const outcome = work()
      isPending = outcome instanceof Promise
      return outcome instanceof Promise ? inTime(outcome, this.signal, () => this.#over()).finally(() => this.#end()) : outcome
    } finally {
      if (!isPending) this.#end()
    }
  }

  #over(): SluiceError {
    return this.#caller?.aborted ? ended : timeout(this.#seconds)
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#unlink?.()
  }
}

async function inTime<T>(work: Promise<T>, signal: AbortSignal, over: () => SluiceError): Promise<T> {
  let graceTimer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    const startGrace = () => (graceTimer = setTimeout(() => reject(over()), graceMs))
    if (signal.aborted) startGrace()
    else signal.addEventListener('abort', startGrace, { once: true })
  })
  // A failure after the timeout must not be an unhandled rejection.
  work.catch(() => {})
  try {
    return await Promise.race([work, late])
  } catch (error) {
    // A handler that waited may throw what ended its wait.
    throw signal.aborted && isAbort(error) ? over() : error
  } finally {
    clearTimeout(graceTimer)
  }
}

const ifItActed =
  'If the request was to make a transaction, GET /transactions?requestId=… with the requestId of this answer shows it, and the same request with the same Idempotency-Key gives its answer.'

const timeout = (seconds: number) =>
  new SluiceError('TIMEOUT', `No answer within ${seconds} s (server.requestTimeoutSeconds). ${ifItActed}`)

/** Of a call that its own caller ended. */
export const ended = new SluiceError('TIMEOUT', `The caller ended the request before there was an answer. ${ifItActed}`)

import { isAbort, whenAborted } from '../base/async.ts'
import { SluiceError } from '../base/errors.ts'
import { chargeAlike, type FairTurns, type Payer } from '../base/fair-turns.ts'

/** When the time is over the handler sees the signal too and knows better what happened: it gets so long to say so. */
const graceMs = 100

interface Charge {
  readonly payer: Payer
  readonly turns: FairTurns
}

/**
 * The time limit of one request. Its timer starts when something is first waited for: what is answered at once needs none. Its signal is made for who
 * asks for it: signals cost more than most answers from memory.
 */
export class Deadline {
  readonly #seconds: number
  readonly #charge: Charge | undefined
  readonly #caller: AbortSignal | Deadline | undefined
  #controller: AbortController | undefined
  #timer: NodeJS.Timeout | undefined
  #unlink: (() => void) | undefined
  #isEndedEarly = false
  #isOver = false
  #whenOver: Set<(reason?: unknown) => void> | undefined

  /**
   * @param charge who the request's work is done for
   * @param caller ends the time early
   */
  constructor(seconds: number, charge?: Charge, caller?: AbortSignal | Deadline) {
    this.#seconds = seconds
    this.#charge = charge
    this.#caller = caller
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Aborted when the time is over. */
  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal
    const made = new AbortController()
    if (this.#caller instanceof AbortSignal) chargeAlike(made.signal, this.#caller)
    this.#charge?.turns.chargeTo(made.signal, this.#charge.payer)
    this.#controller = made
    this.#start()
    if (this.#isOver) made.abort()
    return made.signal
  }

  /** Nobody waits for the answer any more. */
  end(reason?: unknown): void {
    this.#isEndedEarly = true
    this.#expire(reason)
  }

  /** Returns what the work returns, at once if it can. @throws SluiceError TIMEOUT when the time is over; the work goes on */
  bound<T>(work: () => T | Promise<T>): T | Promise<T> {
    // The timer ends with the work: thousands of requests a second must not leave theirs behind.
    let isPending = false
    try {
      const outcome = work()
      isPending = outcome instanceof Promise
      return outcome instanceof Promise ? this.#inTime(outcome) : outcome
    } finally {
      if (!isPending) this.#stop()
    }
  }

  #start(): void {
    if (this.#timer) return
    this.#timer = setTimeout(() => this.#expire(), this.#seconds * 1000)
    const caller = this.#caller
    const endWithIt = (reason?: unknown) => this.end(reason)
    if (caller instanceof Deadline) {
      ;(caller.#whenOver ??= new Set()).add(endWithIt)
      this.#unlink = () => caller.#whenOver?.delete(endWithIt)
      if (caller.isOver) endWithIt()
    } else if (caller) this.#unlink = whenAborted(caller, endWithIt)
  }

  #expire(reason?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#controller?.abort(reason)
    if (this.#whenOver) for (const each of this.#whenOver) each(reason)
  }

  #over(): SluiceError {
    return this.#isEndedEarly ? ended : timeout(this.#seconds)
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#unlink?.()
  }

  /** One promise, and no race: most requests through an interface wait here. */
  #inTime<T>(work: Promise<T>): Promise<T> {
    this.#start()
    return new Promise((resolve, reject) => {
      let graceTimer: NodeJS.Timeout | undefined
      const settle = () => {
        clearTimeout(graceTimer)
        this.#whenOver?.delete(startGrace)
        this.#stop()
      }
      const startGrace = () => {
        graceTimer = setTimeout(() => {
          settle()
          reject(this.#over())
        }, graceMs)
      }
      if (this.#isOver) startGrace()
      else (this.#whenOver ??= new Set()).add(startGrace)
      work.then(
        (value) => {
          settle()
          resolve(value)
        },
        (error: unknown) => {
          settle()
          // A handler that waited may throw what ended its wait.
          reject(this.#isOver && isAbort(error) ? this.#over() : error)
        },
      )
    })
  }
}

const ifItActed =
  'If the request was to make a transaction, GET /transactions?requestId=… with the requestId of this answer shows it, and the same request with the same Idempotency-Key gives its answer.'

const timeout = (seconds: number) =>
  new SluiceError('TIMEOUT', `No answer within ${seconds} s (server.requestTimeoutSeconds). ${ifItActed}`)

/** Of a call that its own caller ended. */
export const ended = new SluiceError('TIMEOUT', `The caller ended the request before there was an answer. ${ifItActed}`)

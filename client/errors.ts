// What a client throws. Every error has the `name` and `code` of the server's table, or a name of its own below.

interface AnswerOfError {
  readonly name: string
  readonly code: number
  readonly status: number
  readonly details: unknown
  readonly requestId: string | undefined
}

/** The server's answer to a request that it refused: nothing is under way. docs/bots/errors.md lists names and codes. */
export class RefusedError extends Error {
  /** Of the server's table, e.g. `INSUFFICIENT_BALANCE`. Servers that are newer than this client may have more. */
  override readonly name: string
  readonly code: number
  /** Of HTTP. */
  readonly status: number
  /** What is wrong in detail, e.g. `{ token, current, needed }`. */
  readonly details: unknown
  /** Under which the server's log has it. */
  readonly requestId: string | undefined

  constructor(message: string, { name, code, status, details, requestId }: AnswerOfError) {
    super(message)
    this.name = name
    this.code = code
    this.status = status
    this.details = details
    this.requestId = requestId
  }
}

/**
 * There was no answer within the time. A request that acts may have been done: send the same request again with this key, and it is done once
 * at most, however often it is sent.
 */
export class NoAnswerError extends Error {
  override readonly name = 'NO_ANSWER'
  readonly idempotencyKey: string | undefined

  constructor(message: string, { idempotencyKey, cause }: { idempotencyKey: string | undefined; cause: unknown }) {
    super(message, { cause })
    this.idempotencyKey = idempotencyKey
  }
}

/** The server refuses this certificate, or this client refuses the server's. To try again with the same one changes nothing. */
export class CertificateError extends Error {
  override readonly name = 'CERTIFICATE'
  /** Of a request that may have been done before: it is not done twice with this key. */
  readonly idempotencyKey: string | undefined

  constructor(message: string, { idempotencyKey, cause }: { idempotencyKey?: string; cause?: unknown }) {
    super(message, { cause })
    this.idempotencyKey = idempotencyKey
  }
}

/** The server has another major version of the interface than this client was made for. */
export class InterfaceVersionError extends Error {
  override readonly name = 'INTERFACE_VERSION'
}
